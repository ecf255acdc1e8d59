import Fetch
import HTTP
import Synchronization
import Testing

@testable import Service

@Suite("Answers of other nodes") struct PassedAnswerTests {
    private static func answer(_ status: Int, _ headers: [(String, String)], _ body: String = "") -> FetchOutcome {
        .success(
            FetchAnswer(
                status: status, finalURL: "http://b/news/live.m3u8",
                headers: headers.map { .init(name: $0.0, value: $0.1) }, body: Array(body.utf8)))
    }

    @Test("A playlist keeps its type and how long it may be stored") func playlist() {
        let response = Response(
            passing: Self.answer(
                200,
                [
                    ("Content-Type", "application/vnd.apple.mpegurl"), ("ETag", "\"a1\""),
                    ("Cache-Control", "max-age=2, stale-while-revalidate=1, stale-if-error=30"),
                    ("Server", "x"),
                ], "#EXTM3U\n"))
        #expect(response.status == .ok && response.contentType == .playlist && response.isPassed)
        #expect(response.cacheControl == .renewed(seconds: 2, stale: 1, ifError: 30))
        #expect(response.extraHeaders.isEmpty)
    }

    @Test("A refusal keeps its reason") func refusal() {
        let response = Response(
            passing: Self.answer(503, [("Retry-After", "5"), ("X-Liverelay-Reason", "full")], "full"))
        #expect(response.status == .serviceUnavailable && response.cacheControl == .noStore)
        let reason = HeaderField(name: "X-Liverelay-Reason", value: "full")
        #expect(response.extraHeaders == [.retryAfter(seconds: 5), reason])
    }

    @Test("A node that does not answer runs the channel no more; one that does not accept the key is unavailable")
    func failures() {
        let error = FetchError(.timedOut, url: "http://b/news/live.m3u8")
        #expect(Response(passing: .failure(error)).status == .misdirectedRequest)
        #expect(Response(passing: Self.answer(403, [])).status == .serviceUnavailable)
    }

    static let cacheRows: [(String?, CacheControl)] = [
        ("max-age=31536000, immutable", .immutable), ("no-store", .noStore), (nil, .noStore),
        ("private, max-age=7", .maxAge(seconds: 7)), ("max-age=x", .noStore),
    ]

    @Test("The Cache-Control field of a node", arguments: cacheRows)
    func cacheControl(field: String?, value: CacheControl) { #expect(CacheControl(fieldValue: field) == value) }

    @Test("A stream is passed part by part, and ends") func stream() async throws {
        let response = await PassedStream.response { receive in
            for part in ["ab", "cd"] { await receive(StreamPart(finalURL: "", bytes: Array(part.utf8))) }
            return Self.answer(200, [])
        }
        #expect(response.contentType == .transportStream && response.isPassed)
        guard case .stream(let stream) = response.body else {
            Issue.record("no stream")
            return
        }
        var parts: [String] = []
        while let part = await stream.next() { parts.append(String(decoding: part, as: UTF8.self)) }
        #expect(parts == ["ab", "cd"])
    }

    @Test("An answer in place of a stream is passed") func refusedStream() async {
        let response = await PassedStream.response { _ in Self.answer(503, [("Retry-After", "1")]) }
        #expect(response.status == .serviceUnavailable && response.body == .empty)
    }

    @Test("A stream ends for the other node when the viewer leaves") func abandonedStream() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        do {
            let response = await PassedStream.response { receive in
                while !Task.isCancelled { await receive(StreamPart(finalURL: "", bytes: [1])) }
                end.finish()
                return Self.answer(200, [])
            }
            #expect(response.contentType == .transportStream)
        }
        for await _ in ends {}
    }
}
