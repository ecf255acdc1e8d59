import Foundation
import Logging
import Testing
import Tracker

@testable import liverelay

/// What a terminal gets for what was said since it got something last.
private let rows: [(when: String, isTerminal: Bool, said: @Sendable (inout ConsoleQueue) -> Void, got: String?)] = [
    ("nothing", true, { _ in }, nil),
    (
        "lines", false,
        {
            $0.add(line: "a")
            $0.add(line: "b")
        }, "a\nb\n"
    ),
    ("a status that no file wants", false, { $0.show(status: "s") }, nil),
    ("a status", true, { $0.show(status: "s") }, "\r\u{1B}[Ks"),
    (
        "of two the newer", true,
        {
            $0.show(status: "s")
            $0.show(status: "t")
        }, "\r\u{1B}[Kt"
    ),
    (
        "a line above a status", true,
        {
            $0.show(status: "s")
            $0.add(line: "a")
        }, "\r\u{1B}[Ka\ns"
    ),
    (
        "a status that is over before it was seen", true,
        {
            $0.show(status: "s")
            $0.show(status: "")
        }, nil
    ),
]

@Test(arguments: rows.indices) func whatATerminalGets(row: Int) {
    let row = rows[row]
    var queue = ConsoleQueue(isTerminal: row.isTerminal)
    row.said(&queue)
    #expect(queue.dequeue() == row.got, "\(row.when)")
    #expect(queue.dequeue() == nil, "\(row.when): once")
}

@Test func aStatusIsWipedByWhatComesNext() {
    var queue = ConsoleQueue(isTerminal: true)
    queue.show(status: "s")
    #expect(queue.dequeue() != nil)
    queue.show(status: "s")
    #expect(queue.dequeue() == nil, "it stands there")
    queue.show(status: "")
    #expect(queue.dequeue() == "\r\u{1B}[K")
    queue.add(line: "a")
    #expect(queue.dequeue() == "a\n")
}

@Test func whatDoesNotFitIsCountedWhereItIsMissing() {
    var queue = ConsoleQueue(isTerminal: false)
    let long = String(repeating: "x", count: ConsoleQueue.limitBytes / 2)
    for line in [long, long, "short", "short"] { queue.add(line: line) }
    #expect(queue.dropped == 3, "a line behind one that is missing is missing, however short")
    #expect(queue.dequeue() == long + "\n3 lines of the log are missing here: nobody took them\n")
    queue.add(line: "short")
    #expect(queue.dequeue() == "short\n")
    #expect(queue.dropped == 3)
}

/// A pipe that is full: nothing here waits for it, and once it is emptied it tells what it missed.
@Test(.timeLimit(.minutes(1))) func aPipeThatNobodyEmptiesHoldsUpNobody() throws {
    let pipe = Pipe()
    let console = Console(pipe.fileHandleForWriting.fileDescriptor, isTerminal: false)
    let count = 60_000
    for number in 0..<count { console.write(line: "line \(number)") }
    #expect(console.dropped > 0)
    #expect(!console.close(within: .milliseconds(1)), "it is full still")
    var read = Data()
    while !read.hasSuffix("nobody took them\n") { read += pipe.fileHandleForReading.availableData }
    let lines = String(decoding: read, as: UTF8.self).split(separator: "\n")
    let kept = lines.dropLast()
    #expect(kept.elementsEqual((0..<kept.count).map { "line \($0)" }), "in order, none twice")
    #expect(lines.last == "\(count - kept.count) lines of the log are missing here: nobody took them")
    #expect(console.dropped == count - kept.count)
}

/// Two sources have a main playlist each.
@Test(.timeLimit(.minutes(1))) func aLineAboutABackupSaysSo() throws {
    let pipe = Pipe()
    let console = Console(pipe.fileHandleForWriting.fileDescriptor, isTerminal: false)
    let log = RelayLog(Logger(label: "test") { _ in ConsoleLogHandler(console: console) })
    for event in [UpstreamEvent.backup(2, .playlistEnded(.main)), .playlistEnded(.main)] { log.log(event) }
    #expect(console.close(within: .seconds(30)))
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let lines = text.split(separator: "\n").map { $0.drop { $0 != " " } }
    #expect(lines == [" info: Backup 2: The main playlist has ended", " info: The main playlist has ended"])
}

@Test(.timeLimit(.minutes(1))) func whatWaitsIsWrittenAtTheEnd() throws {
    let pipe = Pipe()
    let console = Console(pipe.fileHandleForWriting.fileDescriptor, isTerminal: false)
    for number in 0..<100 { console.write(line: "line \(number)") }
    #expect(console.close(within: .seconds(30)))
    console.write(line: "too late")
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text == (0..<100).map { "line \($0)\n" }.joined())
}

extension Data {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
