import Dispatch
import Glibc

/// Waits for SIGINT, SIGTERM or SIGHUP.
enum Signals {
    /// SIGHUP is left ignored if it was at the start, as under nohup.
    private static var handledSignals: [Int32] { [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// - Returns: success after a signal; nil if the task was canceled.
    static func wait() async -> Result<Void, RelayError>? {
        await wait(for: handledSignals, endsProcess: true) ? .success(()) : nil
    }

    /// Waits for one of the signals.
    /// - Parameter endsProcess: whether the process ends within `ShutdownDeadline.limit` of the signal.
    /// - Returns: false if the task was canceled.
    static func wait(for numbers: [Int32], endsProcess: Bool = false) async -> Bool {
        await handle(numbers, endsProcess: endsProcess) { false }
    }

    /// Calls `handler` after each signal, until it returns false. Signals that arrive during a call cause one more.
    ///
    /// A handler is registered once: one that is registered again after a cancellation gets nothing.
    /// - Returns: false if the task was canceled.
    static func handle(
        _ numbers: [Int32], endsProcess: Bool = false, _ handler: () async -> Bool
    ) async -> Bool {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let sources = numbers.map { number in
            // Until the source is registered, a signal that is to end the process ends it. Ignored, it would be lost.
            if !endsProcess { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // Here, because the waiting task may not get a thread.
                if endsProcess { ShutdownDeadline.start() }
                arrival.yield()
            }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        for await _ in arrivals where !(await handler()) { return true }
        return false
    }
}
