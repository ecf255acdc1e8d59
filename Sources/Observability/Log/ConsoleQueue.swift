import Glibc
import Logging
import Playlist
import Support

/// A line of the log, before it has the form of a terminal or of a file.
struct ConsoleLine: Equatable, Sendable {
    /// Milliseconds since 1970.
    let time: Int64
    let level: Logger.Level
    let text: String

    /// The line of a file: `2026-01-02T03:04:05.678Z warning: text`.
    var fileText: String { "\(ProgramDateTime(millisecondsSince1970: time).text) \(level): \(text)" }

    /// The line of a terminal, where somebody watches: `03:04:05 warning: text` by the local clock.
    func terminalText(isColored: Bool) -> String {
        let text = text.escapingControlCharacters
        let label = level >= .notice ? "\(level): " : ""
        guard isColored else { return "\(clock) \(label)\(text)" }
        return
            "\(Self.dim)\(clock)\(Self.plain) \(color)\(label)\(Self.plain)\(level < .info ? Self.dim : "")\(text)\(Self.plain)"
    }

    private static let (plain, dim) = ("\u{1B}[0m", "\u{1B}[2m")

    private var color: String {
        switch level {
        case .error, .critical: "\u{1B}[31m"
        case .warning: "\u{1B}[33m"
        default: ""
        }
    }

    private var clock: String {
        var seconds = time_t(time / 1000)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
        return [hour, minute, second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}

/// Lines that are waiting to be written to standard error.
///
/// The queue is bounded, because the reader may stop reading. Lines that do not fit are dropped and counted; another
/// line in their place states how many are missing.
struct ConsoleQueue: Equatable, Sendable {
    /// The most bytes of queued lines; the text that is being written may be as large again.
    static let limitBytes = 256 << 10

    let isTerminal: Bool
    /// Whether levels have colors on a terminal.
    let isColored: Bool
    /// The format of the line about dropped lines. JSON output has no status line.
    var format = LogFormat.text
    private var lines: [String] = []
    private var byteCount = 0
    /// Number of lines dropped after `lines`.
    private var droppedSinceFlush = 0
    private(set) var dropped = 0
    /// The latest line of the log on a terminal, and how often it came again since then.
    private var latest: ConsoleLine?
    private var repeats = 0
    /// The requested status line, and the one that the terminal displays.
    private var status = ""
    private var displayedStatus = ""

    init(isTerminal: Bool, isColored: Bool = false) { (self.isTerminal, self.isColored) = (isTerminal, isColored) }

    /// Appends a line of the log. On a terminal, a line that says the same as the one before it is counted, and the count is
    /// appended before the next line.
    mutating func append(_ line: ConsoleLine) {
        guard isTerminal else { return append(line: line.fileText) }
        if line.level == latest?.level, line.text == latest?.text {
            repeats += 1
            return
        }
        endRepeats()
        latest = line
        enqueue(line.terminalText(isColored: isColored))
    }

    /// Appends a line without control characters.
    mutating func append(line: String) {
        endRepeats()
        enqueue(line.escapingControlCharacters)
    }

    /// Appends how often the latest line came again, if it did.
    mutating func endRepeats() {
        if repeats > 0 { enqueue("         … the same \(repeats == 1 ? "once" : "\(repeats) times") more") }
        (latest, repeats) = (nil, 0)
    }

    /// Appends a line if it fits. After a dropped line, all lines are dropped until the next `dequeue()`, to keep the order.
    private mutating func enqueue(_ line: String) {
        let size = line.utf8.count + 1
        guard droppedSinceFlush == 0, size <= Self.limitBytes - byteCount else {
            droppedSinceFlush += 1
            dropped += 1
            return
        }
        lines.append(line)
        byteCount += size
    }

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
