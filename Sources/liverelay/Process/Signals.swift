import Dispatch
import Foundation
import Glibc
import Observability
import Support
import Synchronization

/// Waits for SIGINT, SIGTERM or SIGHUP.
enum Signals {
    /// SIGHUP is left ignored if it was at the start, as under nohup.
    private static var handledSignals: [Int32] { [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    /// Signals that would end the process although nobody asks it to end: writing to a closed connection, opening a
    /// file on which this process has a lease, exceeding the file size limit, timers, and signals that other programs
    /// interpret as requests, such as to reopen a log. A call that causes such a signal fails with an error.
    private static let unasked = [
        SIGPIPE, SIGIO, SIGXFSZ, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2, SIGPWR, SIGSTKFLT,
    ]

    /// Whether SIGHUP was ignored when the process began, as under nohup.
    static let ignoresHangup = isIgnored(SIGHUP)

    static func ignoreUnasked() {
        _ = ignoresHangup
        for number in unasked { signal(number, SIG_IGN) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// - Parameter endsAtHangup: whether SIGHUP is included; otherwise it has another meaning.
    /// - Returns: success after a signal; nil if the task was canceled.
    static func wait(endsAtHangup: Bool = true) async -> Result<Void, RelayError>? {
        let numbers = handledSignals.filter { endsAtHangup || $0 != SIGHUP }
        return await wait(for: numbers, endsProcess: true) ? .success(()) : nil
    }

    /// Waits for one of the signals.
    /// - Parameter endsProcess: whether the process ends within `ShutdownDeadline.limit` of the signal.
    /// - Returns: false if the task was canceled.
    static func wait(for numbers: [Int32], endsProcess: Bool = false) async -> Bool {
        let (arrivals, sources) = listen(for: numbers, endsProcess)
        defer { for source in sources { source.cancel() } }
        for await _ in arrivals { return true }
        return false
    }

    /// Performs an action at each arrival of a signal, until the task is canceled.
    ///
    /// The signal source stays the same, because a source that replaces another one may miss signals.
    static func forEach(_ number: Int32, _ action: () async -> Void) async {
        let (arrivals, sources) = listen(for: [number], false)
        defer { for source in sources { source.cancel() } }
        for await _ in arrivals { await action() }
    }

    private static func listen(
        for numbers: [Int32], _ endsProcess: Bool
    ) -> (arrivals: AsyncStream<Void>, sources: [any DispatchSourceSignal]) {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let sources = numbers.map { number in
            // Until the source is registered, a signal with `endsProcess` keeps its default action. If it were ignored,
            // it would be lost.
            if !endsProcess { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // Started here, because the waiting task may not get a thread.
                if endsProcess { ShutdownDeadline.start() }
                arrival.yield()
            }
            source.resume()
            return source
        }
        return (arrivals, sources)
    }
}

/// Ends the process a while after it was asked to end, whatever is still being computed.
///
/// An orderly end takes a fraction of a second. A computing channel notices the request only when it has finished, and
/// may keep all threads of the pool busy, so this uses a thread of its own. The spool and captures are complete at any
/// moment.
enum ShutdownDeadline {
    /// The time from the signal to the end of the process.
    static let limit = Duration.milliseconds(1900)

    private static let hasStarted = Mutex(false)
    /// Time that the process needs before it ends, beside `limit`.
    private static let extra = Mutex(Duration.zero)

    static func extend(by time: Duration) { extra.withLock { $0 = time } }

    /// Starts the time limit. Further calls have no effect.
    static func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { start(after: limit + extra.withLock { $0 }, exit: endProcess) }
    }

    static func start(after limit: Duration, exit: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: limit / .seconds(1))
            exit()
        }
    }

    /// Ends the commands, removes the temporary spools and ends the process, with the status of an orderly end.
    private static func endProcess() {
        ProcessGroups.ofThisProcess.close()
        TemporarySpool.removeAll()
        Glibc._exit(ExitStatus.success.rawValue)
    }
}
