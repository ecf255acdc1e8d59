import Logging
import Support

/// Lines that wait to be written to standard error.
///
/// The queue is bounded, because the reader may stop reading. Lines that do not fit are dropped and counted, and a line
/// at their place says how many are missing.
struct ConsoleQueue: Equatable, Sendable {
    /// Bytes of queued lines; the text under way has at most as many again.
    static let limitBytes = 256 << 10

    let isTerminal: Bool
    /// How a line about missing lines is written. There is no status line between JSON objects.
    var format = LogFormat.text
    private var lines: [String] = []
    private var byteCount = 0
    /// Number of lines dropped after `lines`.
    private var droppedSinceFlush = 0
    /// Number of all dropped lines.
    private(set) var dropped = 0
    /// The requested status line, and the one that the terminal displays.
    private var status = ""
    private var displayedStatus = ""

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Appends a line without control characters if it fits. After a dropped line all lines are dropped until the next `dequeue()`, to keep the
    /// order.
    mutating func append(line: String) {
        let line = line.escapingControlCharacters
        let size = line.utf8.count + 1
        guard droppedSinceFlush == 0, size <= Self.limitBytes - byteCount else {
            droppedSinceFlush += 1
            dropped += 1
            return
        }
        lines.append(line)
        byteCount += size
    }

    /// Replaces the status line.
    mutating func setStatus(_ text: String) {
        status = isTerminal && format == .text ? text.escapingControlCharacters : ""
    }

    /// Removes all queued lines and returns them as text for the terminal or file; nil if there is nothing to write.
    mutating func dequeue() -> String? {
        if droppedSinceFlush > 0 {
            let message = "\(droppedSinceFlush) log lines are missing here: the reader was too slow"
            lines.append(format.line(message, level: .warning))
        }
        guard !lines.isEmpty || status != displayedStatus else { return nil }
        let erase = isTerminal && !(displayedStatus.isEmpty && status.isEmpty) ? "\r\u{1B}[K" : ""
        let text = erase + lines.map { $0 + "\n" }.joined() + status
        (lines, byteCount, droppedSinceFlush, displayedStatus) = ([], 0, 0, status)
        return text
    }
}
