import Foundation
import Playlist
import Synchronization
import Testing
import Tracker

@testable import Capture

private let playlist = "http://h/main.m3u8"

private func withDirectory<T>(_ body: (URL) async throws -> T) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

private func capture(_ exchanges: [CapturedExchange]) -> CaptureDirectory {
    CaptureDirectory(
        URL(filePath: "/nowhere"), index: CaptureIndex(upstream: playlist, about: "", exchanges: exchanges))
}

private func exchange(
    _ at: Duration, _ url: String, _ text: String, status: Int = 200, range: ByteRange? = nil, took: Duration = .zero
) -> CapturedExchange {
    CapturedExchange(
        at: at, took: took, url: url, byteRange: range,
        ending: .answer(CapturedAnswer(status: status, body: .text(text))))
}

private let timeRows: [(json: String, microseconds: Int64?)] = [
    ("0", 0), ("0.0", 0), ("4", 4_000_000), ("\"4\"", 4_000_000), ("0.1", 100_000), ("\"0.000001\"", 1),
    ("123456.000001", 123_456_000_001), ("86400.123456", 86_400_123_456), ("0.30000000000000004", 300_000),
    ("1e1", 10_000_000), ("\"007.50\"", 7_500_000), ("2.0000005", 2_000_001),
    ("-1", nil), ("\"-1\"", nil), ("\"1s\"", nil), ("\"\"", nil), ("\"1.\"", nil), ("\"1.2.3\"", nil), ("1e30", nil),
    ("null", nil), ("true", nil),
]

@Test(arguments: timeRows)
func timesAreExactToTheMicrosecond(json: String, microseconds: Int64?) {
    let time = try? JSONDecoder().decode([CaptureTime].self, from: Data("[\(json)]".utf8))
    #expect(time?.first?.duration == microseconds.map { .microseconds($0) }, "\(json)")
}

@Test func writtenTimesReadBackTheSame() throws {
    for microseconds: Int64 in [0, 1, 10, 999_999, 1_000_000, 1_000_001, 123_456_789_012, 999_999_999_999_999] {
        let time = CaptureTime(duration: .microseconds(microseconds))
        let json = try JSONEncoder().encode([time])
        #expect(try JSONDecoder().decode([CaptureTime].self, from: json) == [time])
        #expect(!json.contains(UInt8(ascii: "e")), "plain decimals for other readers")
    }
}

@Test func anIndexReadsBackAsWritten() throws {
    let all = CaptureIndex(
        upstream: playlist, about: "a \"quoted\" channel", backups: ["http://a", "http://b"],
        exchanges: [
            exchange(.microseconds(1), playlist, "#EXTM3U\n", took: .milliseconds(31)),
            exchange(.seconds(1), "http://h/all.mp4", "x", range: ByteRange(offset: 5, length: .max)),
            CapturedExchange(
                at: .seconds(2), url: "http://h/1.ts",
                ending: .answer(
                    CapturedAnswer(
                        status: 404, finalURL: "http://cdn/1.ts",
                        headers: [.init(name: "A", value: "b"), .init(name: "C", value: "")],
                        body: .file("body/000001.ts"), endsAtClose: true))),
        ] + FetchError.Reason.allCases.map { CapturedExchange(at: .seconds(3), url: "http://h", ending: .failure($0)) })
    #expect(try JSONDecoder().decode(CaptureIndex.self, from: JSONEncoder().encode(all)) == all)
    #expect(all.duration == .seconds(3))
}

private let malformedRows: [(when: String, exchange: String, place: String)] = [
    ("no time", #"{"url": "u", "status": 200}"#, "exchanges.0"),
    ("no address", #"{"at": 0, "status": 200}"#, "exchanges.0"),
    ("neither status nor error", #"{"at": 0, "url": "u"}"#, "exchanges.0"),
    ("an error nobody knows", #"{"at": 0, "url": "u", "error": "bored"}"#, "exchanges.0.error"),
    ("a range of one number", #"{"at": 0, "url": "u", "status": 200, "range": [1]}"#, "exchanges.0.range"),
    ("a range of three", #"{"at": 0, "url": "u", "status": 200, "range": [1, 2, 3]}"#, "exchanges.0.range"),
    ("a time before the start", #"{"at": -1, "url": "u", "status": 200}"#, "exchanges.0.at"),
    ("two bodies", #"{"at": 0, "url": "u", "status": 200, "body": "b", "text": "t"}"#, "exchanges.0.body"),
]

@Test(arguments: malformedRows)
func aMalformedIndexSaysWhere(when: String, exchange: String, place: String) async throws {
    try await withDirectory { directory in
        let text = #"{"upstream": "u", "exchanges": [\#(exchange)]}"#
        try Data(text.utf8).write(to: directory.appending(path: "index.json"))
        let read = Result { () throws(CaptureError) in try CaptureDirectory(directory) }
        guard case .failure(let error) = read else {
            Issue.record("\(when)")
            return
        }
        #expect(error.reason == .malformedIndex)
        #expect(error.message.hasPrefix(place + ": "), "\(when): \(error.message)")
    }
}

@Test func aDirectoryWithoutIndexIsUnreadable() async throws {
    try await withDirectory { directory in
        let read = Result { () throws(CaptureError) in try CaptureDirectory(directory) }
        guard case .failure(let error) = read else {
            Issue.record("read")
            return
        }
        #expect(error.reason == .unreadable)
    }
}

@Test(arguments: ["/etc/hostname", "../secret", "body/../../secret"])
func bodiesLieInsideTheCapture(path: String) {
    #expect(throws: CaptureError(.foreignPath, path: path)) { try capture([]).bytes(of: .file(path)) }
}

private let reloaded = [
    exchange(.seconds(8), playlist, "third"), exchange(.seconds(2), playlist, "first"),
    exchange(.seconds(4), playlist, "second", took: .milliseconds(250)),
    exchange(.seconds(4), "http://h/1.ts", "media"), exchange(.seconds(4), "http://h/1.ts", "media again"),
]

private let replayRows: [(when: String, url: String, seconds: Double, text: String?)] = [
    ("before the recording first asked", playlist, 0, "first"), ("at the moment itself", playlist, 4, "second"),
    ("between two answers", playlist, 7.999, "second"), ("long after the end", playlist, 1e6, "third"),
    ("two answers of one moment: the later one", "http://h/1.ts", 5, "media again"),
    ("another query", playlist + "?a", 5, nil), ("nowhere", "http://h/2.ts", 5, nil),
]

@Test(arguments: replayRows)
func replayAnswersWhatWasSaidLast(when: String, url: String, seconds: Double, text: String?) {
    var replay = ReplayResponder(capture(reloaded))
    let found = replay.answer(FetchRequest(.mediaPlaylist, url: url), at: .seconds(seconds))
    switch found?.outcome {
    case .success(let answer):
        #expect(String(decoding: answer.body, as: UTF8.self) == text, "\(when)")
        #expect(answer.finalURL == url)
        #expect(found?.latency == (text == "second" ? .milliseconds(250) : .zero))
    case .failure(let error):
        #expect(error == FetchError(.notInCapture, url: url))
        #expect(text == nil, "\(when)")
    case nil: Issue.record("\(when): no answer")
    }
}

/// When a playlist is asked for, and which answer comes when, in milliseconds.
private let rhythmRows: [(when: String, asked: [Int], texts: [String], arrivals: [Int])] = [
    ("as recorded", [2000, 4000, 8000], ["first", "second", "third"], [2000, 4250, 8000]),
    ("each a little early: when it came", [1990, 3900, 7801], ["first", "second", "third"], [1990, 4250, 8000]),
    ("too early for the next", [2000, 3700, 4000], ["first", "first", "second"], [2000, 3700, 4250]),
    ("less often: one is passed over", [2000, 9000], ["first", "third"], [2000, 9000]),
    (
        "more often: each stays until the next", [2000, 3000, 4000, 6000], ["first", "first", "second", "second"],
        [2000, 3000, 4250, 6250]
    ),
]

@Test(arguments: rhythmRows)
func aReplayThatAsksInTheSameRhythmIsAnsweredInIt(when: String, asked: [Int], texts: [String], arrivals: [Int]) {
    var replay = ReplayResponder(capture(reloaded))
    let answers = asked.map { replay.answer(FetchRequest(.mediaPlaylist, url: playlist), at: .milliseconds($0)) }
    #expect(answers.map { $0?.outcome.text } == texts, "\(when)")
    #expect(
        zip(asked, answers).map { .milliseconds($0) + ($1?.latency ?? .zero) } == arrivals.map { .milliseconds($0) })
}

@Test func theFaultsOfASegmentFollowOnEachOtherHoweverLateItIsAskedFor() {
    let url = "http://h/1.ts"
    var replay = ReplayResponder(
        capture([
            exchange(.seconds(2), url, "", status: 404),
            CapturedExchange(at: .seconds(3), url: url, ending: .failure(.reset)),
            exchange(.seconds(4), url, "media"),
        ]))
    let request = FetchRequest(.segment, url: url)
    let outcomes = (0..<4).map { replay.answer(request, at: .seconds(10 + $0))?.outcome }
    #expect(outcomes.map { try? $0?.get().status } == [404, nil, 200, 200])
    #expect(outcomes[1] == .failure(FetchError(.reset, url: url, message: "as recorded")))
}

@Test func whatWasGivenUpIsNeverAnswered() {
    let exchange = CapturedExchange(at: .zero, took: .seconds(9), url: playlist, ending: .failure(.canceled))
    var replay = ReplayResponder(capture([exchange]))
    #expect(replay.answer(FetchRequest(.mediaPlaylist, url: playlist), at: .zero) == nil)
}

@Test func replayKeepsByteRangesApart() {
    let url = "http://h/all.mp4"
    let first = ByteRange(offset: 0, length: 1)
    let second = ByteRange(offset: 1, length: 1)
    let whole = exchange(.seconds(1), "http://h/whole.mp4", "whole")
    var replay = ReplayResponder(
        capture([exchange(.zero, url, "a", range: first), exchange(.zero, url, "b", range: second), whole]))
    func body(_ url: String, _ range: ByteRange?) -> String? {
        replay.answer(FetchRequest(.segment, url: url, byteRange: range), at: .seconds(1))?.outcome.text
    }
    #expect(body(url, first) == "a")
    #expect(body(url, second) == "b")
    #expect(body(url, nil) == nil)
    #expect(body(whole.url, first) == "whole", "as from an origin without ranges")
}

@Test func replayFailsAsRecorded() {
    let failed = CapturedExchange(at: .zero, url: playlist, ending: .failure(.timedOut))
    var replay = ReplayResponder(capture([failed]))
    let expected = FetchError(.timedOut, url: playlist, message: "as recorded")
    #expect(replay.answer(FetchRequest(.mediaPlaylist, url: playlist), at: .zero)?.outcome == .failure(expected))
}

extension FetchOutcome {
    fileprivate var text: String? { (try? get()).map { String(decoding: $0.body, as: UTF8.self) } }
}

/// Answers from a table, and counts time by a second a request.
private final class TableFetcher: Fetcher {
    private let table: [String: FetchOutcome]
    private let asked = Mutex(0)

    init(_ table: [String: FetchOutcome]) { self.table = table }

    var now: Duration { .seconds(asked.withLock { $0 }) }

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        asked.withLock { $0 += 1 }
        return table[request.url] ?? .failure(FetchError(.canceled, url: request.url))
    }
}

private func answer(_ body: String, from url: String, _ headers: [(String, String)] = []) -> FetchOutcome {
    .success(
        FetchAnswer(
            status: 200, finalURL: url, headers: headers.map { .init(name: $0.0, value: $0.1) }, body: Array(body.utf8))
    )
}

private let recorded: [String: FetchOutcome] = [
    "http://h/main.m3u8?token=1": answer("#EXTM3U", from: "http://cdn/main.m3u8", [("Content-Type", "x"), ("X", "1")]),
    "http://h/1.ts": answer(String(repeating: "G", count: 188), from: "http://h/1.ts"),
    "http://h/again.ts": answer(String(repeating: "G", count: 188), from: "http://h/again.ts"),
    "http://h/empty": answer("", from: "http://h/empty"),
    "http://h/down": .failure(FetchError(.refused, url: "http://h/down", code: 7, message: "refused")),
]

@Test func aRecordingReplaysWhatWasAnswered() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let writer = try CaptureWriter(
            directory, upstream: playlist, about: "a \"test\"", variant: .height(720), backups: ["http://b"])
        let recorder = CaptureRecorder(table, to: writer) { table.now }
        let urls = recorded.keys.sorted() + ["http://h/given-up"] + recorded.keys.sorted()
        for url in urls { _ = await recorder.fetch(FetchRequest(.segment, url: url)) }
        #expect(await recorder.failure == nil)
        let read = try CaptureDirectory(directory)
        #expect(read.index.about == "a \"test\"")
        #expect(read.index.variant == .height(720) && read.index.backups == ["http://b"])
        #expect(read.index.exchanges.map(\.url) == urls)
        #expect(read.index.exchanges.map(\.at).first == .zero)
        #expect(read.index.exchanges.allSatisfy { $0.took == .seconds(1) })
        #expect(await recorder.totals == CaptureWriter.Totals(exchanges: urls.count, bytes: 2 * (7 + 188 + 188)))
        var replay = ReplayResponder(read)
        for (url, outcome) in recorded {
            #expect(replay.answer(FetchRequest(.segment, url: url), at: .zero)?.outcome == outcome.asRecorded)
        }
        let bodies = try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "body").path)
        #expect(bodies.sorted() == ["000001.ts", "000002.m3u8"], "equal bodies once, empty ones never")
    }
}

extension FetchOutcome {
    fileprivate var asRecorded: FetchOutcome {
        mapError { FetchError($0.reason, url: $0.url, message: "as recorded") }
    }
}

@Test func aRecordingCanBeReadAfterEachExchange() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CaptureRecorder(table, to: try CaptureWriter(directory, upstream: playlist)) { table.now }
        #expect(try CaptureDirectory(directory).index.exchanges.isEmpty)
        for count in 1...3 {
            _ = await recorder.fetch(FetchRequest(.segment, url: "http://h/1.ts"))
            #expect(try CaptureDirectory(directory).index.exchanges.count == count)
        }
    }
}

@Test func aRecordingHoldsNoSecretAndNoSpentHeader() async throws {
    try await withDirectory { directory in
        let headers = [("Set-Cookie", "a=b"), ("Content-Encoding", "gzip"), ("Content-Length", "3"), ("ETag", "e")]
        let table = TableFetcher([playlist: answer("x", from: playlist, headers)])
        let recorder = CaptureRecorder(table, to: try CaptureWriter(directory, upstream: playlist)) { .zero }
        _ = await recorder.fetch(FetchRequest(.mediaPlaylist, url: playlist))
        var replay = ReplayResponder(try CaptureDirectory(directory))
        let kept = try replay.answer(FetchRequest(.mediaPlaylist, url: playlist), at: .zero)?.outcome.get().headers
        #expect(kept == [.init(name: "ETag", value: "e")])
    }
}

private let occupiedRows: [(holds: String, reason: CaptureError.Reason)] = [
    ("index.json", .alreadyRecorded), ("holiday.jpeg", .notEmpty), ("body", .notEmpty),
]

@Test(arguments: occupiedRows)
func aRecordingMixesWithNothingElse(holds: String, reason: CaptureError.Reason) async throws {
    try await withDirectory { directory in
        try Data().write(to: directory.appending(path: holds))
        let made = Result { () throws(CaptureError) in try CaptureWriter(directory, upstream: playlist) }
        guard case .failure(let error) = made else {
            Issue.record("written beside \(holds)")
            return
        }
        #expect(error.reason == reason)
    }
}

/// The process is killed in the middle of any write.
@Test func aRecordingCutOffAtAnyByteIsReadUpToTheLastWholeExchange() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CaptureRecorder(table, to: try CaptureWriter(directory, upstream: playlist)) { table.now }
        let path = directory.appending(path: "index.json")
        _ = await recorder.fetch(FetchRequest(.segment, url: "http://h/1.ts"))
        let before = try Data(contentsOf: path)
        _ = await recorder.fetch(FetchRequest(.mediaPlaylist, url: "http://h/main.m3u8?token=1"))
        let after = try Data(contentsOf: path)
        for written in stride(from: before.count - 4, through: after.count, by: 3) {
            try (after.prefix(written) + before.dropFirst(written)).write(to: path)
            let read = try CaptureDirectory(directory)
            #expect(read.index.upstream == playlist && read.index.exchanges.count <= 2, "\(written) bytes")
            // Where the next line stands over the closing of the last one, the last one's own line is not whole either.
            let isInsideALine = written >= before.count && written < after.count - 4
            #expect(!isInsideALine || read.isTruncated && read.index.exchanges.count == 1, "\(written) bytes")
        }
        try after.write(to: path)
        #expect(try CaptureDirectory(directory).index.exchanges.count == 2)
    }
}

@Test func aRecordingThatCannotBeWrittenDoesNotStopTheChannel() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CaptureRecorder(table, to: try CaptureWriter(directory, upstream: playlist)) { .zero }
        try FileManager.default.removeItem(at: directory.appending(path: "body"))
        let request = FetchRequest(.segment, url: "http://h/1.ts")
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
        #expect(await recorder.failure?.reason == .unwritable)
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
    }
}
