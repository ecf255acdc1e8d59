import Glibc
import Synchronization

/// A process that runs one command of the shell, in a process group of its own.
struct ChildProcess: Sendable {
    struct Failure: Error, Equatable {
        let call: String
        let code: Int32
    }

    enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    private static let shell = "/bin/sh"
    /// Pauses between two checks whether the process has ended; they double from the first to the longest.
    private static let (firstPause, longestPause) = (Duration.milliseconds(2), Duration.milliseconds(100))

    private let pid: pid_t
    private let groups: ProcessGroups

    /// Starts a command.
    ///
    /// Its standard output is discarded and its standard error is that of this process. It inherits nothing else.
    /// - Parameters:
    ///   - input: the command's standard input; no longer than the capacity of a pipe.
    ///   - environment: variables that are added to those of this process.
    ///   - groups: contains the process until it has ended.
    init(
        _ command: String, input: [UInt8], environment: [(name: String, value: String)],
        groups: ProcessGroups = .ofThisProcess
    ) throws(Failure) {
        let variables = environment.map { "\($0.name)=\($0.value)" }
        let names = Set(environment.map(\.name))
        let inherited = ProgramStart.environment.filter { entry in !names.contains(String(entry.prefix { $0 != "=" })) }
        let reading = try Self.pipe(holding: input)
        defer { close(reading) }
        self.groups = groups
        pid = try groups.add { () throws(Failure) in
            try Self.spawn([Self.shell, "-c", command], inherited + variables, input: reading)
        }
    }

    /// Waits for the end. If the task is canceled or `limit` is over, the whole process group is killed.
    func wait(atMost limit: Duration) async -> End {
        let deadline = ContinuousClock.now + limit
        var pause = Self.firstPause
        while true {
            if let end = ended() { return end }
            if ContinuousClock.now >= deadline || Task.isCancelled {
                groups.kill(pid)
                pause = Self.firstPause
            }
            // A canceled task does not sleep, and the end after a kill comes soon.
            if (try? await Task.sleep(for: pause)) == nil { usleep(2000) }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func ended() -> End? {
        var status: Int32 = 0
        let result = groups.remove(pid, after: { unsafe waitpid(pid, &status, WNOHANG) })
        guard result != 0 else { return nil }
        guard result == pid else { return errno == EINTR ? nil : .exited(0) }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }
}

// MARK: - Starting

extension ChildProcess {
    /// Returns the reading end of a pipe that holds `input` and ends after it.
    private static func pipe(holding input: [UInt8]) throws(Failure) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw Failure(call: "pipe", code: errno) }
        defer { close(ends[1]) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        guard unsafe write(ends[1], input, input.count) == input.count else {
            let code = errno
            close(ends[0])
            throw Failure(call: "write", code: code)
        }
        return ends[0]
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String], input: Int32
    ) throws(Failure) -> pid_t {
        let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        do throws(ProgramStart.Failure) {
            return try ProgramStart(
                arguments: arguments, environment: environment, descriptors: [input, null, STDERR_FILENO],
                hasOwnGroup: true
            ).spawn()
        } catch { throw Failure(call: "posix_spawn", code: error.code) }
    }
}

/// The process groups of commands that are still running. Killing them leaves no command behind.
package final class ProcessGroups: Sendable {
    package static let ofThisProcess = ProcessGroups()

    private struct State {
        var leaders: Set<pid_t> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds the process that `spawn` starts.
    /// - Throws: the error of `spawn`, or an error after `close`.
    func add(_ spawn: () throws(ChildProcess.Failure) -> pid_t) throws(ChildProcess.Failure) -> pid_t {
        try state.withLock { state throws(ChildProcess.Failure) in
            guard !state.isClosed else { throw ChildProcess.Failure(call: "posix_spawn", code: ECANCELED) }
            let pid = try spawn()
            state.leaders.insert(pid)
            return pid
        }
    }

    /// Removes a process if `wait` returns its number. From then on the number may belong to another process.
    func remove(_ pid: pid_t, after wait: () -> pid_t) -> pid_t {
        state.withLock { state in
            let result = wait()
            if result != 0 { state.leaders.remove(pid) }
            return result
        }
    }

    func kill(_ pid: pid_t) {
        state.withLock { if $0.leaders.contains(pid) { _ = Glibc.kill(-pid, SIGKILL) } }
    }

    /// Kills all groups. No command can be started afterwards.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            for pid in state.leaders { _ = Glibc.kill(-pid, SIGKILL) }
        }
    }
}
