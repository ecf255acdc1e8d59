import Dispatch
import Foundation
import Glibc
package import Logging
import Support
import Synchronization

/// Log lines on standard error and, on a terminal, a status line below them that is rewritten in place.
///
/// No caller waits for the reader of standard error: a thread of the console writes, so that a full pipe does not block a
/// channel.
package final class Console: Sendable {
    package static let standardError = Console(
        STDERR_FILENO, isTerminal: isatty(STDERR_FILENO) == 1, isColored: wantsColors)

    /// Whether the environment wants colors on a terminal (https://no-color.org).
    private static var wantsColors: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Time between two updates of the status line.
    private static let statusInterval = Duration.milliseconds(500)

    private let descriptor: Int32
    private let state: Mutex<State>
    /// Signaled once each time the queue becomes non-empty, and at the end.
    private let wakeup = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)

    private struct State {
        var queue: ConsoleQueue
        var suppressed = 0
        var hasThread = false
        /// Whether the thread was woken for the current contents of the queue.
        var isSignaled = false
        var isClosed = false
    }

    /// - Parameter descriptor: must stay open as long as the console exists.
    init(_ descriptor: Int32, isTerminal: Bool, isColored: Bool = false) {
        self.descriptor = descriptor
        state = Mutex(State(queue: ConsoleQueue(isTerminal: isTerminal, isColored: isColored)))
    }

    /// Number of lines that were dropped because the queue was full, or because there were too many at once.
    package var dropped: Int { state.withLock { $0.queue.dropped + $0.suppressed } }

    /// Counts a line that is not written because there are too many at once.
    func recordSuppressed() { state.withLock { $0.suppressed += 1 } }

    package func write(line: String) { update { $0.append(line: line) } }

    func write(_ line: ConsoleLine) { update { $0.append(line) } }

    /// Writes a line for people, in the console's format, with its URLs redacted.
    package func write(message: String, level: Logger.Level = .info) {
        let message = message.redactingURLs
        update { $0.append(line: $0.format.line(message, level: level)) }
    }

    /// Sets how lines are written from now on.
    package func setFormat(_ format: LogFormat) { update { $0.format = format } }

    package var format: LogFormat { state.withLock { $0.queue.format } }

    /// Whether standard error is a terminal, where a status line is displayed.
    package var displaysStatusLine: Bool { state.withLock { $0.queue.isTerminal && $0.queue.format == .text } }

    /// Replaces the status line; has no effect unless `displaysStatusLine`.
    func setStatusLine(_ text: String) { update { $0.setStatus(text) } }

    /// Updates the status line until the task is canceled.
    package func displayStatus(_ text: () async -> String) async {
        while !Task.isCancelled {
            setStatusLine(await text())
            try? await Task.sleep(for: Self.statusInterval)
        }
    }

    package func clearStatusLine() { setStatusLine("") }

    /// Writes the queued lines, as far as the reader accepts them within `limit`. Later lines are ignored.
    /// - Returns: false if lines remain in the queue.
    @discardableResult
    package func close(within limit: Duration) -> Bool {
        let isWriting = state.withLock { state in
            defer { state.isClosed = true }
            state.queue.endRepeats()
            return state.hasThread && !state.isClosed
        }
        guard isWriting else { return true }
        wakeup.signal()
        let (seconds, attoseconds) = limit.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        return finished.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    private func update(_ change: (inout ConsoleQueue) -> Void) {
        let (needsThread, needsSignal) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            change(&state.queue)
            defer { (state.hasThread, state.isSignaled) = (true, true) }
            return (!state.hasThread, !state.isSignaled)
        }
        if needsThread { Thread.detachNewThread { self.writeAll() } }
        if needsSignal { wakeup.signal() }
    }

    /// Writes from the queue until the console is closed; runs on the console's thread.
    private func writeAll() {
        while true {
            let (text, isClosed) = state.withLock { state in
                state.isSignaled = false
                return (state.queue.dequeue(), state.isClosed)
            }
            if let text { write(text) } else if isClosed { break } else { wakeup.wait() }
        }
        finished.signal()
    }

    /// Writes the whole text and blocks as long as the reader does not accept it.
    private func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
            } else if errno == EAGAIN {
                // Another process that shares the terminal made it non-blocking.
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&writable, 1, -1)
            } else if errno != EINTR {
                return  // The reader closed its end; the channel continues without a log.
            }
        }
    }
}
