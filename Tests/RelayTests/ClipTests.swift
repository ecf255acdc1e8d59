import ChannelTestSupport
import LiveRing
import TestSupport
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer
@testable import liverelay

/// What is read of a range of the rewind beside its playlists and archives.
@Suite(.ownThreads) struct ClipTests {
    /// The seconds since 1970 of everything that a channel published.
    private static func times(of state: ChannelState) throws -> (start: Int64, end: Int64) {
        let dates = try #require(state.snapshot?.dates)
        return (dates.first.millisecondsSince1970 / 1000, dates.end.millisecondsSince1970 / 1000)
    }

    private static func server(_ state: ChannelState, channel: String? = nil) async throws -> HTTPServer {
        try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: ChannelResponder(state, channel: channel))
    }

    @Test(arguments: [nil, "news"]) func clipIsTheArchiveOfItsRange(_ name: String?) async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let (start, _) = try Self.times(of: state)
        // The segment after the end of a file has to be published.
        let last = try #require(state.snapshot?.index.listed.last)
        let end = last.programDateTime.millisecondsSince1970 / 1000
        let server = try await Self.server(state, channel: name)
        var client = try RawClient(port: server.port)
        let path = "/clip.ts?start=\(start)&end=\(end)"
        let disposition = "attachment; filename=\"\(name ?? "liverelay")-2026-01-01T120006Z.ts\""
        try client.send(request("HEAD", path))
        let head = try client.response(toHead: true)
        #expect(state.transportStreams.counts.segments == 0, "HEAD makes nothing")
        #expect(head.status == 200 && head["Content-Type"] == "video/mp2t" && head["Accept-Ranges"] == "bytes")
        #expect(head["Content-Disposition"] == disposition)
        try client.send(request("GET", "/archive-\(start)-\(end - start).ts"))
        let archive = try client.response()
        try client.send(request("GET", path))
        let clip = try client.response()
        #expect(clip.status == 200 && clip["Content-Disposition"] == disposition && clip["ETag"] == archive["ETag"])
        #expect(clip.body == archive.body && archive.body.count > 100 * 188)
        #expect(head["Content-Length"] == String(archive.body.count) && archive["Content-Disposition"] == nil)
        try client.send(request("GET", path, ["Range: bytes=1000-1999"]))
        let part = try client.response()
        #expect(part.status == 206 && part.body.elementsEqual(archive.body[1000..<2000]))
        #expect(part["Content-Disposition"] == disposition)
        await server.shutdown(within: .zero)
    }

    @Test func movieIsAFile() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let (start, end) = try Self.times(of: state)
        let server = try await Self.server(state, channel: "news")
        var client = try RawClient(port: server.port)
        let path = "/clip.mp4?start=\(start)&end=\(end)"
        try client.send(request("HEAD", path))
        let head = try client.response(toHead: true)
        #expect(head.status == 200 && head["Content-Type"] == "video/mp4" && head["Accept-Ranges"] == "bytes")
        #expect(head["Content-Disposition"] == "attachment; filename=\"news-2026-01-01T120006Z.mp4\"")
        try client.send(request("GET", path))
        let movie = try client.response()
        #expect(movie.status == 200 && movie["ETag"] == head["ETag"])
        #expect(head["Content-Length"] == String(movie.body.count) && movie.body.count > 100_000)
        let tag = try #require(head["ETag"])
        try client.send(request("GET", path, ["Range: bytes=90000-", "If-Range: \(tag)"]))
        let rest = try client.response()
        #expect(rest.status == 206 && rest.body.elementsEqual(movie.body[90_000...]))
        try client.send(request("GET", path, ["If-None-Match: \(tag)"]))
        #expect(try client.response().status == 304)
        await server.shutdown(within: .zero)
    }

    static let rows: [(uri: String, status: Int, says: String)] = [
        (
            "/clip.ts?start=4102444800&end=4102444860", 404,
            "Nothing of that range is in the rewind, which has 2026"
        ),
        ("/clip.ts", 404, "A clip needs an end that is published."),
        ("/clip.ts?start=1", 404, "A clip needs an end that is published."),
        ("/clip.ts?start=1767268807&end=4102444860", 404, "A clip needs an end that is published."),
        ("/clip.ts?start=x&end=2", 400, "start=x cannot be read."),
        ("/clip.ts?start=2&end=1", 400, "end has to be after start."),
        (
            "/clip.mp4?start=4102444800&end=4102444860", 404,
            "Nothing of that range is in the rewind, which has 2026"
        ),
        ("/clip.mp4", 404, "A clip needs an end that is published."),
        ("/clip.mp4?start=1767268807&end=4102444860", 404, "A clip needs an end that is published."),
        ("/clip.mp4?start=x&end=2", 400, "start=x cannot be read."),
        ("/clip.mp4?start=1767240000&end=1767268810", 400, "A clip in MP4 has 6 hours at most"),
        ("/breaks.json?start=4102444800", 404, "Nothing of that range is in the rewind, which has 2026"),
        ("/breaks.json?end=x", 400, "end=x cannot be read."),
        ("/breaks.json?start=2&end=2", 400, "end has to be after start."),
        ("/breaks.json?start=1767268807&end=1767268810", 200, "{\"breaks\":[]}"),
        ("/breaks.json", 200, "\"evidence\":\"spliced\""),
    ]

    @Test func answers() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        // A channel that goes on.
        let state = try await channel.relay(.init(times: .zero..<Duration.seconds(40)))
        let server = try await Self.server(state)
        var client = try RawClient(port: server.port)
        for row in Self.rows {
            try client.send(request("GET", row.uri))
            let response = try client.response()
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == row.status && text.contains(row.says), "\(row.uri): \(response.status) \(text)")
        }
        await server.shutdown(within: .zero)
    }
}
