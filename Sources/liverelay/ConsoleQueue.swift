/// What waits to be written to standard error. It is bounded, because whoever reads there may stop reading; what did not
/// fit is counted, and said where it is missing.
struct ConsoleQueue: Equatable, Sendable {
    /// Of lines that wait. What is being written is as much again, at most.
    static let limitBytes = 256 << 10

    let isTerminal: Bool
    private var lines: [String] = []
    private var byteCount = 0
    /// Left out behind `lines`.
    private var droppedSinceFlush = 0
    /// Left out, in all.
    private(set) var dropped = 0
    /// What shall stand at the bottom of a terminal, and what does.
    private var status = ""
    private var displayedStatus = ""

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Where one line was left out so are those behind it, until there is room again: the order stays.
    mutating func add(line: String) {
        let size = line.utf8.count + 1
        guard droppedSinceFlush == 0, size <= Self.limitBytes - byteCount else {
            droppedSinceFlush += 1
            dropped += 1
            return
        }
        lines.append(line)
        byteCount += size
    }

    /// In place of what was to stand at the bottom; of several nobody saw but the last nothing remains.
    mutating func show(status text: String) { status = isTerminal ? text : "" }

    /// All that waits, as a terminal takes it; nil when there is nothing.
    mutating func dequeue() -> String? {
        if droppedSinceFlush > 0 {
            lines.append("\(droppedSinceFlush) lines of the log are missing here: nobody took them")
        }
        guard !lines.isEmpty || status != displayedStatus else { return nil }
        let wipe = isTerminal && !(displayedStatus.isEmpty && status.isEmpty) ? "\r\u{1B}[K" : ""
        let text = wipe + lines.map { $0 + "\n" }.joined() + status
        (lines, byteCount, droppedSinceFlush, displayedStatus) = ([], 0, 0, status)
        return text
    }
}
