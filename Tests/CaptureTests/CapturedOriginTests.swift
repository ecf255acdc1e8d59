import Foundation
import Playlist
import Support
import Testing

@testable import Capture
@testable import Fetch

private let host = "http://h/"

private func exchange(_ at: Duration, _ name: String, _ text: String) -> CapturedExchange {
    CapturedExchange(
        at: at, url: host + name, ending: .answer(CapturedAnswer(status: 200, body: .text(text))))
}

private func origin(_ entry: String, _ exchanges: [CapturedExchange], loops: Bool = false) throws -> CapturedOrigin {
    let index = CaptureIndex(upstream: host + entry, about: "", exchanges: exchanges)
    return try CapturedOrigin(CaptureDirectory(URL(filePath: "/nowhere"), index: index), loops: loops)
}

extension CapturedOrigin {
    fileprivate func text(of path: String, at seconds: Int) -> String {
        String(decoding: response(to: path, range: nil, at: .seconds(seconds)).body, as: UTF8.self)
    }
}

@Test func servedPlaylistNamesPathsOfTheOrigin() throws {
    let origin = try origin(
        "main.m3u8?token",
        [
            exchange(.zero, "main.m3u8?token", "#EXTM3U\n#EXT-X-MAP:URI=\"//cdn/i.mp4?x\"\n#EXTINF:1,\na.ts?x\nb.ts\n"),
            exchange(.seconds(5), "main.m3u8?token", "#EXTM3U\n"), exchange(.zero, "a.ts?x", "media"),
        ])
    #expect(origin.entryPath == "/1/main.m3u8")
    let first = "#EXTM3U\n#EXT-X-MAP:URI=\"/0/i.mp4\"\n#EXTINF:1,\n/2/a.ts\n/0/b.ts\n"
    #expect(
        [0, 4, 5, 60].map { origin.text(of: origin.entryPath, at: $0) } == [first, first, "#EXTM3U\n", "#EXTM3U\n"])
    #expect(origin.response(to: "/0/b.ts", range: nil, at: .zero).status == 404)
}

/// Templates name segments that only a reader of the manifest knows: what it resolves them to is served.
@Test(arguments: [
    ("absolute", "http://cdn:81/x/", "http://cdn:81/x/1.m4s"), ("relative", "x/", "http://h/live/x/1.m4s"),
    ("relative to the root", "/x/", "http://h/x/1.m4s"),
    ("absolute, with a query", "https://h/x/", "https://h/x/1.m4s?token"),
])
func segmentsOfAManifestAreServed(when: String, base: String, url: String) throws {
    let manifest =
        "<MPD xmlns=\"http://www.w3.org/x\"><UTCTiming value=\"http://time/now?x\"/><BaseURL>\(base)</BaseURL></MPD>"
    func answer(_ url: String, _ text: String) -> CapturedExchange {
        CapturedExchange(at: .zero, url: url, ending: .answer(CapturedAnswer(status: 200, body: .text(text))))
    }
    let exchanges = [
        answer(host + "live/a.mpd?t", manifest), answer(url, "media"), answer("http://time/now?x", "2026"),
    ]
    let origin = try origin("live/a.mpd?t", exchanges)
    #expect(origin.entryPath == "/http/h/live/a.mpd")
    let served = origin.text(of: origin.entryPath, at: 0)
    #expect(served.contains("value=\"/http/time/now?x\"") && served.contains("\"http://www.w3.org/x\""))
    let reference = try #require(served.split(separator: "BaseURL>").dropFirst().first).dropLast(2)
    let resolved = URIReference.resolve(reference + "1.m4s", against: "http://replay" + origin.entryPath)
    #expect(origin.text(of: String(resolved.dropFirst("http://replay".count)), at: 0) == "media", "\(when)")
    #expect(origin.response(to: "/http/h/2.m4s", range: nil, at: .zero).status == 404)
}

/// A manifest without a clock gets that of the recording, because its segments are of that time.
@Test func manifestHasTheClockOfTheRecording() throws {
    let date = FetchAnswer.Header(name: "Date", value: "Tue, 24 Nov 2026 12:00:07 GMT")
    let answer = CapturedAnswer(status: 200, headers: [date], body: .text("<MPD type=\"dynamic\"></MPD>"))
    let origin = try origin(
        "a.mpd", [CapturedExchange(at: .seconds(2), url: host + "a.mpd", ending: .answer(answer))])
    let times = [0, 2, 65].map { origin.text(of: origin.entryPath, at: $0) }
    for (text, time) in zip(times, ["12:00:07.000Z", "12:00:07.000Z", "12:01:10.000Z"]) {
        #expect(text.contains("utc:direct:2014\" value=\"2026-11-24T\(time)\"/></MPD>"), "\(text)")
    }
}

@Test func captureThatCannotBeServedIsRefused() throws {
    let stream = CapturedExchange(
        at: .zero, url: host + "live.ts", ending: .answer(CapturedAnswer(status: 200, body: .text(""))),
        stream: [CapturedStream(file: "body/1.ts", parts: [], continues: false)])
    let refused: [(reason: CaptureError.Reason, exchange: CapturedExchange, loops: Bool)] = [
        (.stream, stream, false), (.unloopable, exchange(.zero, "a.mpd", "<MPD/>"), true),
    ]
    for (reason, exchange, loops) in refused {
        let error = #expect(throws: CaptureError.self) { _ = try origin("a.mpd", [exchange], loops: loops) }
        #expect(error?.reason == reason)
    }
}

@Test func partOfAFileIsServedWithItsPlace() throws {
    let field = FetchAnswer.Header(name: "Content-Range", value: "bytes 4-7/100")
    let answer = CapturedAnswer(status: 206, headers: [field], body: .text("part"))
    let part = CapturedExchange(
        at: .zero, url: host + "a.mp4", byteRange: ByteRange(offset: 4, length: 4), ending: .answer(answer))
    let response = try origin("a.mp4", [part]).response(to: "/1/a.mp4", range: "bytes=4-7", at: .zero)
    #expect(response.status == 206 && response.headers == [field])
}

@Test(arguments: ["/-9223372036854775808/x", "/0/x", "/2/x", "/9223372036854775808/x", "/x/x", "/"])
func pathOfNoResourceIsNotFound(_ path: String) throws {
    let origin = try origin("main.m3u8", [exchange(.zero, "main.m3u8", "#EXTM3U\n")])
    #expect(origin.response(to: path, range: nil, at: .zero).status == 404)
}

@Test func recordedTransmissionFieldIsNotServed() throws {
    let field = FetchAnswer.Header(name: "x-LiveRelay-transmission", value: "reset 0")
    let answer = CapturedAnswer(status: 200, headers: [field], body: .text("#EXTM3U\n"))
    let origin = try origin(
        "main.m3u8", [CapturedExchange(at: .zero, url: host + "main.m3u8", ending: .answer(answer))])
    #expect(origin.response(to: origin.entryPath, range: nil, at: .zero).headers.isEmpty)
}

@Test func loopHasNoRecordedDates() throws {
    let dated = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:2,\n1.ts\n"
    let exchanges = [exchange(.zero, "main.m3u8", dated)]
    let (recorded, looped) = (try origin("main.m3u8", exchanges), try origin("main.m3u8", exchanges, loops: true))
    #expect(recorded.text(of: recorded.entryPath, at: 0).contains("PROGRAM-DATE-TIME"))
    #expect(!looped.text(of: looped.entryPath, at: 0).contains("PROGRAM-DATE-TIME"))
}

/// Two playlist states two seconds apart, the second with a discontinuity and the end.
private let states = [
    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:2,\n7.ts\n#EXTINF:2,\n8.ts\n",
    """
    #EXTM3U
    #EXT-X-TARGETDURATION:2
    #EXT-X-MEDIA-SEQUENCE:8
    #EXTINF:2,
    8.ts
    #EXT-X-DISCONTINUITY
    #EXTINF:2,
    9.ts
    #EXT-X-ENDLIST

    """,
]

/// EXT-X-MEDIA-SEQUENCE, EXT-X-DISCONTINUITY-SEQUENCE and the recorded segments; d: after a discontinuity.
private let loopRows: [(when: String, seconds: Int, first: UInt64, discontinuities: UInt64, listed: [String])] = [
    ("first state", 0, 7, 0, ["7", "8"]), ("second state", 2, 8, 0, ["8", "d9"]),
    ("nothing new yet", 3, 8, 0, ["8", "d9"]), ("first segment of the next iteration", 4, 8, 0, ["8", "d9", "d7"]),
    ("next iteration", 6, 8, 0, ["8", "d9", "d7", "8"]), ("its second state", 8, 11, 2, ["8", "d9"]),
    ("first segment of the third iteration", 10, 11, 2, ["8", "d9", "d7"]),
    ("third iteration", 12, 11, 2, ["8", "d9", "d7", "8"]),
    ("a thousand iterations later", 6 * 1000, 3005, 1998, ["8", "d9", "d7", "8"]),
]

@Test(arguments: loopRows)
func loopedCaptureIsAChannelWithoutEnd(
    when: String, seconds: Int, first: UInt64, discontinuities: UInt64, listed: [String]
) throws {
    let origin = try origin(
        "main.m3u8",
        states.enumerated().map { exchange(.seconds(2 * $0), "main.m3u8", $1) }
            + (7...9).map { exchange(.zero, "\($0).ts", "media") },
        loops: true)
    let playlist = try MediaPlaylistParser.parse(Array(origin.text(of: origin.entryPath, at: seconds).utf8))
    let names = playlist.segments.map { segment in
        (segment.isDiscontinuous ? "d" : "") + (segment.uri.split(separator: "/").last?.prefix { $0 != "." } ?? "")
    }
    #expect(names == listed && !playlist.hasEndList, "\(when)")
    #expect(playlist.mediaSequence == first, "\(when)")
    #expect((playlist.discontinuitySequence ?? 0) == discontinuities, "\(when)")
}

/// The demo's pace: a looped channel lists a new segment each time the last one has played, over many iterations.
@Test func liveEdgeOfALoopAdvancesAtThePaceOfTheMedia() throws {
    let window = { (range: Range<Int>) in
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + range.map { "#EXTINF:2,\n\($0).ts\n" }.joined()
    }
    let origin = try origin(
        "main.m3u8",
        (3...5).map { exchange(.seconds(2 * ($0 - 3)), "main.m3u8", window(0..<$0)) }
            + (0..<5).map { exchange(.zero, "\($0).ts", "media") },
        loops: true)
    let edges = try (0..<40).map { step in
        let playlist = try MediaPlaylistParser.parse(Array(origin.text(of: origin.entryPath, at: 2 * step).utf8))
        return playlist.segments.last?.mediaSequence
    }
    #expect(edges == (2..<42).map { UInt64($0) })
}

@Test func withoutFaultsKeepsSuccessfulAnswersOnly() {
    let refusal = CapturedExchange(
        at: .zero, url: host + "a.ts", ending: .answer(CapturedAnswer(status: 404, body: .text(""))))
    let partial = CapturedExchange(
        at: .zero, url: host + "a.ts", ending: .answer(CapturedAnswer(status: 206, body: .text("a"))))
    let reset = CapturedExchange(at: .zero, url: host + "a.ts", ending: .failure(.reset))
    let index = CaptureIndex(upstream: host, about: "", exchanges: [refusal, partial, reset])
    #expect(index.withoutFaults.exchanges == [partial])
}
