import Foundation
import Glibc
import Logging
import Observability
import Service
import Support
import Synchronization
import WebServer

/// Starts the program again beside this process, and hands the connections and channels over to it.
struct Upgrade: Sendable {
    let host: ChannelHost
    let server: HTTPServer
    let updater: CatalogUpdater?
    let recordings: RecordingService?
    let health: HealthRecorder
    let spool: SpoolLocation
    let generation: Int
    let connections: OpenConnections
    let logger: Logger
    var limits = OutgoingHandover.Limits()

    /// How often segments and connections are looked at.
    private static let interval = Duration.milliseconds(100)

    /// A process that takes over from this one.
    struct Successor: Sendable {
        /// The number of the process.
        let number: Int32
        let link: HandoverLink
        /// Ends the process. Its rings are whole at any moment.
        let stop: @Sendable () -> Void
    }

    /// Starts a successor with a listening socket. Its messages and its end are inputs.
    typealias Start =
        @Sendable (
            _ listener: Int32, _ input: @escaping @Sendable (OutgoingHandover.Input) -> Void
        ) throws(ProgramStart.Failure) -> Successor

    /// - Parameters:
    ///   - ends: the channels whose runs end.
    ///   - start: nil: the program is started again.
    /// - Returns: whether the other process is the service now. Otherwise this process continues as before.
    func run(_ ends: RunEnds, start: Start? = nil) async -> Bool {
        let (inputs, input) = AsyncStream<OutgoingHandover.Input>.makeStream()
        let successor: Successor
        do throws(ProgramStart.Failure) { successor = try await begin(start ?? startProgram) { input.yield($0) } } catch
        {
            report(failure: "the program cannot be started: \(unsafe String(cString: strerror(error.code)))")
            return false
        }
        logger.info("Upgrade: started process \(successor.number)")
        ServiceManager.current?.send("STATUS=Upgrade: process \(successor.number) starts")
        let clock = ContinuousClock()
        let beginning = clock.now
        let now = { beginning.duration(to: clock.now) }
        var machine = OutgoingHandover(limits: limits, at: now())
        successor.link.send(.offer(format: HandoverMessage.format, await state(host.spools)))
        ends.observe { input.yield(.closed(channel: $0)) }
        let ticks = Task {
            while (try? await clock.sleep(for: Self.interval)) != nil { input.yield(.wake) }
        }
        defer {
            ticks.cancel()
            ends.observe(nil)
        }
        var segments: [String: UInt64] = [:]
        var end: Bool?
        for await received in inputs {
            var pending = [received]
            if received == .wake {
                if connections.isEmpty { pending.append(.drained) }
                let next = host.nextSegments
                let published = next.filter { segments[$0.key].map { [new = $0.value] in $0 < new } ?? false }
                pending += published.keys.sorted().map { .published(channel: $0) }
                segments = next
            }
            while !pending.isEmpty {
                for effect in machine.handle(pending.removeFirst(), at: now()) {
                    let (more, result) = await perform(effect, successor)
                    pending += more
                    end = end ?? result
                }
            }
            if let end { return end }
        }
        // The task was canceled, because this process ends.
        successor.stop()
        return false
    }

    private func perform(
        _ effect: OutgoingHandover.Effect, _ successor: Successor
    ) async -> (inputs: [OutgoingHandover.Input], end: Bool?) {
        switch effect {
        case .send(let message): successor.link.send(message)
        case .stopAccepting:
            await server.pauseAccepting()
            await recordings?.close()
            return ([.stoppedAccepting(await state(host.beginHandover()))], nil)
        case .drain:
            logger.info("Upgrade: process \(successor.number) accepts connections")
            server.beginClosing()
        case .release(let channel): if !host.release(channel) { return ([.closed(channel: channel)], nil) }
        case .complete:
            logger.info("Upgrade: process \(successor.number) has all channels")
            // What the successor says before systemd has read this is lost.
            ServiceManager.current?.send("MAINPID=\(successor.number)\nSTATUS=Upgraded")
            return ([], true)
        case .takeBack(let reason):
            successor.stop()
            host.endHandover()
            recordings?.reopen()
            await server.resumeAccepting()
            report(failure: reason)
            return ([], false)
        case .abandon(let reason):
            successor.stop()
            report(failure: reason)
            return ([], false)
        }
        return ([], nil)
    }

    private func state(_ channels: [String: String]) async -> HandoverState {
        HandoverState(
            channels: channels, spool: spool.path, isTemporary: spool.isTemporary, generation: generation + 1,
            health: health.handover, changes: await updater?.requestedChanges ?? [])
    }

    private func report(failure reason: String) {
        logger.error("Upgrade failed, this process continues: \(reason)")
        ServiceManager.current?.send("STATUS=Upgrade failed: \(reason.redactingURLs)")
    }

    private func begin(
        _ start: Start, _ input: @escaping @Sendable (OutgoingHandover.Input) -> Void
    ) async throws(ProgramStart.Failure) -> Successor {
        guard let listener = await server.duplicateListener() else { throw ProgramStart.Failure(code: EMFILE) }
        defer { close(listener) }
        return try start(listener, input)
    }

    @Sendable private func startProgram(
        _ listener: Int32, _ input: @escaping @Sendable (OutgoingHandover.Input) -> Void
    ) throws(ProgramStart.Failure) -> Successor {
        guard let (own, other) = HandoverLink.makePair() else { throw ProgramStart.Failure(code: EMFILE) }
        defer { close(other) }
        let descriptors = [other, listener] + (spool.lockDescriptor.map { [$0] } ?? [])
        let names = Set(Inheritance.variables)
        let environment = ProgramStart.environment.filter { !names.contains(String($0.prefix { $0 != "=" })) }
        let process: SuccessorProcess
        do throws(ProgramStart.Failure) {
            process = SuccessorProcess(
                try ProgramStart(
                    arguments: CommandLine.arguments,
                    environment: environment + ["\(Inheritance.variable)=\(descriptors.count)"],
                    descriptors: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] + descriptors,
                    ignoring: Signals.ignoresHangup ? [SIGHUP] : []
                ).spawn())
        } catch {
            close(own)
            throw error
        }
        let link = HandoverLink(own) { input($0.map { .message($0) } ?? .successorEnded(reason: process.end())) }
        return Successor(number: process.number, link: link, stop: process.stop)
    }
}

/// A process that was started to take over from this one.
private final class SuccessorProcess: Sendable {
    let number: pid_t
    /// The status with which it ended; nil: it runs.
    private let status = Mutex<Int32?>(nil)

    init(_ number: pid_t) { self.number = number }

    /// Ends the process. Its rings are whole at any moment.
    func stop() {
        status.withLock { status in
            guard status == nil else { return }
            kill(number, SIGKILL)
            status = Self.wait(for: number, 0)
        }
    }

    /// How the process ended, after it has closed its connection.
    func end() -> String {
        for _ in 0..<20 {
            let known = status.withLock { status in
                status = status ?? Self.wait(for: number, WNOHANG)
                return status
            }
            guard let known else {
                usleep(50_000)
                continue
            }
            let signal = known & 0x7F
            return signal == 0
                ? "the new process ended with status \(known >> 8 & 0xFF)"
                : "the new process was ended by signal \(signal)"
        }
        return "the new process does not answer any more"
    }

    private static func wait(for number: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let result = unsafe waitpid(number, &status, options)
            if result < 0, errno == EINTR { continue }
            return result == 0 ? nil : status
        }
    }
}

/// The ends of runs, of which an upgrade is told.
final class RunEnds: Sendable {
    private let observer = Mutex<(@Sendable (String) -> Void)?>(nil)

    func observe(_ body: (@Sendable (String) -> Void)?) { observer.withLock { $0 = body } }

    func report(_ channel: String) { observer.withLock { $0 }?(channel) }
}
