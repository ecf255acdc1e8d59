import Capture
import Foundation
import Playlist
import TestSupport
import Testing
import Tracker

@testable import liverelay

private let host = "http://h/"

private func exchange(_ at: Duration, _ name: String, _ text: String, status: Int = 200) -> CapturedExchange {
    CapturedExchange(
        at: at, took: .milliseconds(20), url: host + name,
        ending: .answer(
            CapturedAnswer(
                status: status,
                headers: [.init(name: "Content-Type", value: "text/x"), .init(name: "Retry-After", value: "3")],
                body: .text(text))))
}

private func failure(_ name: String, _ reason: FetchError.Reason) -> CapturedExchange {
    CapturedExchange(at: .zero, took: .milliseconds(20), url: host + name, ending: .failure(reason))
}

private let capture = CaptureDirectory(
    URL(filePath: "/nowhere"),
    index: CaptureIndex(
        upstream: host + "main.m3u8?token", about: "",
        exchanges: [
            exchange(.zero, "main.m3u8?token", "#EXTM3U\n#EXT-X-MAP:URI=\"//cdn/i.mp4?x\"\n#EXTINF:1,\na.ts?x\nb.ts\n"),
            exchange(.seconds(5), "main.m3u8?token", "#EXTM3U\n"), exchange(.zero, "a.ts?x", "media"),
            exchange(.zero, "busy.ts", "", status: 503), exchange(.seconds(1), "busy.ts", "at last"),
            failure("short.ts", .shortBody), failure("reset.ts", .reset), failure("circle.ts", .tooManyRedirects),
            failure("unresolved.ts", .unresolvedHost), failure("gone.ts", .notInCapture),
            CapturedExchange(
                at: .zero, url: host + "there.ts",
                ending: .answer(CapturedAnswer(status: 200, finalURL: "http://cdn/here.ts", body: .text("here")))),
        ]))

private func body(_ response: Response) -> String? {
    if case .bytes(let bytes, _) = response.body { String(decoding: bytes, as: UTF8.self) } else { nil }
}

@Test func aRecordedPlaylistNamesThePathsOfItsOrigin() throws {
    let origin = try RecordedOrigin(capture)
    func text(_ seconds: Int) throws -> String? {
        body(origin.response(to: try RequestTarget(method: .get, uri: origin.entryPath), at: .seconds(seconds)))
    }
    #expect(origin.entryPath == "/1/main.m3u8")
    let first = "#EXTM3U\n#EXT-X-MAP:URI=\"/0/i.mp4\"\n#EXTINF:1,\n/2/a.ts\n/0/b.ts\n"
    #expect(try [0, 4, 5, 60].map(text) == [first, first, "#EXTM3U\n", "#EXTM3U\n"])
    #expect(origin.response(to: try RequestTarget(method: .get, uri: "/0/b.ts"), at: .zero).status == .notFound)
}

/// What libcurl makes of each recorded ending, one request after the other.
private let endings: [(name: String, sees: [String])] = [
    ("a.ts?x", ["200 media", "200 media"]), ("busy.ts", ["503 ", "200 at last"]), ("short.ts", ["shortBody"]),
    ("reset.ts", ["reset"]), ("unresolved.ts", ["reset"]), ("circle.ts", ["tooManyRedirects"]),
    ("gone.ts", ["404 There is nothing at /8/gone.ts.\n"]),
    ("there.ts", ["200 here"]),
]

@Test func curlSeesTheFaultsThatWereRecorded() async throws {
    let origin = try RecordedOrigin(capture)
    let server = try await HTTPServer.start(on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1) {
        origin.response(to: $0, at: .zero)
    }
    let base = "http://127.0.0.1:\(server.port)"
    let client = try CurlFetcher(upstream: base)
    for row in endings {
        let path = origin.path(of: host + row.name)
        for sees in row.sees {
            switch await client.fetch(FetchRequest(.segment, url: base + path)) {
            case .failure(let error): #expect(error.reason.rawValue == sees, "\(row.name)")
            case .success(let answer):
                #expect("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))" == sees, "\(row.name)")
                if answer.status == 503 { #expect(answer.header("Retry-After") == "3") }
            }
        }
    }
    await server.shutdown(within: .seconds(1))
}

@Test func aPacedBodyComesWholeInEqualParts() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    for (time, parts) in [(Duration.zero, 1), (.milliseconds(99), 1), (.seconds(1), 10), (.seconds(1000), 990)] {
        var body = PacedBody(bytes, 10..<1000, over: time, breaksOffAfter: nil)
        var got: [[UInt8]] = []
        while let part = body.next() { got.append(Array(part)) }
        #expect(got.count == parts && got.flatMap { $0 } == Array(bytes[10...]), "\(time)")
    }
    var broken = PacedBody(bytes, 0..<1000, over: .zero, breaksOffAfter: 300)
    #expect(broken.next()?.count == 300 && broken.next() == nil && broken.breaksOff)
}

/// Two lists a second apart, the second with a discontinuity and the end.
private let looping = [
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

/// Seconds on the air, the first number listed, EXT-X-DISCONTINUITY-SEQUENCE, and where each address was recorded.
private let roundRows: [(seconds: Int, first: UInt64, discontinuities: UInt64, listed: [String])] = [
    (0, 7, 0, ["7", "8"]), (2, 8, 0, ["8", "d9"]), (3, 8, 0, ["8", "d9"]),
    (4, 8, 0, ["8", "d9", "d7"]), (6, 8, 0, ["8", "d9", "d7", "8"]), (8, 11, 2, ["8", "d9"]),
    (10, 11, 2, ["8", "d9", "d7"]), (12, 11, 2, ["8", "d9", "d7", "8"]),
    (6 * 1000, 3005, 1998, ["8", "d9", "d7", "8"]),
]

@Test(arguments: roundRows)
func aLoopedCaptureIsAChannelWithoutAnEnd(
    _ seconds: Int, _ first: UInt64, _ discontinuities: UInt64, _ listed: [String]
) throws {
    let lists = looping.enumerated().map { exchange(.seconds(2 * $0), "main.m3u8", $1) }
    let segments = (7...9).map { exchange(.zero, "\($0).ts", "media") }
    let index = CaptureIndex(
        upstream: host + "main.m3u8", about: "", exchanges: lists.map(\.atOnce) + segments.map(\.atOnce))
    let origin = try RecordedOrigin(CaptureDirectory(URL(filePath: "/nowhere"), index: index), loops: true)
    let response = origin.response(to: try RequestTarget(method: .get, uri: origin.entryPath), at: .seconds(seconds))
    let list = try MediaPlaylistParser.parse(Array(try #require(body(response)).utf8))
    let names = list.segments.map { segment in
        (segment.isDiscontinuous ? "d" : "") + (segment.uri.split(separator: "/").last?.prefix { $0 != "." } ?? "")
    }
    #expect(names == listed && !list.hasEndList)
    #expect(list.mediaSequence == first && (list.discontinuitySequence ?? 0) == discontinuities)
}

extension CapturedExchange {
    fileprivate var atOnce: CapturedExchange { CapturedExchange(at: at, url: url, ending: ending) }
}
