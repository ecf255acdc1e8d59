import Channel
import ChannelTestSupport
import Foundation
import HTTPSyntax
import LiveRing
import Playlist
import TestSupport
import Testing

@testable import liverelay

/// Transport streams over HTTP.
@Suite(.ownThreads) struct TransportStreamHTTPTests {
    @Test func playlistsAndSegmentsAreServed() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1, responder: { responder.response(to: $0) },
            deferredResponder: { responder.deferredResponse(to: $0) })
        var client = try RawClient(port: server.port)
        try client.send(request("GET", "/ts/master.m3u8"))
        let master = try client.response()
        #expect(master.status == 200 && String(decoding: master.body, as: UTF8.self).contains("\nlive.m3u8\n"))
        try client.send(request("GET", "/ts/dvr.m3u8"))
        let playlist = try MediaPlaylistParser.parse(try client.response().body)
        #expect(playlist.segments.count > 10)
        var sizes: [Int] = []
        for segment in playlist.segments.prefix(3) {
            try client.send(request("GET", "/ts/\(segment.uri)"))
            let response = try client.response()
            #expect(response.status == 200 && response["Content-Type"] == "video/mp2t")
            #expect(
                response["ETag"] == "\"\(segment.uri)\"" && response["Cache-Control"]?.contains("immutable") == true)
            #expect(response.body.count.isMultiple(of: 188) && response.body.first == 0x47)
            sizes.append(response.body.count)
        }
        try client.send(request("HEAD", "/ts/\(playlist.segments[0].uri)"))
        #expect(try client.response(toHead: true)["Content-Length"] == "\(sizes[0])")
        try client.send(request("GET", "/ts/\(playlist.segments[0].uri)", ["Range: bytes=188-375"]))
        let part = try client.response()
        #expect(part.status == 206 && part.body.count == 188 && part.body.first == 0x47)
        for path in ["/ts/seg-1-00000000.ts", "/ts/", "/ts/init-0.mp4"] {
            try client.send(request("GET", path))
            #expect(try client.response().status == 404)
        }
        await server.shutdown(within: .zero)
    }
}
