import ChannelList
import Foundation
import Playlist
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import Service
@testable import WebServer
@testable import liverelay

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct ServeTests {
    private static let shortIdle = ChannelSupervisor.Policy(idle: .seconds(30))

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

        scene.clock.advance(by: .seconds(60))
        await scene.reaches("idle", "news")
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
        scene.clock.advance(by: .seconds(600))
        #expect(ServeStatus.state(of: scene.host.overview.channels["news"]) == "running", "longer than the idle time")
        var next = try RawClient(port: scene.server.port)
        try next.send(request("GET", "/other/live.m3u8"))
        await scene.reaches("queued", "other")
        scene.clock.advance(by: ChannelSupervisor.placeTime)
        let full = try next.head()
        #expect(full.status == 503 && full["X-Liverelay-Reason"]?.contains("1 channels") == true)
        let status = try scene.text("/status.json")
        #expect(status.contains("\"openStreams\" : 1") && status.contains("\"maxRunning\" : 1"))
        client = nil
        await scene.reaches("lingering", "news")
        #expect(try scene.get("/other/live.m3u8").status == 200, "it takes the place of the one without a viewer")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    @Test func listIsServedWithoutStartingAnything() async throws {
        let scene = try await ServeScene([("news", "http://127.0.0.1:9/x.m3u8")], Self.shortIdle)
        let list = try scene.get("/playlist.m3u?format=ts")
        #expect(list["Content-Type"] == "audio/x-mpegurl")
        #expect(String(decoding: list.body, as: UTF8.self).contains("http://test/news"))
        for path in ["/healthz", "/readyz", "/status.json", "/news/status.json", "/news/healthz"] {
            #expect(try scene.get(path).status == 200, "\(path)")
        }
        for path in ["/nobody/live.m3u8", "/nobody.ts", "/news/seg-1-00000000.m4s", "/news/other", "//live.m3u8"] {
            #expect(try scene.get(path).status == 404, "\(path)")
        }
        #expect(try scene.get("/news/readyz").status == 503)
        #expect(scene.host.overview.startCount == 0)
        await scene.end()
    }

    @Test func alwaysChannelStartsAloneAndIsRestarted() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene(
            [("news", origin.url), ("broken", origin.url + "/missing.m3u8")], Self.shortIdle,
            always: ["news", "broken"])
        scene.host.start()
        await scene.reaches("running", "news")
        await scene.reaches("failed", "broken")
        scene.clock.advance(by: .seconds(600))
        await scene.reachesStarts(3)
        #expect(ServeStatus.state(of: scene.host.overview.channels["news"]) == "running")
        let kept = scene.spool.appending(path: "kept/news").path
        #expect(FileManager.default.fileExists(atPath: kept))
        _ = scene.host.replace(ChannelDirectory([]))
        await scene.reaches("idle", "news")
        #expect(!FileManager.default.fileExists(atPath: kept), "it is not listed any more")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    @Test func changedEntryEndsItsChannelOnly() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([("news", origin.url), ("other", origin.url)], Self.shortIdle)
        #expect(try scene.get("/news/live.m3u8").status == 200)
        #expect(try scene.get("/other/live.m3u8").status == 200)
        let changed = scene.host.directory.channels.map { channel in
            var channel = channel
            if channel.slug == "other" { channel.sources[0].url += "?token=2" }
            if channel.slug == "news" { (channel.name, channel.options.idle) = ("News HD", .seconds(5)) }
            return channel
        }
        #expect(scene.host.replace(ChannelDirectory(changed)).endedCount == 1)
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
        "There is no file “missing.m3u”. A channel on the network begins with http:// or https://."
    ),
]

@Test(arguments: firstWords) func firstWordIsJudged(word: String, says: String?) {
    #expect(FirstWord.complaint(about: word) == says)
}

@Test func listAsFirstWordIsServed() {
    #expect(FirstWord.arguments(["a.m3u", "--port", "0"]) { _ in true } == ["serve", "a.m3u", "--port", "0"])
    #expect(FirstWord.arguments(["a.m3u"]) { _ in false } == ["a.m3u"])
    let threadfin = ["-user_agent", "Threadfin", "https://h/a.m3u8", "-o", "-"]
    #expect(FirstWord.arguments(threadfin) { _ in false } == ["--user-agent"] + threadfin.dropFirst())
    #expect(FirstWord.arguments(["https://h/a.m3u"]) { _ in true } == ["https://h/a.m3u"])
}
