import ArgumentParser
import Foundation
import Playlist
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer
@testable import liverelay

private let server = "server-token-0123"
private let news = "news-token-012345"
private let wrong = "wrong-token-01234"

private func request(_ uri: String, bearer: String? = nil) throws -> RequestTarget {
    try RequestTarget(
        method: .get, uri: uri, fields: .init(host: "h", authorization: bearer.map { "Bearer \($0)" }))
}

private func listed(_ slug: String, tokens: [String]? = nil, number: String? = nil) -> ListedChannel {
    var channel = ListedChannel(
        slug: slug, name: slug, number: number, sources: [ListedSource(url: "http://127.0.0.1:9/x.m3u8")])
    channel.options.tokens = tokens.map { $0.map { Secret($0) } }
    return channel
}

private func guarded(_ scene: ServeScene, _ tokens: [AccessToken]) -> ServeResponder {
    ServeResponder(scene.host, tokens: ServerTokens(tokens))
}

/// A request, and its status on a server with a token and on one whose channel `news` alone has tokens.
private let rows: [(uri: String, bearer: String?, withToken: Int, withoutToken: Int)] = [
    // What is open.
    ("/healthz", nil, 200, 200), ("/readyz", nil, 200, 200), ("/web/page.css", nil, 200, 200),
    ("/news/web/page.css", nil, 200, 200), ("/nobody/web/page.css", nil, 200, 200),
    // The list.
    ("/", nil, 401, 200), ("/playlist.m3u", nil, 401, 200), ("/status.json", nil, 401, 200),
    ("/web/overview.json", nil, 401, 200), ("/web/channels.json", nil, 401, 200), ("/lineup.json", nil, 401, 200),
    ("/discover.json", nil, 401, 200), ("/nothing/at/all", nil, 401, 401), ("//nothing", nil, 401, 401),
    // What names every channel.
    ("/metrics", nil, 401, 401), ("/metrics?token=\(news)", nil, 401, 401), ("/metrics?token=\(server)", nil, 404, 401),
    ("/epg.xml", nil, 401, 401), ("/epg.xml.gz", nil, 401, 401), ("/epg.xml?token=\(news)", nil, 401, 401),
    ("/epg.xml.gz", news, 401, 401), ("/epg.xml?token=\(server)", nil, 404, 401), ("/epg.xml", server, 404, 401),
    // The lists.
    ("/?token=\(server)", nil, 200, 200), ("/?token=\(wrong)", nil, 401, 200), ("/?token=\(news)", nil, 200, 200),
    ("/", server, 200, 200), ("/", wrong, 401, 200), ("/?token=\(server)", wrong, 401, 200),
    ("/status.json?token=\(news)", nil, 200, 200),
    // Channels. A channel without viewers has a status and a page.
    ("/news/status.json", nil, 401, 401), ("/news/", nil, 401, 401), ("/news", nil, 401, 401),
    ("/sport/status.json", nil, 401, 200), ("/sport", nil, 401, 308), ("/nobody/status.json", nil, 401, 401),
    ("/nobody", nil, 401, 401), ("/nobody.ts", nil, 401, 401),
    ("/news/status.json?token=\(news)", nil, 200, 200), ("/sport/status.json?token=\(news)", nil, 401, 200),
    ("/nobody/status.json?token=\(news)", nil, 401, 401), ("/nobody/status.json?token=\(server)", nil, 404, 401),
    ("/news/status.json", news, 200, 200), ("/news/status.json?token=\(wrong)", nil, 401, 401),
    ("/news/status.json?token=\(news)x", nil, 401, 401), ("/news/status.json?token=", nil, 401, 401),
    ("/news/status.json?Token=\(news)", nil, 401, 401),
    ("/news/status.json?token=\(news)&token=\(wrong)", nil, 200, 200),
    // Streams by number, and what has a token of its own.
    ("/auto/v7", nil, 401, 401), ("/auto/v9", nil, 401, 401), ("/auto/v9?token=\(server)", nil, 404, 401),
    ("/auto/v9?token=\(news)", nil, 401, 401), ("/api/channels", nil, 404, 404),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct AccessTests {
    private static let channels = [listed("news", tokens: [news], number: "7"), listed("sport")]

    @Test func tokensOpenWhatIsTheirs() async throws {
        let scene = try await ServeScene(Self.channels)
        let (closed, open) = (guarded(scene, [try #require(AccessToken(server))]), guarded(scene, []))
        for row in rows {
            let target = try request(row.uri, bearer: row.bearer)
            for (responder, status) in [(closed, row.withToken), (open, row.withoutToken)] {
                let response = await responder.answer(to: target).response()
                #expect(response.status.rawValue == status, "\(row.uri), \(row.bearer ?? "no bearer")")
            }
        }
        await scene.end()
    }

    /// People who open a page get a field for the token, programs a line of text.
    @Test func pagesAskForTheToken() async throws {
        let scene = try await ServeScene(Self.channels)
        let closed = guarded(scene, [try #require(AccessToken(server))])
        for (uri, says) in [
            ("/", "name=\"token\""), ("/news/", "name=\"token\""), ("/nobody/", "name=\"token\""),
            ("/?token=\(wrong)", "role=\"alert\">This token opens nothing"),
            ("/playlist.m3u", "A token is needed here"),
        ] {
            let response = await closed.answer(to: try request(uri)).response()
            guard case .bytes(let bytes, _) = response.body else { throw CancellationError() }
            #expect(response.status == .unauthorized && String(decoding: bytes, as: UTF8.self).contains(says), "\(uri)")
        }
        await scene.end()
    }

    /// Whatever is asked for without a right token, the answer has the same bytes.
    @Test func refusalsTellNothing() async throws {
        let scene = try await ServeScene(Self.channels, tokens: [try #require(AccessToken(server))])
        let first = try scene.get("/news/live.m3u8")
        #expect(first.status == 401 && first["WWW-Authenticate"] == "Bearer" && first["Cache-Control"] == "no-store")
        for path in ["/nobody/live.m3u8", "/news/seg-1-00.m4s", "/news/live.m3u8?token=\(wrong)", "/a/b/c", "/news"] {
            let other = try scene.get(path)
            #expect(other.status == 401 && other.body == first.body, "\(path)")
            #expect(
                other.fields.filter { $0.name != "Date" }.map(\.value)
                    == first.fields.filter { $0.name != "Date" }.map(\.value))
        }
        #expect(try scene.get("/news/live.ts").body.isEmpty, "some clients would play a body")
        #expect(scene.host.overview.startCount == 0, "nothing starts")
        await scene.end()
    }

    @Test func listsShowWhatTheTokenOpens() async throws {
        let scene = try await ServeScene(Self.channels, tokens: [try #require(AccessToken(server))])
        let all = try scene.get("/playlist.m3u?token=\(server)")
        let text = String(decoding: all.body, as: UTF8.self)
        #expect(
            text.contains("/news/live.m3u8?token=\(server)\n") && text.contains("/sport/live.m3u8?token=\(server)\n"))
        #expect(all["Cache-Control"] == "private, max-age=0")
        let some = try scene.text("/playlist.m3u?token=\(news)")
        #expect(some.contains("/news/live.m3u8?token=\(news)\n") && !some.contains("sport") && !some.contains(server))
        let lineup = try scene.text("/lineup.json?token=\(news)")
        #expect(lineup.contains("/news/live.ts?token=\(news)\"") && !lineup.contains("sport"))
        #expect(try scene.text("/discover.json?token=\(news)").contains("/lineup.json?token=\(news)\""))
        for path in ["/status.json", "/web/overview.json", "/web/channels.json"] {
            #expect(!(try scene.text("\(path)?token=\(news)").contains("sport")), "\(path)")
        }
        let redirect = try scene.get("/news?token=\(news)")
        #expect(redirect.status == 308 && redirect["Location"] == "news/?token=\(news)")
        #expect(try scene.api("GET", "/playlist.m3u", token: server).body.count > 0)
        let clean = try scene.api("GET", "/playlist.m3u", token: server)
        #expect(!String(decoding: clean.body, as: UTF8.self).contains("token"), "a bearer's URLs stay clean")
        let page = try scene.get("/?token=\(server)")
        #expect(page["Cache-Control"] == "private, max-age=0")
        #expect(try scene.api("GET", "/web/page.css", token: server)["Cache-Control"] == "private, max-age=0")
        await scene.end()
    }

    @Test func aPlayingChannelCarriesTheToken() async throws {
        let origin = try await CountingOrigin(.clean)
        var channel = listed("news", tokens: [news, "other-token-01234"])
        channel.sources = [ListedSource(url: origin.url)]
        let scene = try await ServeScene([channel])
        let live = try scene.get("/news/live.m3u8?token=\(news)")
        #expect(live.status == 200 && live["Cache-Control"]?.hasPrefix("private, max-age=") == true)
        let playlist = try MediaPlaylistParser.parse(live.body)
        let segment = try #require(playlist.segments.first)
        #expect(segment.uri.hasSuffix("?token=\(news)") && segment.map?.uri.hasSuffix("token=\(news)") == true)
        let media = try scene.get("/news/\(segment.uri)")
        #expect(media.status == 200 && media["Cache-Control"] == "max-age=31536000, immutable", "the bytes are shared")
        let bare = segment.uri.split(separator: "?")[0]
        #expect(try scene.get("/news/\(bare)").status == 401)
        let bearer = try scene.api("GET", "/news/\(bare)", token: news)
        #expect(bearer.body == media.body && bearer["ETag"] == media["ETag"])
        #expect(
            bearer["Cache-Control"] == "private, max-age=31536000, immutable", "a URL without a token stays private")
        for name in ["master.m3u8", "dvr.m3u8", "dvr-master.m3u8?last=60", "ts/live.m3u8", "ts/master.m3u8"] {
            let text = try scene.text("/news/\(name)\(name.contains("?") ? "&" : "?")token=other-token-01234")
            let uris = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(!uris.isEmpty && uris.allSatisfy { $0.hasSuffix("token=other-token-01234") }, "\(name)")
            #expect(!text.contains(news), "\(name)")
        }
        let clean = String(decoding: try scene.api("GET", "/news/live.m3u8", token: news).body, as: UTF8.self)
        #expect(clean.contains("\nseg-") && !clean.contains("token"))
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}

// MARK: - Tokens of a configuration

/// A configuration, whether a request puts `news` then, the configuration that is read again, and the tokens that open
/// `news` and do not. Empty: no token.
private let changes: [(when: String, before: String, isPut: Bool, after: String, opened: [String], closed: [String])] =
    [
        (
            "without a request", "channels: {news: {url: http://h/1, token: \(news)}}", false,
            "channels: {news: {url: http://h/1, token: \(server)}}", [server], [news, ""]
        ),
        (
            "a token is replaced after a PUT", "channels: {news: {url: http://h/1, token: \(news)}}", true,
            "channels: {news: {url: http://h/1, token: \(server)}}", [server], [news, ""]
        ),
        (
            "one of two is revoked", "channels: {news: {url: http://h/1, tokens: [\(news), \(server)]}}", true,
            "channels: {news: {url: http://h/1, tokens: [\(server)]}}", [server], [news, ""]
        ),
        (
            "a channel that was put first is listed with a token", "channels: {more: http://h/2}", true,
            "channels: {more: http://h/2, news: {url: http://h/1, token: \(news)}}", [news], [server, ""]
        ),
        (
            "a channel of requests alone gets the token of defaults", "channels: {more: http://h/2}", true,
            "defaults: {token: \(news)}\nchannels: {more: http://h/2}", [news], [server, ""]
        ),
        (
            "the token of defaults is replaced", "defaults: {token: \(news)}\nchannels: {more: http://h/2}", true,
            "defaults: {token: \(server)}\nchannels: {more: http://h/2}", [server], [news, ""]
        ),
        (
            "a channel leaves the file and stays as it was put",
            "channels: {news: {url: http://h/1, token: \(news)}, more: http://h/2}", true,
            "defaults: {token: \(server)}\nchannels: {more: http://h/2}", [server], [news, ""]
        ),
        (
            "a token is no longer needed", "channels: {news: {url: http://h/1, token: \(news)}}", true,
            "channels: {news: http://h/1}", [news, ""], []
        ),
    ]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct AccessReloadTests {
    @Test(arguments: changes.indices) func theFileSaysWhatOpens(_ index: Int) async throws {
        let row = changes[index]
        let scene = try await ServeScene(yaml: row.before)
        if row.isPut {
            #expect(try scene.api("PUT", "/api/channels/news", #"{"url":"http://h/3"}"#).status < 300)
        }
        try await scene.reload(row.after)
        for (tokens, status) in [(row.opened, 200), (row.closed, 401)] {
            for token in tokens {
                let answer = try scene.get("/news/status.json\(token.isEmpty ? "" : "?token=\(token)")").status
                #expect(answer == status, "\(row.when): \(token)")
            }
        }
        if row.isPut { #expect(scene.host.directory["news"]?.sources.map(\.url) == ["http://h/3"], "\(row.when)") }
        await scene.end()
    }
}

// MARK: - Files of tokens

private let files: [(when: String, text: String, mode: Int, says: String?)] = [
    ("one", "\(server)\n", 0o600, nil),
    ("comments and blanks", "# friends\n\n  \(server) \r\n", 0o640, nil),
    ("everybody may read it", "\(server)\n", 0o644, "can be read by everybody"),
    ("empty", "", 0o600, "has no token"), ("only comments", "# x\n", 0o600, "has no token"),
    ("a short one", "\(server)\nshort\n", 0o600, "has no token in line 2"),
    ("two words", "\(server) \(news)\n", 0o600, "has no token in line 1"),
]

@Test(arguments: files) func tokenFile(when: String, text: String, mode: Int, says: String?) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    do throws(RelayError) {
        let tokens = try AccessToken.read(fileAt: path)
        #expect(says == nil && tokens == [AccessToken(server)], "\(when)")
    } catch {
        #expect(error.exit == .badCredentials && says.map { error.line.contains($0) } == true, "\(when): \(error.line)")
        #expect(!error.line.contains(server) && !error.line.contains("short"), "a message shows no token")
    }
}

@Test func missingTokenFile() {
    #expect(
        throws: RelayError(
            .badCredentials, "The token file /nowhere/x cannot be read: No such file or directory",
            advice: "Check its name and permissions")
    ) {
        try AccessToken.read(fileAt: "/nowhere/x")
    }
}

@Test(arguments: [["--token", "short-secret"], ["--token=sécret-with-é-12345"], ["--token-file", ""]])
func badAccessOptions(arguments: [String]) throws {
    do {
        _ = try LiveRelay.parseAsRoot(["relay", "http://h/"] + arguments)
        Issue.record("accepted")
    } catch {
        let text = UsageText.redacted(LiveRelay.fullMessage(for: error), words: arguments)
        #expect(LiveRelay.exitCode(for: error).rawValue == 64)
        #expect(!text.contains("short-secret") && !text.contains("sécret"))
    }
}

/// A certificate needs its key, and a program that can use it.
@Test(arguments: [["--tls-cert", "c.pem"], ["--tls-key", "k.pem"], ["--tls-cert", "c.pem", "--tls-key", "k.pem"]])
func certificateOptions(arguments: [String]) throws {
    if ServerCredentials.hasTLS, arguments.count == 4 { return }
    do {
        _ = try LiveRelay.parseAsRoot(["serve", "x.m3u"] + arguments)
        Issue.record("accepted")
    } catch {
        let message = LiveRelay.message(for: error)
        #expect(LiveRelay.exitCode(for: error).rawValue == 64)
        #expect(message.split(separator: "\n").count == 1 && !message.isEmpty)
        #expect(message.contains("--traits TLS") != ServerCredentials.hasTLS, "\(message)")
    }
}
