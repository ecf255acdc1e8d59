import Foundation
import Logging
import Testing

@testable import Fetch
@testable import Observability
@testable import Tracker

/// The text for a terminal or file after changes since the last text.
private let rows: [(when: String, isTerminal: Bool, changes: @Sendable (inout ConsoleQueue) -> Void, text: String?)] = [
    ("no change", true, { _ in }, nil),
    (
        "lines", false,
        {
            $0.append(line: "a")
            $0.append(line: "b")
        }, "a\nb\n"
    ),
    ("a status line into a file", false, { $0.setStatus("s") }, nil),
    ("a status line", true, { $0.setStatus("s") }, "\r\u{1B}[Ks"),
    (
        "two status lines", true,
        {
            $0.setStatus("s")
            $0.setStatus("t")
        }, "\r\u{1B}[Kt"
    ),
    (
        "a line above a status line", true,
        {
            $0.setStatus("s")
            $0.append(line: "a")
        }, "\r\u{1B}[Ka\ns"
    ),
    (
        "a status line that is cleared before it is displayed", true,
        {
            $0.setStatus("s")
            $0.setStatus("")
        }, nil
    ),
]

@Test(arguments: rows.indices) func queueBecomesText(row: Int) {
    let row = rows[row]
    var queue = ConsoleQueue(isTerminal: row.isTerminal)
    row.changes(&queue)
    #expect(queue.dequeue() == row.text, "\(row.when)")
    #expect(queue.dequeue() == nil, "\(row.when): once")
}

@Test func displayedStatusLineIsErasedByTheNextText() {
    var queue = ConsoleQueue(isTerminal: true)
    queue.setStatus("s")
    #expect(queue.dequeue() != nil)
    queue.setStatus("s")
    #expect(queue.dequeue() == nil, "already displayed")
    queue.setStatus("")
    #expect(queue.dequeue() == "\r\u{1B}[K")
    queue.append(line: "a")
    #expect(queue.dequeue() == "a\n")
}

/// What a terminal shows of lines of the log, without the time.
private let terminalRows: [(when: String, isColored: Bool, lines: [(Logger.Level, String)], displayed: [String])] = [
    ("a line that is only told", false, [(.info, "a")], ["a"]),
    ("a warning", false, [(.warning, "a")], ["warning: a"]),
    (
        "a colored warning and error", true, [(.warning, "a"), (.error, "b")],
        ["<33>warning: <0>a<0>", "<31>error: <0>b<0>"]
    ),
    ("a color of a stranger", true, [(.warning, "\u{1B}[32ma")], ["<33>warning: <0>\\u{1B}[32ma<0>"]),
    ("the same twice", false, [(.warning, "a"), (.warning, "a")], ["warning: a", "… the same once more"]),
    (
        "the same, and another", false, [(.info, "a"), (.info, "a"), (.info, "a"), (.info, "b")],
        ["a", "… the same 2 times more", "b"]
    ),
    ("the same on another level", false, [(.info, "a"), (.warning, "a")], ["a", "warning: a"]),
    ("the same after another", false, [(.info, "a"), (.info, "b"), (.info, "a")], ["a", "b", "a"]),
]

@Test(arguments: terminalRows.indices) func terminalShowsTheClockTheLevelAndWhatIsNew(row: Int) {
    let row = terminalRows[row]
    var queue = ConsoleQueue(isTerminal: true, isColored: row.isColored)
    for (number, line) in row.lines.enumerated() {
        queue.append(ConsoleLine(time: Int64(number) * 1000, level: line.0, text: line.1))
    }
    queue.endRepeats()
    let lines = (queue.dequeue() ?? "").split(separator: "\n").map { line in
        String(line).replacing(#/\u{1B}\[(\d+)m/#) { "<\($0.output.1)>" }
            .replacing(#/^(<2>)?\d\d:\d\d:\d\d(<0>)? /#, with: "").replacing(#/^ +/#, with: "")
    }
    #expect(lines == row.displayed, "\(row.when)")
}

@Test func fileHasEachLineWithItsDate() {
    var queue = ConsoleQueue(isTerminal: false)
    for _ in 0..<2 { queue.append(ConsoleLine(time: 0, level: .info, text: "a")) }
    #expect(queue.dequeue() == "1970-01-01T00:00:00.000Z info: a\n1970-01-01T00:00:00.000Z info: a\n")
}

@Test func droppedLinesAreCountedWhereTheyAreMissing() {
    var queue = ConsoleQueue(isTerminal: false)
    let long = String(repeating: "x", count: ConsoleQueue.limitBytes / 2)
    for line in [long, long, "short", "short"] { queue.append(line: line) }
    #expect(queue.dropped == 3, "after a dropped line even a short line is dropped")
    #expect(queue.dequeue() == long + "\n3 log lines are missing here: the reader was too slow\n")
    queue.append(line: "short")
    #expect(queue.dequeue() == "short\n")
    #expect(queue.dropped == 3)
}

/// A console that writes into a pipe.
struct PipedConsole {
    private let pipe = Pipe()
    let console: Console

    init() { console = Console(pipe.fileHandleForWriting.fileDescriptor, isTerminal: false) }

    /// Waits for more bytes.
    func availableData() -> Data { pipe.fileHandleForReading.availableData }

    /// Closes the console and returns everything that it wrote, which has to fit in the pipe.
    func closedText() throws -> String {
        #expect(console.close(within: .seconds(30)))
        try pipe.fileHandleForWriting.close()
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

/// A log of numbered lines in which lines are missing at some places, each of which says how many.
private struct NumberedLog {
    /// The next number; nil after a line that is out of order.
    private(set) var next: Int? = 0
    private(set) var missing = 0

    mutating func read(_ line: Substring) {
        guard let number = next else { return }
        if line == "line \(number)" {
            next = number + 1
        } else if let gap = line.wholeMatch(of: /(\d+) log lines are missing here: .*/), let count = Int(gap.1) {
            (next, missing) = (number + count, missing + count)
        } else {
            next = nil
            Issue.record("expected line \(number): \(line)")
        }
    }
}

/// The console's thread may drain the queue several times meanwhile, so lines may be missing at several places.
@Test(.timeLimit(.minutes(1))) func fullPipeDoesNotBlockTheWriter() {
    let piped = PipedConsole()
    let count = 60_000
    for number in 0..<count { piped.console.write(line: "line \(number)") }
    let dropped = piped.console.dropped
    #expect(dropped > 0)
    #expect(!piped.console.close(within: .milliseconds(1)), "the pipe is still full")
    var log = NumberedLog()
    var rest = ""
    while let next = log.next, next < count {
        rest += String(decoding: piped.availableData(), as: UTF8.self)
        let lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropLast() { log.read(line) }
        rest = String(lines.last ?? "")
    }
    #expect(log.next == count)
    #expect(log.missing == dropped)
}

/// Two sources have a main playlist each.
@Test(.timeLimit(.minutes(1))) func lineAboutABackupNamesIt() throws {
    let piped = PipedConsole()
    let log = RelayLog(Logger(label: "test") { _ in ConsoleLogHandler(console: piped.console, rate: LogRate()) })
    for event in [UpstreamEvent.backup(2, .playlistEnded(.main)), .playlistEnded(.main)] { log.log(event) }
    let lines = try piped.closedText().split(separator: "\n").map { $0.drop { $0 != " " } }
    #expect(lines == [" info: Backup 2: The main playlist has ended", " info: The main playlist has ended"])
}

/// Each line is an object, what strangers wrote is escaped, and secrets are redacted.
@Test(.timeLimit(.minutes(1))) func jsonLinesHaveFields() throws {
    let piped = PipedConsole()
    piped.console.setFormat(.json)
    piped.console.setStatusLine("no status line")
    var logger = Logger(label: "test") { _ in ConsoleLogHandler(console: piped.console, rate: LogRate()) }
    logger[metadataKey: ConsoleLogHandler.channel] = "news"
    let log = RelayLog(logger)
    let request = FetchRequest(.segment, url: "http://u:p@h/\u{1B}[31m.ts?token=geheim")
    log.log(.backup(1, .fetchFailed(request, .refused(status: 404), failures: 1, isLast: false)))
    log.log(.lost(.main, SegmentLoss(mediaSequences: 7..<9, reason: .gap, cause: .gap)))
    piped.console.write(message: "Watch “this”")
    let lines = try piped.closedText().split(separator: "\n")
    let objects = try lines.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(objects.count == 3)
    #expect(objects.map { $0["level"] as? String } == ["notice", "warning", "info"])
    #expect(objects[0]["channel"] as? String == "news" && objects[0]["source"] as? String == "Backup 1")
    #expect(objects[0]["url"] as? String == "http://h/\u{1B}[31m.ts?token=…")
    #expect(objects[1]["sequence"] as? Int == 7 && objects[2]["message"] as? String == "Watch “this”")
    #expect(lines.allSatisfy { !$0.contains("geheim") && !$0.contains("\u{1B}") && $0.hasPrefix("{\"time\":\"2") })
}

@Test func missingLinesAreAnObjectToo() {
    var queue = ConsoleQueue(isTerminal: true)
    queue.format = .json
    queue.setStatus("s")
    queue.append(line: String(repeating: "x", count: ConsoleQueue.limitBytes))
    let line = queue.dequeue() ?? ""
    #expect(line.hasPrefix("{") && line.hasSuffix("\"1 log lines are missing here: the reader was too slow\"}\n"))
}

@Test(.timeLimit(.minutes(1))) func closeWritesQueuedLines() throws {
    let piped = PipedConsole()
    for number in 0..<100 { piped.console.write(line: "line \(number)") }
    let text = try piped.closedText()
    piped.console.write(line: "too late")
    #expect(text == (0..<100).map { "line \($0)\n" }.joined())
}
