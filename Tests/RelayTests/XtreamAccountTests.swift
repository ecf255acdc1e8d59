import ChannelList
import Foundation
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import Fetch
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// A panel that somebody pays for: what each of its documents answers.
private struct Panel {
    let server: HTTPServer
    /// The paths and queries that were asked for.
    private let log: Log

    private final class Log: Sendable { let requests = Mutex<[String]>([]) }

    /// - Parameter answers: the status and the text by `action`, `player` without one, else by path. Others get 404.
    init(_ answers: [String: (status: HTTPStatus, text: String)]) async throws {
        let log = Log()
        self.log = log
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { target in
                let action = target.query.first { $0.name == "action" }?.value
                let key = target.path == "/player_api.php" ? action ?? "player" : target.path
                log.requests.withLock { $0.append(key) }
                guard let answer = answers[key] else { return .now(.notFound(target.path)) }
                return .now(
                    Response(
                        status: answer.status, cacheControl: .noStore, body: .bytes(Array(answer.text.utf8), gzip: nil))
                )
            })
    }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var listURL: String { "\(url)/get.php?username=anna&password=s3cret&type=m3u_plus&output=ts" }
    var requests: [String] { log.requests.withLock { $0 } }

    func end() async { await server.shutdown(within: .zero) }
}

private let active = #"{"user_info":{"auth":1,"status":"Active","max_connections":"1"}}"#
private let streams = #"[{"num":1,"name":"News","stream_id":12,"category_id":"3"}]"#
private let m3u = "#EXTM3U\n#EXTINF:-1,News\nhttp://127.0.0.1:9/anna/s3cret/12\n"

private struct PanelRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let answers: [String: (status: HTTPStatus, text: String)]
    /// The channels, or words of the error.
    let says: [String]
}

private let panelRows = [
    PanelRow(
        testDescription: "all of it",
        answers: [
            "player": (.ok, active), "get_live_streams": (.ok, streams),
            "get_live_categories": (.ok, #"[{"category_id":3,"category_name":"UK"}]"#),
        ], says: ["News UK /live/anna/s3cret/12.ts"]),
    PanelRow(
        testDescription: "no categories",
        answers: [
            "player": (.ok, active), "get_live_streams": (.ok, streams),
            "get_live_categories": (.init(rawValue: 500), ""),
        ],
        says: ["News  /live/anna/s3cret/12.ts"]),
    PanelRow(
        testDescription: "no API, but a list", answers: ["/get.php": (.ok, m3u)], says: ["News  /anna/s3cret/12"]),
    PanelRow(
        testDescription: "a page where the API was",
        answers: ["player": (.ok, "<html>moved</html>"), "/get.php": (.ok, m3u)],
        says: ["News  /anna/s3cret/12"]),
    PanelRow(
        testDescription: "expired",
        answers: [
            "player": (
                .ok,
                #"{"user_info":{"auth":1,"status":"Expired","exp_date":"1767398400","message":"Renew, anna s3cret"}}"#
            ),
            "/get.php": (.ok, m3u),
        ], says: ["is refused: Expired since 2026-01-03: “Renew, … …”"]),
    PanelRow(
        testDescription: "a wrong password, with its status",
        answers: ["player": (.unauthorized, #"{"user_info":{"auth":0}}"#), "/get.php": (.ok, m3u)],
        says: ["is refused: the user name or the password is not known"]),
    PanelRow(
        testDescription: "neither API nor list", answers: ["/get.php": (.forbidden, "")],
        says: ["answers with status 403", "password=…"]),
    PanelRow(
        testDescription: "streams that cannot be had", answers: ["player": (.ok, active)],
        says: ["answers with status 404"]),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct XtreamAccountTests {
    @Test(arguments: panelRows) fileprivate func reads(_ row: PanelRow) async throws {
        let panel = try await Panel(row.answers)
        let document = ListDocument(location: panel.listURL, requests: CurlConfiguration())
        switch await document.list() {
        case .success(let list):
            let said = list.channels.map { channel in
                [
                    channel.name, channel.groups.joined(separator: ";"),
                    channel.sources[0].url.replacing(/http:..[^\/]*/, with: ""),
                ].joined(separator: " ")
            }
            #expect(said == row.says)
            #expect(list.connections == (panel.requests.contains("get_live_streams") ? 1 : nil))
        case .failure(let error):
            for words in row.says { #expect(error.line.contains(words), "\(error.line)") }
            #expect(!error.line.contains("s3cret"), "\(error.line)")
        }
        await panel.end()
    }

    /// From the account to the picture: another liverelay is the provider. It has one connection.
    @Test func watchesAnAccountOfOneConnection() async throws {
        let origin = try await CountingOrigin(.clean)
        let token = "provider-token-01"
        let provider = try await ServeScene(
            [("news", origin.url), ("sport", origin.url)], .init(maxRunning: 1),
            tokens: [try #require(AccessToken(token))])
        let base = "http://127.0.0.1:\(provider.server.port)"
        let scene = try await ServeScene(
            yaml: "xtream: {url: \(base), username: anna, password: \(token)}\nchannels: {own: \(origin.url)}")
        scene.host.start()
        #expect(scene.host.directory.channels.map(\.slug) == ["own", "news", "sport"])
        #expect(scene.host.directory.connections == ["127.0.0.1": 1])
        let list = try scene.text("/playlist.m3u")
        #expect(list.contains("group-title=\"Other\"") && list.contains("/news/live.m3u8"))

        let playlist = try scene.text("/news/live.m3u8")
        #expect(playlist.contains("#EXTINF"), "\(playlist)")
        var client = try RawClient(port: scene.server.port)
        try client.send(request("GET", "/sport/live.m3u8"))
        await scene.reaches("queued", "sport")
        scene.clock.advance(by: ChannelSupervisor.placeTime)
        let refused = try client.response()
        #expect(refused.status == 503, "the only connection has a viewer")
        #expect(refused["X-Liverelay-Reason"] == "The only connection of the account 127.0.0.1 is being watched.")
        #expect(try scene.text("/own/live.m3u8").contains("#EXTINF"), "it needs no connection of the account")

        scene.clock.advance(by: .seconds(14))
        await scene.reaches("lingering", "news")
        // The provider sees the viewer of its stream leave.
        provider.clock.advance(by: .seconds(14))
        let next = try scene.text("/sport/live.m3u8")
        #expect(next.contains("#EXTINF"), "it takes the place of the one without a viewer: \(next)")

        for path in ["/status.json", "/news/status.json", "/sport/status.json", "/playlist.m3u", "/", "/lineup.json"] {
            #expect(!(try scene.text(path)).contains(token), "\(path)")
        }
        await scene.end()
        await provider.end()
        await origin.server.shutdown(within: .zero)
    }
}
