import Playlist
import Testing

@testable import Tracker

// Who is shown which header: situations of tokenized upstreams, of CDNs behind portals, of presigned storage.

/// What the server at the end of `path` was shown.
private func headersShown(
    _ configuration: CurlConfiguration, to url: String, by origin: LoopbackServer, at end: LoopbackServer
) async throws -> [String: String] {
    let upstream = try upstream(origin, configuration)
    for purpose in [FetchRequest.Purpose.mediaPlaylist, .segment, .key, .map] {
        _ = try await upstream.fetch(FetchRequest(purpose, url: url)).get()
    }
    let shown = end.requests.map(\.headers)
    #expect(shown.count == 4)
    #expect(shown.allSatisfy { $0 == shown[0] }, "the same for playlists, segments and keys")
    return shown[0]
}

private let given = loopbackConfiguration(
    headers: [
        ("Referer", "https://portal.example/"), ("X-Token", "abc"), ("Authorization", "Bearer secret"), ("X-Empty", ""),
    ])

@Test func theUpstreamsOwnOriginIsShownEverything() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let shown = try await headersShown(given, to: origin.url + "/1", by: origin, at: origin)
    #expect(shown["referer"] == "https://portal.example/")
    #expect(shown["x-token"] == "abc")
    #expect(shown["x-empty"] == "")
    #expect(shown["authorization"] == "Bearer secret")
    #expect(shown["user-agent"] == "liverelay")
}

@Test func anotherOriginNamedByThePlaylistIsShownNoCredential() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let storage = try LoopbackServer { _ in [.answer()] }
    let shown = try await headersShown(given, to: storage.url + "/1", by: origin, at: storage)
    #expect(shown["x-token"] == "abc")
    #expect(shown["authorization"] == nil)
}

@Test func aRedirectToAnotherPortDropsTheCredentialOnly() async throws {
    let storage = try LoopbackServer { _ in [.answer()] }
    let target = storage.url + "/presigned"
    let origin = try LoopbackServer { _ in [.redirect(to: target)] }
    let shown = try await headersShown(given, to: origin.url + "/1", by: origin, at: storage)
    #expect(shown["referer"] == "https://portal.example/")
    #expect(shown["x-token"] == "abc")
    #expect(shown["authorization"] == nil)
    #expect(origin.requests.first?.headers["authorization"] == "Bearer secret")
}

private let keys = loopbackConfiguration(headers: [
    ("X-Api-Key", "k3y"), ("Authorization", "Bearer x"), ("X-Token", "t"),
])

@Test func aKeyIsShownToItsOriginAlone() async throws {
    let foreign = try LoopbackServer { _ in [.answer(body: [1])] }
    let target = foreign.url
    let origin = try LoopbackServer { request in
        switch request.target {
        case "/away": return [.redirect(to: "/further")]
        case "/further": return [.redirect(to: target + "/end")]
        case "/around": return [.redirect(to: "around")]
        case "/file": return [.redirect(to: "file:///etc/hostname")]
        default: return [.answer(302)]
        }
    }
    let upstream = try upstream(origin, keys)
    func fetch(_ url: String) async -> FetchOutcome { await upstream.fetch(FetchRequest(.segment, url: url)) }
    let answer = try await fetch(origin.url + "/away").get()
    #expect(answer.finalURL == target + "/end" && answer.body == [1])
    _ = try await fetch(target + "/named").get()
    #expect(origin.requests.map { $0.headers["x-api-key"] } == ["k3y", "k3y"])
    for name in ["x-api-key", "authorization"] { #expect(foreign.requests.map { $0.headers[name] } == [nil, nil]) }
    #expect((origin.requests + foreign.requests).allSatisfy { $0.headers["x-token"] == "t" }, "an ordinary header")
    #expect(try await fetch(origin.url + "/nowhere").get().status == 302)
    for (path, reason) in [("/around", FetchError.Reason.tooManyRedirects), ("/file", .unsupportedScheme)] {
        guard case .failure(let error) = await fetch(origin.url + path) else {
            Issue.record("\(path)")
            continue
        }
        #expect(error.reason == reason)
    }
    #expect(origin.requests.count == 2 + 1 + CurlJob.maxRedirects + 1 + 1)
}

@Test func aRedirectWithinTheOriginKeepsTheCredential() async throws {
    let origin = try LoopbackServer { $0.target == "/1" ? [.redirect(to: "/2")] : [.answer()] }
    let upstream = try upstream(origin, given)
    let answer = try await upstream.fetch(FetchRequest(.segment, url: origin.url + "/1")).get()
    #expect(answer.finalURL == origin.url + "/2")
    #expect(answer.body.isEmpty, "the redirect's own body is not the answer's")
    #expect(origin.requests.map { $0.headers["authorization"] } == ["Bearer secret", "Bearer secret"])
}

@Test(arguments: [false, true])
func cookiesStayWithTheirHost(asHeader: Bool) async throws {
    let foreign = try LoopbackServer { _ in [.answer()] }
    let target = foreign.url.replacing("127.0.0.1", with: "localhost")
    let origin = try LoopbackServer { $0.target == "/away" ? [.redirect(to: target)] : [.answer()] }
    let pair = "session=1; region=de"
    let configuration =
        asHeader
        ? loopbackConfiguration(headers: [("Cookie", pair)]) : loopbackConfiguration(cookie: pair)
    let upstream = try upstream(origin, configuration)
    for path in ["/", "/away"] { _ = try await upstream.fetch(FetchRequest(.segment, url: origin.url + path)).get() }
    let shown = origin.requests.map { Set(($0.headers["cookie"] ?? "").split(separator: "; ")) }
    #expect(shown == [["session=1", "region=de"], ["session=1", "region=de"]])
    #expect(foreign.requests.count == 1)
    #expect(foreign.requests.first?.headers["cookie"] == nil)
}

@Test func theUpstreamsCookiesAreKeptPerChannel() async throws {
    let origin = try LoopbackServer { $0.target == "/login" ? [.answer(200, ["Set-Cookie: session=2"])] : [.answer()] }
    let channel = try upstream(origin, loopbackConfiguration(cookie: "session=1"))
    let neighbour = try upstream(origin)
    for path in ["/before", "/login", "/after"] {
        _ = try await channel.fetch(FetchRequest(.segment, url: origin.url + path)).get()
    }
    _ = try await neighbour.fetch(FetchRequest(.segment, url: origin.url)).get()
    #expect(origin.requests.map { $0.headers["cookie"] } == ["session=1", "session=1", "session=2", nil])
}

/// In the name of whom an address is asked, when the channel's is `http://me:secret@h/` and its backup's
/// `http://you:other@b/`.
private let loginRows: [(when: String, address: String, user: String?, password: String?)] = [
    ("its own", "http://me:secret@h/a", "me", "secret"), ("the upstream's origin", "http://h:80/a", "me", "secret"),
    ("another port", "http://h:81/a", nil, nil), ("TLS put on", "https://h/a", nil, nil),
    ("another host", "http://cdn/a", nil, nil), ("the backup's", "http://b/a", "you", "other"),
    ("another user of the same host", "http://she@h/a", "she", ""),
    ("another host that the playlist names with a user", "http://she:hers@cdn/a", "she", "hers"),
    ("percent-encoded", "http://m%40e:s%3Aecret@cdn/a", "m@e", "s:ecret"),
]

@Test(arguments: loginRows)
func aPasswordIsForItsOrigin(when: String, address: String, user: String?, password: String?) throws {
    let backup = try HTTPURL("http://you:other@b/list.m3u8")
    let headers = try RequestHeaders(
        loopbackConfiguration(), for: HTTPURL("http://me:secret@h/main.m3u8"), backups: [backup])
    let login = headers.login(for: try HTTPURL(address))
    #expect(login?.user == user && login?.password == password, "\(when)")
}

/// printf 'me:secret' | base64
private let basic = "Basic bWU6c2VjcmV0"

@Test func aPasswordStaysWithItsOriginOverRedirects() async throws {
    let foreign = try LoopbackServer { _ in [.answer()] }
    let target = foreign.url
    let origin = try LoopbackServer { request in
        let here = "http://\(request.headers["host"] ?? "")"
        switch request.target {
        case "/main.m3u8": return [.redirect(to: here + "/moved/main.m3u8")]
        case "/away": return [.redirect(to: target)]
        default: return [.answer()]
        }
    }
    let named = origin.url.replacing("http://", with: "http://me:secret@")
    let upstream = try CurlFetcher(upstream: named + "/main.m3u8", configuration: loopbackConfiguration())
    let answer = try await upstream.fetch(FetchRequest(.mediaPlaylist, url: named + "/main.m3u8")).get()
    #expect(answer.finalURL == named + "/moved/main.m3u8", "its relative addresses are asked in the same name")
    for url in [origin.url + "/absolute.ts", named + "/relative.ts", named + "/away"] {
        _ = try await upstream.fetch(FetchRequest(.segment, url: url)).get()
    }
    #expect(origin.requests.count == 5)
    #expect(origin.requests.allSatisfy { $0.headers["authorization"] == basic }, "\(origin.requests)")
    #expect(foreign.requests.map { $0.headers["authorization"] } == [nil])
}

@Test func whoGivesACredentialAndAPasswordMeansTheCredential() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let named = origin.url.replacing("http://", with: "http://me:secret@")
    let upstream = try CurlFetcher(upstream: named, configuration: given)
    _ = try await upstream.fetch(FetchRequest(.segment, url: named)).get()
    #expect(origin.requests.first?.headers["authorization"] == "Bearer secret")
}

struct OriginRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let address: String
    let isShown: Bool
}

private let originRows = [
    OriginRow(when: "the same origin", address: "https://cdn.example/seg", isShown: true),
    OriginRow(when: "in other letters, with its port", address: "HTTPS://CDN.example:443/seg", isShown: true),
    OriginRow(when: "TLS taken off", address: "http://cdn.example/seg", isShown: false),
    OriginRow(when: "another port", address: "https://cdn.example:8443/seg", isShown: false),
    OriginRow(when: "a subdomain", address: "https://edge.cdn.example/seg", isShown: false),
    OriginRow(when: "a host that begins alike", address: "https://cdn.example.net/seg", isShown: false),
    OriginRow(when: "its name as a user name", address: "https://cdn.example@evil.example/", isShown: false),
    OriginRow(when: "its name after a fragment", address: "https://evil.example#@cdn.example/", isShown: false),
]

@Test(arguments: originRows)
func credentialsAreForOneOrigin(row: OriginRow) throws {
    let configuration = loopbackConfiguration(headers: [("authorization", "x"), ("Origin", "y")])
    let headers = try RequestHeaders(configuration, for: HTTPURL("https://cdn.example/main.m3u8"))
    let lines = headers.lines(for: try HTTPURL(row.address))
    #expect(lines.contains("authorization: x") == row.isShown, "\(row.when)")
    #expect(lines.contains("Origin: y"), "\(row.when)")
}

@Test(arguments: [
    loopbackConfiguration(headers: [("X", "a\r\nY: b")]), loopbackConfiguration(headers: [("X:", "a")]),
    loopbackConfiguration(headers: [("", "a")]), loopbackConfiguration(headers: [("X", "a\nb")]),
    loopbackConfiguration(headers: [("Cookie", "a=b\n")]), loopbackConfiguration(cookie: "novalue"),
    loopbackConfiguration(cookie: "a=b\tc"), loopbackConfiguration(cookie: "=b"),
])
func aHeaderThatBreaksTheRequestIsRefused(configuration: CurlConfiguration) {
    #expect(throws: FetchError.self) { try CurlFetcher(upstream: "http://h/", configuration: configuration) }
}

private let addressRows: [(given: String, asked: String?, reason: FetchError.Reason?)] = [
    ("http://h/a?b=c%2Fd&e", "http://h/a?b=c%2Fd&e", nil),
    ("http://h/a b.ts", "http://h/a%20b.ts", nil),
    ("http://h/ä.ts", "http://h/%c3%a4.ts", nil),
    ("http://h/a/../b/./c", "http://h/a/../b/./c", nil),
    ("http://u:p@h:8080/x", "http://h:8080/x", nil),
    ("http://[::1]:81/x", "http://[::1]:81/x", nil),
    ("file:///etc/hostname", nil, .unsupportedScheme),
    ("ftp://h/x", nil, .unsupportedScheme),
    ("rtmp://h/x", nil, .unsupportedScheme),
    ("data:text/plain,x", nil, .unsupportedScheme),
    ("/relative", nil, .other),
    ("", nil, .other),
    ("http://", nil, .other),
    ("http://h\r\nX: y/", nil, .other),
    ("http://h:99999/", nil, .other),
]

@Test(arguments: addressRows)
func addressesAreAskedAsWritten(given: String, asked: String?, reason: FetchError.Reason?) {
    let address = Result { () throws(FetchError) in try HTTPURL(given) }
    switch address {
    case .success(let address): #expect(address.text == asked)
    case .failure(let error): #expect(error.reason == reason, "\(error)")
    }
}

@Test func aFoldedHeaderIsOneField() {
    var head = ResponseHead()
    for line in ["HTTP/1.1 200 OK\r\n", "A: b\r\n", "\t c \r\n", "D:\r\n", "no colon\r\n", "\r\n"] {
        let isBounded = head.receive(line)
        #expect(isBounded)
    }
    #expect(head.headers == [.init(name: "A", value: "b c"), .init(name: "D", value: "")])
}
