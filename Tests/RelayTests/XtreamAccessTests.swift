import Foundation
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Observability
@testable import Service
@testable import Support
@testable import WebServer

private let server = "server-token-0123"
private let news = "news-token-012345"
private let wrong = "wrong-token-01234"

private func path(_ rest: String) throws -> XtreamRequest? {
    XtreamRequest(try RequestTarget(method: .get, uri: rest))
}

private let forms: [(uri: String, resource: XtreamRequest.Resource?)] = [
    ("/live/u/p/7", .stream(7, .transportStream)), ("/live/u/p/7.ts", .stream(7, .transportStream)),
    ("/live/u/p/7.m3u8", .stream(7, .playlist)), ("/u/p/7", .stream(7, .transportStream)),
    ("/u/p/7.ts", .stream(7, .transportStream)), ("/u/p/7.m3u8", .stream(7, .playlist)),
    ("/live/p/7", .stream(7, .transportStream)), ("/u/p/2147483647", .stream(2_147_483_647, .transportStream)),
    ("/u/p/2147483648", nil), ("/u/p/0", nil), ("/u/p/7.mp4", nil), ("/u/p/7x", nil), ("/u/p/", nil), ("/u/p/.ts", nil),
    ("//p/7", nil), ("/u//7", nil), ("/movie/u/p/7.mp4", nil), ("/movie/u/p/7", nil), ("/live/u/p/7/x", nil),
    // The paths of channels, whatever they are called.
    ("/news/live.ts", nil), ("/news/ts/live.m3u8", nil), ("/news/ts/7.ts", nil), ("/news/web/7", nil),
    ("/news/7.ts", nil), ("/live-2/live.m3u8", nil), ("/get/live.m3u8", nil),
    // Documents.
    ("/player_api.php", .account), ("/player_api.php?action=get_vod_info", .nothing),
    ("/player_api.php?action=get_live_streams&category_id=", .streams(category: nil)),
    ("/player_api.php?action=get_live_streams&category_id=12", .streams(category: "12")),
    ("/player_api.php?action=get_short_epg&stream_id=5", .shortGuide(stream: 5, limit: 4)),
    ("/player_api.php?action=get_short_epg&stream_id=5&limit=9999", .shortGuide(stream: 5, limit: 100)),
    ("/player_api.php?action=get_short_epg&stream_id=x&limit=-3", .shortGuide(stream: 0, limit: 1)),
    ("/get.php", .list(.transportStream, isPlain: false)),
    ("/get.php?type=m3u", .list(.transportStream, isPlain: true)),
    ("/get.php?output=hls&type=m3u_plus", .list(.playlist, isPlain: false)),
    ("/get.php?output=mpegts", .list(.transportStream, isPlain: false)), ("/xmltv.php", .guide),
    ("/panel_api.php", .panel),
    ("/news/player_api.php", nil),
]

/// A request, and its status on a server with a token and on one whose channel `news` alone has one. `N` and `S` stand for
/// the numbers of the streams of `news` and `sport`.
private let rows: [(uri: String, withToken: Int, withoutToken: Int)] = [
    ("/player_api.php", 401, 200), ("/player_api.php?username=x&password=\(wrong)", 401, 200),
    ("/player_api.php?username=x&password=\(server)", 200, 200),
    ("/player_api.php?username=x&password=\(news)", 200, 200),
    ("/player_api.php?token=\(server)", 200, 200), ("/panel_api.php?password=\(wrong)", 401, 200),
    ("/get.php?password=\(news)", 200, 200), ("/get.php", 401, 200), ("/xmltv.php?password=\(news)", 401, 401),
    ("/xmltv.php?password=\(server)", 404, 401), ("/live/u/\(server)/N.m3u8", 200, 401),
    ("/live/u/\(news)/N.m3u8", 200, 200), ("/live/u/\(wrong)/N.m3u8", 401, 401), ("/live/u/\(news)/S.m3u8", 401, 200),
    ("/u/\(server)/S.m3u8", 200, 200), ("/u/\(wrong)/S.m3u8", 401, 200), ("/u/\(server)/5.m3u8", 404, 401),
    ("/u/\(wrong)/5.m3u8", 401, 401),
    ("/timeshift/u/\(server)/60/2026-01-02:12-00/N.m3u8", 200, 401),
    ("/timeshift/u/\(news)/60/2026-01-02:12-00/S.m3u8", 401, 200),
    ("/timeshift/u/\(wrong)/60/2026-01-02:12-00/N.m3u8", 401, 401),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct XtreamAccessTests {
    @Test(arguments: forms) func formOfAPath(uri: String, resource: XtreamRequest.Resource?) throws {
        #expect(try path(uri)?.resource == resource)
    }

    private static func channels(_ url: String = "http://127.0.0.1:9/x.m3u8") -> [ListedChannel] {
        ["news", "sport"].map { slug in
            var channel = ListedChannel(slug: slug, name: slug, sources: [ListedSource(url: url)])
            if slug == "news" { channel.options.tokens = [Secret(news)] }
            return channel
        }
    }

    @Test func passwordsAreTokens() async throws {
        let scene = try await ServeScene(Self.channels())
        let numbers = scene.host.directory.streamNumbers.map(String.init)
        let responders = [
            ServeResponder(scene.host, tokens: ServerTokens([try #require(AccessToken(server))])),
            ServeResponder(scene.host, tokens: ServerTokens()),
        ]
        for row in rows {
            let uri = row.uri.replacing("/N.", with: "/\(numbers[0]).").replacing("/S.", with: "/\(numbers[1]).")
            // A GET of a playlist would wait for the channel to start.
            let method = uri.hasSuffix(".m3u8") ? RequestTarget.Method.head : .get
            let target = try RequestTarget(method: method, uri: uri, fields: .init(host: "h"))
            for (responder, status) in zip(responders, [row.withToken, row.withoutToken]) {
                #expect(await responder.answer(to: target).response().status.rawValue == status, "\(row.uri)")
            }
        }
        let refused = try RequestTarget(method: .get, uri: "/player_api.php?password=\(wrong)")
        guard case .bytes(let body, _) = await responders[0].answer(to: refused).response().body else { return }
        #expect(String(decoding: body, as: UTF8.self) == #"{"user_info":{"auth":0}}"#)
        await scene.end()
    }

    /// A body that has the token is read before it is judged: it is small.
    @Test func largeFormIsRefused() async throws {
        let scene = try await ServeScene(Self.channels(), tokens: [try #require(AccessToken(server))])
        var client = try RawClient(port: scene.server.port)
        try client.send(request("POST", "/player_api.php", ["Content-Length: 4097"]))
        #expect(try client.response().status == 413)
        for (path, body, status) in [
            ("/player_api.php", "username=a+b&password=\(server)", 200), ("/player_api.php", "password=\(wrong)", 401),
            ("/player_api.php?password=\(server)", "", 200), ("/player_api.php", "%zz=1&=&a&password=\(server)", 200),
            ("/news/live.m3u8", "password=\(server)", 405),
        ] {
            var client = try RawClient(port: scene.server.port)
            try client.send(request("POST", path, ["Content-Length: \(body.utf8.count)"]) + body)
            #expect(try client.response().status == status, "\(path) \(body)")
        }
        await scene.end()
    }

    /// A channel keeps its paths: `live` was no name of a channel before.
    @Test func noChannelLosesItsName() {
        let names = ["Live", "Get", "player_api.php", "Movie", "Series", "Web", "TS"]
        let listed = names.map { ListedChannel(name: $0, sources: [ListedSource(url: "http://h/\($0)")]) }
        #expect(
            ChannelSlug.assign(to: listed).map(\.slug)
                == ["live-2", "get", "player-api-php", "movie", "series", "web-2", "ts-2"])
    }

    @Test func eventsShowNoPassword() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene(Self.channels(origin.url), tokens: [try #require(AccessToken(server))])
        let bus = EventBus()
        let subscription = bus.subscribe()
        let responder = ServeResponder(
            scene.host, tokens: ServerTokens([try #require(AccessToken(server))]),
            streamClients: ClientEvents(bus))
        let number = scene.host.directory.streamNumbers[0]
        let target = try RequestTarget(
            method: .get, uri: "/live/anna/\(server)/\(number).ts", fields: .init(host: "h"))
        let response = await responder.answer(to: target).response()
        guard case .stream(let stream) = response.body else {
            Issue.record("no stream: \(response)")
            return
        }
        _ = await stream.next()
        let events = subscription.dequeue().events.map(\.json).joined()
        #expect(events.contains("/live/…/…/\(number).ts") && !events.contains(server) && !events.contains("anna"))
        let request = XtreamRequest(user: "anna", password: server, .account)
        #expect(!"\(request)".contains(server) && !"\(Route.xtream(request))".contains("anna"))
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}

@Suite struct XtreamNumberTests {
    private static func channels(_ slugs: [String]) -> [ListedChannel] {
        slugs.map { ListedChannel(slug: $0, name: $0, sources: []) }
    }

    /// Numbers depend on neither the order of a list nor on what else is in it, and no two are alike.
    @Test func numbersAreStable() {
        let slugs = (0..<20_000).map { "channel-\($0)" }
        let numbers = XtreamCatalog.streamNumbers(of: Self.channels(slugs))
        #expect(Set(numbers).count == slugs.count && numbers.allSatisfy { XtreamRequest.streamNumbers.contains($0) })
        #expect(XtreamCatalog.streamNumbers(of: Self.channels(slugs.reversed())) == numbers.reversed())
        let alone = XtreamCatalog.streamNumbers(of: Self.channels(["channel-5"]))
        #expect(alone == [numbers[5]] && alone == [1_645_940_666])
    }
}
