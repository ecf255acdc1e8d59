import Foundation
import Playlist
import Testing
import Tracker

@testable import Capture
@testable import Fetch
@testable import Support

private let timeRows: [(json: String, microseconds: Int64?)] = [
    ("0", 0), ("0.0", 0), ("4", 4_000_000), ("\"4\"", 4_000_000), ("0.1", 100_000), ("\"0.000001\"", 1),
    ("123456.000001", 123_456_000_001), ("86400.123456", 86_400_123_456), ("0.30000000000000004", 300_000),
    ("1e1", 10_000_000), ("\"007.50\"", 7_500_000), ("2.0000005", 2_000_001),
    ("-1", nil), ("\"-1\"", nil), ("\"1s\"", nil), ("\"\"", nil), ("\"1.\"", nil), ("\"1.2.3\"", nil), ("1e30", nil),
    ("null", nil), ("true", nil),
]

@Test(arguments: timeRows)
func timeIsExactToTheMicrosecond(json: String, microseconds: Int64?) {
    let time = try? JSONDecoder().decode([CaptureTime].self, from: Data("[\(json)]".utf8))
    #expect(time?.first?.duration == microseconds.map { .microseconds($0) }, "\(json)")
}

@Test func encodedTimeDecodesToTheSameValue() throws {
    for microseconds: Int64 in [0, 1, 10, 999_999, 1_000_000, 1_000_001, 123_456_789_012, 999_999_999_999_999] {
        let time = CaptureTime(duration: .microseconds(microseconds))
        let json = try JSONEncoder().encode([time])
        #expect(try JSONDecoder().decode([CaptureTime].self, from: json) == [time])
        #expect(!json.contains(UInt8(ascii: "e")), "plain decimals for other programs")
    }
}

@Test func encodedIndexDecodesToTheSameValue() throws {
    let all = CaptureIndex(
        upstream: playlistURL, about: "a \"quoted\" channel", backups: ["http://a", "http://b"],
        polling: .edge,
        ladder: .heights([720, 480]), followsLadderOnDemand: true,
        demands: [.init(at: .milliseconds(1500), track: "480.1000000")],
        exchanges: [
            makeExchange(.microseconds(1), playlistURL, "#EXTM3U\n", took: .milliseconds(31)),
            makeExchange(.seconds(1), "http://h/all.mp4", "x", range: ByteRange(offset: 5, length: .max)),
            CapturedExchange(
                at: .seconds(2), url: "http://h/1.ts",
                ending: .answer(
                    CapturedAnswer(
                        status: 404, finalURL: "http://cdn/1.ts",
                        headers: [.init(name: "A", value: "b"), .init(name: "C", value: "")],
                        body: .file("body/000001.ts"), endsAtClose: true))),
        ] + FetchError.Reason.allCases.map { CapturedExchange(at: .seconds(3), url: "http://h", ending: .failure($0)) })
    let encoded =
        try all.demands.map { try CaptureIndex.encoder.encode($0) }
        + all.exchanges.map { try CaptureIndex.encoder.encode($0) }
    let lines = encoded.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",\n")
    let json = try all.opening + Data(lines.utf8) + CaptureWriter.closing
    #expect(try JSONDecoder().decode(CaptureIndex.self, from: json) == all)
    #expect(all.duration == .seconds(3))
}

private let malformedRows: [(when: String, exchange: String, codingPath: String)] = [
    ("no time", #"{"url": "u", "status": 200}"#, "exchanges.0"),
    ("no URL", #"{"at": 0, "status": 200}"#, "exchanges.0"),
    ("neither status nor error", #"{"at": 0, "url": "u"}"#, "exchanges.0"),
    ("an unknown error", #"{"at": 0, "url": "u", "error": "bored"}"#, "exchanges.0.error"),
    ("a range of one number", #"{"at": 0, "url": "u", "status": 200, "range": [1]}"#, "exchanges.0.range"),
    ("a range of three", #"{"at": 0, "url": "u", "status": 200, "range": [1, 2, 3]}"#, "exchanges.0.range"),
    ("a time before the start", #"{"at": -1, "url": "u", "status": 200}"#, "exchanges.0.at"),
    ("two bodies", #"{"at": 0, "url": "u", "status": 200, "body": "b", "text": "t"}"#, "exchanges.0.body"),
]

@Test(arguments: malformedRows)
func malformedIndexIsReportedWithItsPlace(when: String, exchange: String, codingPath: String) async throws {
    try await withDirectory { directory in
        let text = #"{"upstream": "u", "exchanges": [\#(exchange)]}"#
        try Data(text.utf8).write(to: directory.appending(path: "index.json"))
        let read = Result { () throws(CaptureError) in try CaptureDirectory(directory) }
        guard case .failure(let error) = read else {
            Issue.record("\(when)")
            return
        }
        #expect(error.reason == .malformedIndex)
        #expect(error.message.hasPrefix(codingPath + ": "), "\(when): \(error.message)")
    }
}

@Test func reloadsOfACaptureWithoutPollingAreTheStandards() throws {
    let decode: (String) throws -> PollingMode = {
        try JSONDecoder().decode(CaptureIndex.self, from: Data($0.utf8)).polling
    }
    #expect(try decode(#"{"upstream": "u", "exchanges": []}"#) == .standard)
    #expect(try decode(#"{"upstream": "u", "polling": "edge", "exchanges": []}"#) == .edge)
    #expect(throws: DecodingError.self) { _ = try decode(#"{"upstream": "u", "polling": "often", "exchanges": []}"#) }
}

@Test func directoryWithoutIndexIsUnreadable() async throws {
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
func bodyOutsideTheCaptureIsRefused(path: String) {
    #expect(throws: CaptureError(.foreignPath, path: path)) { try makeCapture([]).bytes(of: .file(path)) }
}
