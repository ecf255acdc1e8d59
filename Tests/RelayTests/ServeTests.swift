import Capture
import Channel
import ChannelList
import Foundation
import LiveRing
import Logging
import Playlist
import Synchronization
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// A replayed capture as an upstream that counts its requests.
private struct CountingOrigin {
    let server: HTTPServer
    let url: String
    private let requests = Counter()

    private final class Counter: Sendable {
        let count = Mutex(0)
        /// Time since the first request, which every request asks for.
        let clock = FirstRequestClock()

        func elapsed() -> Duration {
            count.withLock { $0 += 1 }
            return clock.elapsed()
        }
    }

    init(_ fixture: CaptureFixture) async throws {
        let capture = try CaptureDirectory(fixture.directory)
        let origin = try RecordedOrigin(
            CaptureDirectory(capture.url, index: capture.index.withoutFaults), loops: true)
        let requests = requests
        server = try await HTTPServer.start(origin, on: ListenAddress(host: "127.0.0.1", port: 0)) {
            requests.elapsed()
        }
        url = "http://127.0.0.1:\(server.port)\(origin.entryPath)"
    }

    var requestCount: Int { requests.count.withLock { $0 } }
}

/// A process of many channels on loopback.
private struct ServeScene {
    let host: ChannelHost
    let server: HTTPServer
    let spool: URL

    init(_ upstreams: [(slug: String, url: String)], _ policy: ChannelSupervisor.Policy) async throws {
        spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-serve-\(UUID().uuidString)")
        let channels = upstreams.map {
            ListedChannel(slug: $0.slug, name: $0.slug, sources: [ListedSource(url: $0.url)])
        }
        let settings = ChannelSettings(
            configuration: RelayConfiguration(
                upstream: "", spool: "", retention: RetentionPolicy(rewind: .seconds(600), freeReserve: 0)),
            spool: spool.path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let host = ChannelHost(ChannelDirectory(channels), policy: policy, settings: settings)
        let responder = ServeResponder(host)
        self.host = host
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1, responder: { responder.response(to: $0) },
            deferredResponder: { responder.deferredResponse(to: $0) })
    }

    func get(_ path: String, method: String = "GET") throws -> RawResponse {
        var client = try RawClient(port: server.port)
        try client.send(request(method, path))
        return try client.response(toHead: method == "HEAD")
    }

    func text(_ path: String) throws -> String { String(decoding: try get(path).body, as: UTF8.self) }

    /// Waits until the channel is in that state; asks its status document only.
    func reaches(_ state: String, _ slug: String) async throws -> Bool {
        for _ in 0..<400 {
            if ServeStatus.state(of: host.overview.channels[slug]) == state { return true }
            try await Task.sleep(for: .milliseconds(25))
        }
        return false
    }

    func end() async {
        host.close()
        await server.shutdown(within: .zero)
        await host.shutdown()
        try? FileManager.default.removeItem(at: spool)
    }
}

@Suite(.ownThreads) struct ServeTests {
    private static let shortIdle = ChannelSupervisor.Policy(
        idle: .milliseconds(1500), startLimit: .seconds(8), absence: .milliseconds(800))

    @Test func viewersStartAndEndChannels() async throws {
        let first = try await CountingOrigin(.clean)
        let second = try await CountingOrigin(.ssaiTagged)
        let scene = try await ServeScene(
            [("news", first.url), ("sport", second.url), ("broken", first.url + "/missing.m3u8")], Self.shortIdle)
        #expect(try scene.get("/news/live.m3u8", method: "HEAD").status == 200)
        #expect(first.requestCount == 0, "a HEAD starts nothing")
        let live = try scene.get("/news/live.m3u8")
        #expect(live.status == 200 && live["Content-Type"] == "application/vnd.apple.mpegurl")
        let playlist = try MediaPlaylistParser.parse(live.body)
        let segment = try #require(playlist.segments.first)
        #expect(!segment.uri.hasPrefix("/") && !segment.uri.contains("://"), "relative to the channel's path")
        #expect(try scene.get("/news/\(segment.uri)").status == 200)
        #expect(try scene.text("/news/master.m3u8").contains("\nlive.m3u8"))
        #expect(second.requestCount == 0, "nobody watches the other")
        #expect(try scene.get("/news/dvr.m3u8").status == 200)
        #expect(scene.host.overview.startCount == 1, "one reader of the upstream for all viewers")

        let failure = try scene.get("/broken/live.m3u8")
        let reason = try #require(failure["X-Liverelay-Reason"])
        #expect(failure.status == 503 && String(decoding: failure.body, as: UTF8.self) == reason + "\n")
        let stream = try scene.get("/broken.ts")
        #expect(stream.status == 503 && stream.body.isEmpty && stream["X-Liverelay-Reason"] == reason)
        #expect(try scene.get("/news/live.m3u8").status == 200, "the failure of one is not that of the other")

        #expect(try await scene.reaches("idle", "news"))
        let count = first.requestCount
        #expect(!FileManager.default.fileExists(atPath: scene.spool.appending(path: "news-1").path))
        #expect(try scene.get("/sport/ts/live.m3u8").status == 200)
        #expect(first.requestCount == count, "no request after the end")
        #expect(try scene.get("/news/live.m3u8").status == 200, "it starts again")
        await scene.end()
        for origin in [first, second] { await origin.server.shutdown(within: .zero) }
    }

    @Test func openStreamIsAViewer() async throws {
        let origin = try await CountingOrigin(.clean)
        var policy = Self.shortIdle
        policy.maxRunning = 1
        let scene = try await ServeScene([("news", origin.url), ("other", origin.url)], policy)
        var client: RawClient? = try RawClient(port: scene.server.port)
        try client?.send(request("GET", "/news.ts", version: "1.0"))
        #expect(try client?.head().status == 200)
        #expect(try client?.read(188).first == 0x47)
        try await Task.sleep(for: .seconds(2))
        #expect(ServeStatus.state(of: scene.host.overview.channels["news"]) == "running", "longer than the idle time")
        let full = try scene.get("/other/live.m3u8")
        #expect(full.status == 503 && full["X-Liverelay-Reason"]?.contains("1 channels") == true)
        let status = try scene.text("/status.json")
        #expect(status.contains("\"openStreams\" : 1") && status.contains("\"maxRunning\" : 1"))
        client = nil
        #expect(try await scene.reaches("lingering", "news"))
        #expect(try scene.get("/other/live.m3u8").status == 200, "it takes the place of the one without a viewer")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    @Test func listIsServedWithoutStartingAnything() async throws {
        let scene = try await ServeScene([("news", "http://127.0.0.1:9/x.m3u8")], Self.shortIdle)
        let list = try scene.get("/playlist.m3u?format=ts")
        #expect(list["Content-Type"] == "audio/x-mpegurl")
        #expect(String(decoding: list.body, as: UTF8.self).contains("http://test/news"))
        #expect(try scene.text("/").contains("http://test/news/live.m3u8"))
        for path in ["/healthz", "/readyz", "/status.json", "/news/status.json", "/news/healthz", "/news"] {
            #expect(try scene.get(path).status == 200, "\(path)")
        }
        for path in ["/nobody/live.m3u8", "/nobody.ts", "/news/seg-1-00000000.m4s", "/news/other", "//live.m3u8"] {
            #expect(try scene.get(path).status == 404, "\(path)")
        }
        #expect(try scene.get("/news/readyz").status == 503)
        #expect(scene.host.overview.startCount == 0)
        await scene.end()
    }

    @Test func changedEntryEndsItsChannelOnly() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([("news", origin.url), ("other", origin.url)], Self.shortIdle)
        #expect(try scene.get("/news/live.m3u8").status == 200)
        #expect(try scene.get("/other/live.m3u8").status == 200)
        let changed = scene.host.directory.channels.map { channel in
            var channel = channel
            if channel.slug == "other" { channel.sources[0].url += "?token=2" }
            return channel
        }
        #expect(scene.host.replace(ChannelDirectory(changed)) == 1)
        #expect(ServeStatus.state(of: scene.host.overview.channels["news"]) == "running")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}

private let firstWords: [(word: String, says: String?)] = [
    ("https://h/x.m3u8", nil), ("inspekt", "“inspekt” is neither a command nor a URL. See liverelay --help."),
    ("serv", "“serv” is neither a command nor a URL. Did you mean liverelay serve?"),
    ("chekc", "“chekc” is neither a command nor a URL. Did you mean liverelay check?"),
    (
        "missing.m3u",
        "“missing.m3u” is neither a command nor a URL. A channel is given as http://… or https://…, and a list of channels to liverelay serve."
    ),
]

@Test(arguments: firstWords) func firstWordIsJudged(word: String, says: String?) {
    #expect(FirstWord.complaint(about: word) == says)
}

@Test func listAsFirstWordIsServed() {
    #expect(FirstWord.arguments(["a.m3u", "--port", "0"]) { _ in true } == ["serve", "a.m3u", "--port", "0"])
    #expect(FirstWord.arguments(["a.m3u"]) { _ in false } == ["a.m3u"])
    #expect(FirstWord.arguments(["https://h/a.m3u"]) { _ in true } == ["https://h/a.m3u"])
}
