import ChannelTestSupport
import Demux
import Foundation
import LiveRing
import Media
import Playlist
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// Transport streams over HTTP.
@Suite(.ownThreads) struct TransportStreamHTTPTests {
    @Test func playlistsAndSegmentsAreServed() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay()
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: ChannelResponder(state))
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

extension TransportStreamHTTPTests {
    /// Sends one request of HTTP/1.0, whose response ends with the connection.
    private func answer(
        _ path: String, of state: ChannelState, version: String = "1.0", burst: Ticks? = nil
    ) async throws -> RawResponse {
        let responder = burst.map { ChannelResponder(state, burst: $0) } ?? ChannelResponder(state)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: responder)
        var client = try RawClient(port: server.port)
        try client.send(request("GET", path, version: version))
        var response = try client.head()
        response.body = try client.rest()
        await server.shutdown(within: .zero)
        return response
    }

    @Test func endedChannelIsSentToItsEnd() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay(.init(times: .zero ..< .seconds(120)))
        let response = try await answer("/live.ts?last=600&speed=max", of: state)
        #expect(response.status == 200 && response["Content-Type"] == "video/mp2t")
        #expect(response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
        let scan = try #require(TransportStreamScan(response.body))
        #expect(scan.faults(clockPID: 0x100) == [] && scan.packets.prefix(2).map(\.pid) == [0, 0x1000])
        let frames = try channel.result.segments.reduce(0) { sum, segment in
            try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).filter { $0.trackID == 1 }
                .reduce(sum) { $0 + $1.samples.count }
        }
        #expect(scan.packetizedElements(of: 0x100).count == frames)
        #expect(state.status.transportStream.clients == 0 && state.status.transportStream.jumps == 0)
    }

    /// Without a pace a client gets the burst and what is published from then on: nothing, after the end.
    @Test(arguments: [("the default", nil, 6), ("less", 2, 2), ("more", 10, 10)] as [(String, Int64?, Int64)])
    func burstIsWhatIsAskedFor(when: String, seconds: Int64?, sent: Int64) async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay(.init(times: .zero ..< .seconds(120)))
        let response = try await answer("/live.ts?speed=max", of: state, burst: seconds.map { .seconds($0) })
        let times = try #require(TransportStreamScan(response.body)).packetizedElements(of: 0x100).map(\.dts)
        let span = try #require(times.last) - times[0]
        #expect(abs(span - sent * 90_000) <= 180_000, "\(when): \(span)")
    }

    @Test func rangeIsAFile() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay()
        let entries = try #require(state.snapshot).index.listed
        let (start, end) = (entries[3].programDateTime, entries[6].programDateTime)
        let range = "start=\(start.millisecondsSince1970 / 1000)&end=\(end.millisecondsSince1970 / 1000)"
        let response = try await answer("/live.ts?\(range)", of: state)
        let times = try #require(TransportStreamScan(response.body)).packetizedElements(of: 0x100).map(\.dts)
        let duration = entries[3..<6].reduce(0) { $0 + $1.duration }
        #expect(times.last.map { $0 - times[0] } == duration - 3600)
        let refusal = try await answer("/live.ts?start=1&end=2", of: state)
        let listed = "\(entries[0].programDateTime.text) to \(try #require(entries.last).programDateTimeEnd.text)"
        #expect(refusal.status == 404 && refusal["X-Liverelay-Reason"]?.contains(listed) == true)
        #expect(String(decoding: refusal.body, as: UTF8.self).contains(listed))
        #expect(try await answer("/live.ts?speed=fast", of: state).status == 400)
    }

    private func server(of state: ChannelState) async throws -> HTTPServer {
        try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: ChannelResponder(state))
    }

    /// The response begins with the stream's tables, however long the first segment takes.
    @Test func headOfAStreamIsHeldUntilThereIsMedia() async throws {
        var channel = try SpooledChannel(of: .clean)
        try await channel.relay()
        let state = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let server = try await server(of: state)
        var client = try RawClient(port: server.port)
        try client.send(request("GET", "/live.ts?last=10", version: "1.0"))
        var other = try RawClient(port: server.port)
        try other.send(request("HEAD", "/live.ts"))
        #expect(try other.response(toHead: true).status == 200, "a HEAD is not held")
        state.setRing(
            try DVRRing(directory: channel.spool.path, policy: RetentionPolicy(rewind: nil), targetDuration: 6))
        #expect(try client.head().status == 200)
        #expect(try Array(client.read(4).prefix(3)) == [0x47, 0x40, 0x00], "PAT")
        await server.shutdown(within: .zero)
    }

    @Test(.timeLimit(.minutes(1))) func streamOfAChannelThatFailedIsRefusedWithoutABody() async throws {
        let state = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let server = try await server(of: state)
        var client = try RawClient(port: server.port)
        try client.send(request("GET", "/live.ts"))
        state.setState(.failed, reason: nil)
        let response = try client.response()
        #expect(response.status == 503 && response["Content-Length"] == "0" && response["Retry-After"] == "1")
        #expect(response["X-Liverelay-Reason"]?.isEmpty == false)
        // A client that leaves, and a server that ends, do not wait for the channel.
        let other = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let second = try await self.server(of: other)
        let waiting = try RawClient(port: second.port)
        try waiting.send(request("GET", "/live.ts"))
        await second.shutdown(within: .milliseconds(100))
        await server.shutdown(within: .zero)
    }

    /// What makes the bytes of a stream answers to the event loop, so it has to end before.
    @Test func serverEndsAfterTheWorkForItsStreams() async throws {
        final class Progress: Sendable {
            let hasBegun = Mutex(false)
            let hasEnded = Mutex(false)
        }
        let progress = Progress()
        let stream = ByteStream {
            progress.hasBegun.withLock { $0 = true }
            let deadline = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < deadline { await Task.yield() }
            progress.hasEnded.withLock { $0 = true }
            return [0x47]
        }
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { _ in
                .now(Response(contentType: .transportStream, cacheControl: .noStore, body: .stream(stream)))
            })
        var client = try RawClient(port: server.port)
        try client.send(request("GET", "/live.ts"))
        #expect(try client.head().status == 200)
        while !progress.hasBegun.withLock({ $0 }) { await Task.yield() }
        await server.shutdown(within: .zero)
        #expect(progress.hasEnded.withLock { $0 })
    }

    @Test func streamIsChunkedForNewerClients() async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: responder)
        var client = try RawClient(port: server.port)
        try client.send(request("HEAD", "/live.ts"))
        #expect(try client.response(toHead: true).status == 200)
        #expect(state.transportStreams.counts.segments == 0)
        #expect(try client.rest().isEmpty)
        client = try RawClient(port: server.port)
        try client.send(request("GET", "/live.ts", ["Range: bytes=0-"]))
        let response = try client.head()
        #expect(response.status == 200 && response["Transfer-Encoding"] == "chunked")
        let line = try client.read(5)
        #expect(line.contains(0x0D) || line.allSatisfy { $0 != 0x47 })
        await server.shutdown(within: .zero)
    }
}
