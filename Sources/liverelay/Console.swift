import Dispatch
import Foundation
import Glibc
import Logging
import Playlist
import Synchronization

/// Log lines on standard error, and under them, on a terminal, one line that is rewritten in place.
///
/// The two share the terminal, so they share this. Nothing here waits for who reads them: a thread of its own writes, so a
/// pipe that nobody empties holds up no channel.
final class Console: Sendable {
    /// The process has one standard error.
    static let standardError = Console(STDERR_FILENO, isTerminal: isatty(STDERR_FILENO) == 1)

    private let descriptor: Int32
    private let state: Mutex<State>
    /// Rung once for each time that the queue is no longer empty, and at the end.
    private let wakeup = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)

    private struct State {
        var queue: ConsoleQueue
        var hasThread = false
        /// The thread knows that there is something.
        var isSignaled = false
        var isClosed = false
    }

    /// - Parameter descriptor: open as long as this is.
    init(_ descriptor: Int32, isTerminal: Bool) {
        self.descriptor = descriptor
        state = Mutex(State(queue: ConsoleQueue(isTerminal: isTerminal)))
    }

    /// Lines that were not written, because too many waited already.
    var dropped: Int { state.withLock { $0.queue.dropped } }

    func write(line: String) { change { $0.add(line: line) } }

    /// Does nothing when nobody sees it.
    func setStatusLine(_ text: String) { change { $0.show(status: text) } }

    /// Leaves the cursor on a line of its own.
    func clearStatusLine() { setStatusLine("") }

    /// The end: what waits is written, if it is taken in time. What comes later is not.
    /// - Returns: false when it was not.
    @discardableResult
    func close(within limit: Duration) -> Bool {
        let isWriting = state.withLock { state in
            defer { state.isClosed = true }
            return state.hasThread && !state.isClosed
        }
        guard isWriting else { return true }
        wakeup.signal()
        let (seconds, attoseconds) = limit.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        return finished.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    private func change(_ change: (inout ConsoleQueue) -> Void) {
        let (begins, rings) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            change(&state.queue)
            defer { (state.hasThread, state.isSignaled) = (true, true) }
            return (!state.hasThread, !state.isSignaled)
        }
        if begins { Thread.detachNewThread { self.writeAll() } }
        if rings { wakeup.signal() }
    }

    /// The thread's work, until the end.
    private func writeAll() {
        while true {
            let (text, isClosed) = state.withLock { state in
                state.isSignaled = false
                return (state.queue.dequeue(), state.isClosed)
            }
            if let text { emit(text) } else if isClosed { break } else { wakeup.wait() }
        }
        finished.signal()
    }

    /// Waits as long as it takes.
    private func emit(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
            } else if errno == EAGAIN {
                // Somebody who shares the terminal made it so.
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&room, 1, -1)
            } else if errno != EINTR {
                return  // Nobody reads the log any more; the channel goes on.
            }
        }
    }
}

/// `2026-01-02T03:04:05.678Z warning: text`, through the console; of a source that has a name `… warning: Backup 1: text`.
struct ConsoleLogHandler: LogHandler {
    /// Metadata: the name of the source that a line is about, where that is not the channel's own upstream.
    static let source = "source"

    let console: Console
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let now = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text
        let source = metadata[Self.source].map { "\($0): " } ?? ""
        console.write(line: "\(now) \(event.level): \(source)\(event.message)")
    }
}

/// The wall, asked only for log lines and for the dates of an upstream that has none.
enum WallClock {
    /// Since 1970-01-01T00:00:00Z.
    static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
