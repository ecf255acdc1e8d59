import Foundation
import Playlist
import Synchronization
import Testing

@testable import Tracker

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
        upstream: playlist, about: "a \"quoted\" channel",
        exchanges: [
            exchange(.microseconds(1), playlist, "#EXTM3U\n", took: .milliseconds(31)),
            exchange(.seconds(1), "http://h/all.mp4", "x", range: ByteRange(offset: 5, length: .max)),
            CapturedExchange(
                at: .seconds(2), url: "http://h/1.ts",
                ending: .answer(
                    CapturedAnswer(
                        status: 404, finalURL: "http://cdn/1.ts",
                        headers: [.init(name: "A", value: "b"), .init(name: "C", value: "")],
                        body: .file("body/000001.ts")))),
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
    let replay = ReplayUpstream(capture(reloaded)) { .zero }
    let (outcome, latency) = replay.answer(FetchRequest(.mediaPlaylist, url: url), at: .seconds(seconds))
    switch outcome {
    case .success(let answer):
        #expect(String(decoding: answer.body, as: UTF8.self) == text, "\(when)")
        #expect(answer.finalURL == url)
        #expect(latency == (text == "second" ? .milliseconds(250) : .zero))
    case .failure(let error):
        #expect(error == FetchError(.notInCapture, url: url))
        #expect(text == nil, "\(when)")
    }
}

@Test func replayKeepsByteRangesApart() async {
    let url = "http://h/all.mp4"
    let first = ByteRange(offset: 0, length: 1)
    let second = ByteRange(offset: 1, length: 1)
    let whole = exchange(.seconds(1), "http://h/whole.mp4", "whole")
    let replay = ReplayUpstream(
        capture([exchange(.zero, url, "a", range: first), exchange(.zero, url, "b", range: second), whole])
    ) { .seconds(1) }
    func body(_ url: String, _ range: ByteRange?) async -> [UInt8]? {
        try? await replay.fetch(FetchRequest(.segment, url: url, byteRange: range)).get().body
    }
    #expect(await body(url, first) == Array("a".utf8))
    #expect(await body(url, second) == Array("b".utf8))
    #expect(await body(url, nil) == nil)
    #expect(await body(whole.url, first) == Array("whole".utf8), "as from an origin without ranges")
}

@Test func replayFailsAsRecorded() async {
    let failed = CapturedExchange(at: .zero, url: playlist, ending: .failure(.timedOut))
    let replay = ReplayUpstream(capture([failed])) { .zero }
    let expected = FetchError(.timedOut, url: playlist, message: "as recorded")
    #expect(await replay.fetch(FetchRequest(.mediaPlaylist, url: playlist)) == .failure(expected))
}

/// Answers from a table, and counts time by a second a request.
private final class TableUpstream: Upstream {
    private let table: [String: FetchOutcome]
    private let asked = Mutex(0)

    init(_ table: [String: FetchOutcome]) { self.table = table }

    var now: Duration { .seconds(asked.withLock { $0 }) }

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        asked.withLock { $0 += 1 }
        return table[request.url] ?? .failure(FetchError(.cancelled, url: request.url))
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
        let table = TableUpstream(recorded)
        let recorder = try CaptureRecorder(table, to: directory, address: playlist, about: "a \"test\"") { table.now }
        let urls = recorded.keys.sorted() + ["http://h/given-up"] + recorded.keys.sorted()
        for url in urls { _ = await recorder.fetch(FetchRequest(.segment, url: url)) }
        #expect(await recorder.failure == nil)
        let read = try CaptureDirectory(directory)
        #expect(read.index.about == "a \"test\"")
        #expect(read.index.exchanges.map(\.url) == urls.filter { $0 != "http://h/given-up" })
        #expect(read.index.exchanges.map(\.at).first == .zero)
        #expect(read.index.exchanges.allSatisfy { $0.took == .seconds(1) })
        let replay = ReplayUpstream(read) { .seconds(100) }
        for (url, outcome) in recorded {
            #expect(await replay.fetch(FetchRequest(.segment, url: url)).map(\.body) == outcome.asRecorded.map(\.body))
            #expect(await replay.fetch(FetchRequest(.segment, url: url)) == outcome.asRecorded)
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
        let table = TableUpstream(recorded)
        let recorder = try CaptureRecorder(table, to: directory, address: playlist) { table.now }
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
        let table = TableUpstream([playlist: answer("x", from: playlist, headers)])
        let recorder = try CaptureRecorder(table, to: directory, address: playlist) { .zero }
        _ = await recorder.fetch(FetchRequest(.mediaPlaylist, url: playlist))
        let replay = ReplayUpstream(try CaptureDirectory(directory)) { .zero }
        let kept = try await replay.fetch(FetchRequest(.mediaPlaylist, url: playlist)).get().headers
        #expect(kept == [.init(name: "ETag", value: "e")])
    }
}

@Test func aRecordingReplacesNoOther() async throws {
    try await withDirectory { directory in
        let table = TableUpstream([:])
        _ = try CaptureRecorder(table, to: directory, address: playlist) { .zero }
        let second = Result { () throws(CaptureError) in
            try CaptureRecorder(table, to: directory, address: playlist) { .zero }
        }
        guard case .failure(let error) = second else {
            Issue.record("recorded twice")
            return
        }
        #expect(error.reason == .alreadyRecorded)
    }
}

@Test func aRecordingThatCannotBeWrittenDoesNotStopTheChannel() async throws {
    try await withDirectory { directory in
        let table = TableUpstream(recorded)
        let recorder = try CaptureRecorder(table, to: directory, address: playlist) { .zero }
        try FileManager.default.removeItem(at: directory.appending(path: "body"))
        let request = FetchRequest(.segment, url: "http://h/1.ts")
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
        #expect(await recorder.failure?.reason == .unwritable)
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
    }
}
