import NIOHTTP1
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// In a process of one channel.
private let channelRows: [(uri: String, kind: Route.Kind)] = [
    ("/", .page), ("/?a=b", .page), ("/live.m3u8", .playlist), ("/dvr.m3u8?last=60", .playlist),
    ("/seg-1-0a0b0c0d.m4s", .segment), ("/init-0a0b0c0d.mp4", .segment), ("/sub-0-1-0a0b0c0d.vtt", .segment),
    ("/live.ts", .stream), ("/clip.ts?last=5", .stream), ("/still.jpg?at=5", .still), ("/status.json", .status),
    ("/healthz", .health), ("/metrics", .metrics), ("/wp-login.php", .other), ("/dvr.m3u8?last=x", .other),
    ("", .other), ("*", .other), ("/..", .other), ("/a/b/c/%2e%2e", .other), ("http://h/live.m3u8", .playlist),
]

/// In a process of a list.
private let listRows: [(uri: String, kind: Route.Kind)] = [
    ("/", .page), ("/web/page.css", .page), ("/news/", .page), ("/news", .other), ("/wp-login.php", .other),
    ("/news/ts/master.m3u8", .playlist), ("/news/subs-0.m3u8", .playlist), ("/news/ts/seg-1-0a0b0c0d.ts", .segment),
    ("/news.ts", .stream), ("/news/live.ts?last=5", .stream), ("/playlist.m3u?format=ts", .list),
    ("/epg.xml.gz", .list), ("/discover.json", .tuner), ("/lineup.post?scan=start", .tuner), ("/status.json", .status),
    ("/news/status.json", .status), ("/news/readyz", .health), ("/auto/v5.1", .stream),
    ("/tuner0/v7?duration=5", .stream), ("/auto/x", .other), ("/news/v7", .other),
    ("/api/events?type=splice", .events), ("/api/channels/news", .api), ("/api", .api),
    ("/player_api.php?username=a&password=b", .list), ("/get.php", .list), ("/news/get.php", .other),
    ("/live/u/p/7", .stream), ("/u/p/7", .stream), ("/u/p/7.m3u8", .playlist), ("/u/7", .other), ("/7", .other),
    ("/timeshift/u/p/60/2026-01-02:12-00/7", .stream), ("/timeshift/u/p/60/2026-01-02:12-00/7.m3u8", .playlist),
    ("/timeshift.php?username=u&password=p&duration=60&start=2026-01-02:12-00&stream=7", .stream),
    ("/streaming/timeshift.php?username=u&password=p&duration=60&start=2026-01-02:12-00&stream=7", .stream),
    ("/timeshift.php?stream=7", .other), ("/news/timeshift.php", .other), ("/healthz", .health), ("/metrics", .metrics),
    ("/news/stills-10-1000.jpg", .still), ("/news/stills.vtt", .still),
]

@Suite struct RouteKindTests {
    @Test(arguments: channelRows) func inAChannel(uri: String, kind: Route.Kind) {
        #expect(
            HTTPExchange(.init(version: .http1_1, method: .GET, uri: uri), in: .channel).received.route.kind == kind)
    }

    @Test(arguments: listRows) func inAList(uri: String, kind: Route.Kind) {
        #expect(HTTPExchange(.init(version: .http1_1, method: .GET, uri: uri), in: .list).received.route.kind == kind)
    }
}

@Suite(.ownThreads) struct HTTPTrafficTests {
    @Test func requestsAndBytesAreCounted() async throws {
        let traffic = HTTPTraffic()
        let channel = ByteCounter()
        let responder = TargetResponder { target in
            switch target.path {
            case "/live.m3u8":
                var response = Response.text(.ok, "0123456")
                response.sentBytes = channel
                return .now(response)
            case "/metrics": return .later { .text(.ok, "late") }
            default: return .now(.notFound(target.path))
            }
        }
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1, traffic: traffic, responder: responder)
        var client = try RawClient(port: server.port)
        let requests = [
            ("GET", "/live.m3u8"), ("HEAD", "/live.m3u8"), ("GET", "/x"), ("GET", "/metrics"), ("POST", "/live.m3u8"),
            ("GET", "/%zz.m3u8"),
        ]
        for (method, path) in requests {
            try client.send(request(method, path))
            _ = try client.response(toHead: method == "HEAD")
        }
        let counts = traffic.counts
        let answers: [HTTPTraffic.Answer: Int] = [
            .init(route: .playlist, status: 200): 2, .init(route: .other, status: 404): 1,
            .init(route: .metrics, status: 200): 1, .init(route: .playlist, status: 405): 1,
            .init(route: .other, status: 400): 1,
        ]
        #expect(counts.answers == answers)
        #expect(counts.delays[.playlist]?.counts.reduce(0, +) == 3)
        #expect(counts.openConnections == 1)
        #expect(counts.sentBytes[.metrics] == 5 && channel.count == 8)
        await server.shutdown(within: .zero)
        #expect(traffic.counts.openConnections == 0)
    }
}
