import Dispatch
import Foundation
import LiveRing
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// Playlists of a long rewind: rendered once, on no event loop, and a bounded number at once.
@Suite(.ownThreads) struct PlaylistCacheTests {
    private let directory = FileManager.default.temporaryDirectory.appending(
        path: "liverelay-test-\(UUID().uuidString)")
    private let ring: DVRRing
    private let state: ChannelState

    init() async throws {
        ring = try DVRRing(
            directory: directory.path, policy: RetentionPolicy(rewind: .seconds(7200), freeReserve: 0),
            targetDuration: 6)
        state = ChannelState(upstream: "http://localhost/") { .zero }
        for n in 0..<200 { try await ring.publish(Self.segment(n)) }
        state.setRing(ring)
    }

    private static func segment(_ n: Int) -> NewSegment {
        NewSegment(
            initialization: InitializationFile(name: "init-a.mp4", bytes: [0]), header: Array("\(n)".utf8),
            payload: [[1]], duration: 540_000, isDiscontinuous: false,
            programDateTime: ProgramDateTime(millisecondsSince1970: 6000 * Int64(n)),
            resumePoint: ResumePoint(
                videoDecodeTime: 0, audioDecodeTime: 0, fragmentSequenceNumber: 0,
                presentationEnd: 540_000 * Int64(n + 1), compositionOffset: 0),
            format: SegmentFormat(videoCodec: "avc1.640028"),
            transportStream: TransportStreamPoint(
                parameters: "p", discontinuitySequence: 0, isDiscontinuous: false))
    }

    private static func target(_ uri: String, _ fields: RequestTarget.Fields = .init()) throws -> RequestTarget {
        try RequestTarget(method: .get, uri: uri, fields: fields)
    }

    private static let rows: [(uri: String, isLong: Bool)] = [
        ("/live.m3u8", false), ("/ts/live.m3u8", false), ("/master.m3u8", false), ("/ts/master.m3u8", false),
        ("/dvr-master.m3u8?last=60", false), ("/dvr.m3u8", true), ("/dvr.m3u8?start=0", true),
        ("/dvr.m3u8?start=60&end=66", true), ("/dvr.m3u8?last=60", true), ("/dvr.m3u8?delay=60", true),
        ("/ts/dvr.m3u8", true), ("/ts/dvr.m3u8?start=60", true), ("/seg-1-00000000.m4s", false), ("/nothing", false),
    ]

    @Test(arguments: rows)
    func longPlaylistsAreRenderedElsewhere(uri: String, isLong: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let responder = ChannelResponder(state)
        let work = responder.answer(to: try Self.target(uri)).later
        #expect((work != nil) == isLong)
        guard let work else { return }
        let response = await work()
        let atOnce = await ChannelResponder(state).answer(to: try Self.target(uri)).response()
        #expect(response.status == .ok && response.body == atOnce.body && response.cacheControl == atOnce.cacheControl)
        #expect(responder.answer(to: try Self.target(uri)).later == nil, "it is known")
        #expect(responder.answer(to: try Self.target(uri)).now == response)
        try await ring.publish(Self.segment(200))
        #expect(responder.answer(to: try Self.target(uri)).later != nil, "there is a newer one")
    }

    @Test func startsInOneSegmentAreOnePlaylist() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let responder = ChannelResponder(state)
        let first = try #require(responder.answer(to: try Self.target("/dvr.m3u8?start=600.5&end=900")).later)
        let response = await first()
        for start in ["600", "603.25", "605.999", "1970-01-01T00:10:01Z"] {
            let target = try Self.target("/dvr.m3u8?start=\(start)&end=899")
            #expect(responder.answer(to: target).later == nil, "\(start)")
            #expect(responder.answer(to: target).now == response, "\(start)")
        }
        #expect(responder.answer(to: try Self.target("/dvr.m3u8?start=606&end=900")).later != nil)
        #expect(responder.answer(to: try Self.target("/ts/dvr.m3u8?start=600&end=900")).later != nil)
    }

    @Test func onlyClientsThatAcceptGzipCostCompression() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let responder = ChannelResponder(state)
        let (plain, coded) = (try Self.target("/dvr.m3u8"), try Self.target("/dvr.m3u8", .init(acceptEncoding: "gzip")))
        guard case .bytes(let bytes, let gzip?) = await responder.answer(to: plain).later?().body else {
            Issue.record("no playlist")
            return
        }
        #expect(bytes.count > 16 * 1024 && !gzip.isFinished)
        let work = try #require(responder.answer(to: coded).later, "it is compressed elsewhere")
        _ = await work()
        #expect(gzip.isFinished && responder.answer(to: coded).later == nil)
        let response = ConditionalResponse(try #require(responder.answer(to: coded).now), to: coded, date: "")
        #expect(response.fields.contains(HeaderField(name: "Content-Encoding", value: "gzip")))
        let identity = ConditionalResponse(try #require(responder.answer(to: plain).now), to: plain, date: "")
        #expect(identity.fields.contains(HeaderField(name: "Vary", value: "Accept-Encoding")))
    }

    /// Each token has a copy of its own, compressed or not, and the plain playlist has none.
    @Test(arguments: ["/live.m3u8", "/dvr.m3u8", "/dvr.m3u8?last=60", "/ts/dvr.m3u8", "/master.m3u8"])
    func tokensDoNotMix(uri: String) async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let responder = ChannelResponder(state)
        let tokens = ["token=first", nil, "token=second", "token=first", nil]
        for token in tokens {
            var target = try Self.target(uri, .init(acceptEncoding: "gzip"))
            if let token { target.viewer = Viewer(reach: .everything, credential: .query(Secret(token))) }
            let resource = Route.Resource(path: target.path, query: target.query)
            let response = await responder.answer(to: resource, target).response()
            guard case .bytes(let bytes, gzip: let gzip?) = response.body, let member = gzip.member,
                case .whole(let unpacked) = Gzip.decompress(member, limit: 1 << 20)
            else {
                Issue.record("no compressed playlist")
                return
            }
            #expect(unpacked == bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            for other in ["token=first", "token=second"] { #expect(text.contains(other) == (other == token)) }
            let uris = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(uris.allSatisfy { $0.contains("token=") == (token != nil) })
        }
    }

    @Test func pendingRangesAreBounded() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (clientLimit, limit) = (2, 5)
        let pool = MediaPool("test", .init(pending: limit, ofClient: clientLimit))
        let stop = DispatchSemaphore(value: 0)
        let stopped = Task { await pool.perform { stop.wait() } }
        let cache = PlaylistCache(ranges: pool)
        let publication = try #require(state.publication)
        func range(_ last: Int64, of client: String?) async -> Int? {
            do throws(MediaPool.Busy) {
                let range = RewindRange.last(milliseconds: last * 60_000)
                return try await cache.playlist(
                    .init(resource: .rewind(.fragmentedMP4, range)), of: publication, compressed: false, client: client)?
                    .bytes.count
            } catch { return nil }
        }
        await withTaskGroup(of: Int?.self) { group in
            for last in 1...clientLimit { group.addTask { await range(Int64(last), of: "a") } }
            while pool.pendingCount < clientLimit { await Task.yield() }
            #expect(await range(100, of: "a") == nil, "its limit is reached")
            await #expect(throws: MediaPool.Busy.self) { try await cache.perform(for: "a") { 0 } }
            group.addTask { await range(1, of: "a") }  // known: it waits for the other
            group.addTask { await range(1, of: "b") }
            group.addTask { await range(101, of: "b") }
            while pool.pendingCount <= clientLimit { await Task.yield() }
            for last in 200..<200 + limit - clientLimit - 1 {
                group.addTask { await range(Int64(last), of: "client \(last)") }
            }
            while pool.pendingCount < limit { await Task.yield() }
            #expect(await range(300, of: "c") == nil, "the limit of all is reached")
            await #expect(throws: MediaPool.Busy.self) { try await cache.perform(for: "c") { 0 } }
            stop.signal()
            for await bytes in group { #expect((bytes ?? 0) > 100) }
        }
        await stopped.value
        #expect(pool.pendingCount == 0)
        #expect(await range(100, of: "a") != nil)
        #expect(try await cache.perform(for: "a") { pool.pendingCount } == 1)
        #expect(pool.pendingCount == 0)
    }
}
