import ChannelList
import Foundation
import Playlist
import Support
import TestSupport
import Testing
import WebServer
import WebTestSupport

@testable import Fleet
@testable import HTTP
@testable import Record
@testable import Service

/// What clients of several nodes get, with an engine in this process.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(2))) struct FleetServiceTests {
    private func numbers(_ response: RawResponse) throws -> ClosedRange<UInt64> {
        let playlist = try MediaPlaylistParser.parse(response.body)
        let first = playlist.mediaSequence
        return first...(first + UInt64(max(1, playlist.segments.count)) - 1)
    }

    private func object(_ response: RawResponse) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(response.body))) as? [String: Any] ?? [:]
    }

    @Test("Any node answers for the channel of another one, and its viewer counts once")
    func anyNodeAnswers() async throws {
        let (origin, fleet) = (try await CountingOrigin(.clean), FleetScene())
        let upstreams = [(slug: "news", url: origin.url)]
        let owner = try await fleet.node("a", upstreams)
        await owner.reaches("running", "news")
        let (passing, redirecting) = (
            try await fleet.node("b", upstreams), try await fleet.node("c", upstreams, passes: false)
        )
        for node in [passing, redirecting] {
            #expect(await waits { if case .at? = node.host.fleet?.place(of: "news") { true } else { false } })
        }

        let playlist = try passing.get("/news/live.m3u8")
        #expect(playlist.status == 200 && playlist["Content-Type"] == "application/vnd.apple.mpegurl")
        let segment = try #require(try MediaPlaylistParser.parse(playlist.body).segments.last)
        let (here, there) = (try owner.get("/news/\(segment.uri)"), try passing.get("/news/\(segment.uri)"))
        #expect(here.status == 200 && there.status == 200 && here.body == there.body && !here.body.isEmpty)
        #expect(try passing.get("/news/seg-1-00000000.m4s").status == 404, "the owner says so")

        var client: RawClient? = try RawClient(port: passing.server.port)
        try client?.send(request("GET", "/news.ts", version: "1.0"))
        #expect(try client?.head().status == 200)
        #expect(try client?.read(188).first == 0x47)
        #expect(owner.host.overview.channels["news"]?.streams == 1)
        #expect((passing.host.overview.channels["news"]?.streams ?? 0) == 0)
        client = nil
        #expect(await waits { owner.host.overview.channels["news"]?.streams == 0 })

        let redirect = try redirecting.get("/news/live.m3u8?a=b%20c")
        #expect(redirect.status == 307)
        #expect(redirect["Location"] == "http://127.0.0.1:\(owner.server.port)/news/live.m3u8?a=b%20c")
        #expect(origin.requestCount > 0 && passing.host.overview.startCount == 0, "one reader of the upstream")

        // The owner is cut off: requests are held until the next one answers.
        let last = try numbers(playlist).upperBound
        fleet.engine.set("a", isReachable: false)
        let isContinued = try await waits {
            let next = try passing.get("/news/live.m3u8")
            #expect(next.status == 200)
            return try owner.host.fleet?.holdsLease == false && numbers(next).upperBound > last
        }
        #expect(isContinued)
        for scene in [owner, passing, redirecting] { await scene.end() }
        await origin.server.shutdown(within: .zero)
    }

    @Test("A channel leaves a node that its upstream does not answer, for one that it answers")
    func upstreamOfOneNode() async throws {
        let (origin, fleet) = (try await CountingOrigin(.clean), FleetScene())
        let closable = try await ClosableUpstream(to: origin.url)
        let upstreams = [(slug: "news", url: closable.url)]
        let owner = try await fleet.node("a", upstreams)
        await owner.reaches("running", "news")
        let next = try await fleet.node("b", upstreams)
        #expect(await waits { if case .at? = next.host.fleet?.place(of: "news") { true } else { false } })
        let last = try numbers(next.get("/news/live.m3u8")).upperBound
        closable.close(to: "a")
        #expect(await waits { next.host.fleet?.place(of: "news") == .here })
        let isContinued = try await waits { try numbers(owner.get("/news/live.m3u8")).upperBound > last }
        #expect(isContinued)
        for scene in [owner, next] { await scene.end() }
        for server in [origin.server, closable.server] { await server.shutdown(within: .zero) }
    }

    @Test("A channel that one node is asked to add is a channel of all, and so is its removal")
    func listChanges() async throws {
        let (origin, fleet) = (try await CountingOrigin(.clean), FleetScene())
        let upstreams = [(slug: "news", url: origin.url)]
        let (first, second) = (try await fleet.node("a", upstreams), try await fleet.node("b", upstreams))
        #expect(await waits { second.host.fleet?.peers.count == 1 && first.host.fleet?.peers.count == 1 })
        #expect(try second.api("PUT", "/api/channels/sport", #"{"url":"\#(origin.url)"}"#).status == 201)
        #expect(await waits { first.host.directory["sport"] != nil })
        #expect(try first.api("PUT", "/api/channels/sport", #"{"url":"\#(origin.url)","name":"S"}"#).status == 200)
        #expect(try first.api("PUT", "/api/channels/film", #"{"url":"\#(origin.url)"}"#).status == 201)
        #expect(await waits { second.host.directory["sport"]?.name == "S" && second.host.directory["film"] != nil })
        // A node that comes later has them too.
        let third = try await fleet.node("c", upstreams)
        #expect(await waits { third.host.directory["sport"]?.name == "S" })
        #expect(first.host.directory.fleetHash == third.host.directory.fleetHash)
        #expect(try third.api("DELETE", "/api/channels/sport").status == 204)
        #expect(try third.api("DELETE", "/api/channels/news").status == 204)
        for node in [first, second] {
            #expect(await waits { node.host.directory.channels.map(\.slug) == ["film"] })
        }
        #expect(try second.api("DELETE", "/api/channels/sport").status == 404)
        for scene in [first, second, third] { await scene.end() }
        await origin.server.shutdown(within: .zero)
    }

    @Test("A recording that any node is asked for is made where the channel runs, also after a move")
    func recordingMoves() async throws {
        let (origin, fleet) = (try await CountingOrigin(.clean), FleetScene())
        let upstreams = [(slug: "news", url: origin.url)]
        let folders = ["a", "b", "c"].map { name in
            FileManager.default.temporaryDirectory.appending(path: "liverelay-fleet-\(name)-\(UUID().uuidString)").path
        }
        defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }
        func place(_ index: Int) throws -> ServeScene.RecordingPlace {
            .init(pattern: try RecordingPattern("\(folders[index])/{channel}/{title}.ts"))
        }
        let owner = try await fleet.node("a", upstreams, recordings: try place(0))
        await owner.reaches("running", "news")
        let next = try await fleet.node("b", upstreams, recordings: try place(1))
        #expect(await waits { if case .at? = next.host.fleet?.place(of: "news") { true } else { false } })

        let asked = try next.api("POST", "/api/recordings", #"{"channel":"news","duration":"1h","name":"N"}"#)
        #expect(asked.status == 201, "\(String(decoding: asked.body, as: UTF8.self))")
        let id = try #require(object(asked)["id"] as? Int)
        await owner.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        #expect(await waits { next.recordings?[id]?.state == .planned })
        let isListed = try await waits {
            let list = object(try next.api("GET", "/api/recordings"))["recordings"] as? [[String: Any]] ?? []
            return list.count == 1 && list[0]["node"] as? String == "a" && list[0]["state"] as? String == "recording"
        }
        #expect(isListed, "one entry, that of the node with the file")
        #expect(try next.api("PATCH", "/api/recordings/\(id)", #"{"keep":true}"#).status == 200)
        #expect(await waits { owner.recordings?[id]?.isKept == true })

        fleet.engine.set("a", isReachable: false)
        await next.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        // A node that comes later ends it everywhere.
        let last = try await fleet.node("c", upstreams, recordings: try place(2))
        #expect(await waits { last.recordings?[id] != nil })
        fleet.engine.set("a", isReachable: true)
        #expect(await waits { if case .paused? = owner.recordings?[id]?.state { true } else { false } })
        #expect(await waits { last.host.fleet?.peers.count == 2 })
        #expect(try last.api("DELETE", "/api/recordings/\(id)").status == 204)
        for node in [owner, next] { #expect(await waits { node.recordings?[id]?.isOver == true }) }
        #expect(await waits { last.recordings?[id] == nil })
        let ended = try await waits {
            let list = object(try last.api("GET", "/api/recordings"))["recordings"] as? [[String: Any]] ?? []
            return list.compactMap { $0["file"] as? String }.sorted()
                == ["/web/recordings/\(id)@a.ts", "/web/recordings/\(id)@b.ts"]
        }
        #expect(ended, "each node has a part")
        let file = try last.get("/web/recordings/\(id)@b.ts")
        #expect(file.status == 307)
        #expect(file["Location"] == "http://127.0.0.1:\(next.server.port)/web/recordings/\(id).ts")
        #expect(try next.get("/web/recordings/\(id).ts").status == 200)
        for scene in [owner, next, last] { await scene.end() }
        await origin.server.shutdown(within: .zero)
    }
}
