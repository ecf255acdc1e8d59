import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support

// Which hosts receive which headers: tokenized upstreams, CDNs of a portal, presigned storage.

/// Returns the headers that the server `end` received, after checking that they are equal for all purposes.
private func headersReceived(
    _ configuration: CurlConfiguration, to url: String, by origin: LoopbackServer, at end: LoopbackServer
) async throws -> [String: String] {
    let upstream = try upstream(origin, configuration)
    for purpose in [FetchRequest.Purpose.mediaPlaylist, .segment, .key, .map] {
        _ = try await upstream.fetch(FetchRequest(purpose, url: url)).get()
    }
    // Media is asked for without an encoding.
    let received = end.requests.map { $0.headers.filter { $0.key != "accept-encoding" } }
    #expect(received.count == 4)
    #expect(received.allSatisfy { $0 == received[0] }, "the same for playlists, segments and keys")
    return received[0]
}

private let configured = loopbackConfiguration(
    headers: [
        ("Referer", "https://portal.example/"), ("X-Token", "abc"), ("Authorization", "Bearer secret"), ("X-Empty", ""),
    ])

@Test func upstreamsOriginReceivesAllHeaders() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let received = try await headersReceived(configured, to: origin.url + "/1", by: origin, at: origin)
    #expect(received["referer"] == "https://portal.example/")
    #expect(received["x-token"] == "abc")
    #expect(received["x-empty"] == "")
    #expect(received["authorization"] == "Bearer secret")
    #expect(received["user-agent"] == "liverelay")
}

@Test func anotherOriginReceivesNoCredential() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let storage = try LoopbackServer { _ in [.answer()] }
    let received = try await headersReceived(configured, to: storage.url + "/1", by: origin, at: storage)
    #expect(received["x-token"] == "abc")
    #expect(received["authorization"] == nil)
}

@Test func redirectToAnotherPortDropsOnlyTheCredential() async throws {
    let storage = try LoopbackServer { _ in [.answer()] }
    let target = storage.url + "/presigned"
    let origin = try LoopbackServer { _ in [.redirect(to: target)] }
    let received = try await headersReceived(configured, to: origin.url + "/1", by: origin, at: storage)
    #expect(received["referer"] == "https://portal.example/")
    #expect(received["x-token"] == "abc")
    #expect(received["authorization"] == nil)
    #expect(origin.requests.first?.headers["authorization"] == "Bearer secret")
}

private let keys = loopbackConfiguration(headers: [
    ("X-Api-Key", "k3y"), ("Authorization", "Bearer x"), ("X-Token", "t"),
])

@Test func apiKeyIsSentToItsOriginOnly() async throws {
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

@Test func redirectWithinTheOriginKeepsTheCredential() async throws {
    let origin = try LoopbackServer { $0.target == "/1" ? [.redirect(to: "/2")] : [.answer()] }
    let upstream = try upstream(origin, configured)
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
    let received = origin.requests.map { Set(($0.headers["cookie"] ?? "").split(separator: "; ")) }
    #expect(received == [["session=1", "region=de"], ["session=1", "region=de"]])
    #expect(foreign.requests.count == 1)
    #expect(foreign.requests.first?.headers["cookie"] == nil)
}

@Test func cookiesAreKeptPerChannel() async throws {
    let origin = try LoopbackServer { $0.target == "/login" ? [.answer(200, ["Set-Cookie: session=2"])] : [.answer()] }
    let channel = try upstream(origin, loopbackConfiguration(cookie: "session=1"))
    let otherChannel = try upstream(origin)
    for path in ["/before", "/login", "/after"] {
        _ = try await channel.fetch(FetchRequest(.segment, url: origin.url + path)).get()
    }
    _ = try await otherChannel.fetch(FetchRequest(.segment, url: origin.url)).get()
    #expect(origin.requests.map { $0.headers["cookie"] } == ["session=1", "session=1", "session=2", nil])
}

/// The user information for a URL, if the channel's URL is `http://me:secret@h/` and its backup's is
/// `http://you:other@b/`.
private let userInfoRows: [(when: String, url: String, user: String?, password: String?)] = [
    ("its own URL", "http://me:secret@h/a", "me", "secret"), ("the upstream's origin", "http://h:80/a", "me", "secret"),
    ("another port", "http://h:81/a", nil, nil), ("another scheme", "https://h/a", nil, nil),
    ("another host", "http://cdn/a", nil, nil), ("the backup's origin", "http://b/a", "you", "other"),
    ("another user of the same host", "http://she@h/a", "she", ""),
    ("another host that the playlist names with a user", "http://she:hers@cdn/a", "she", "hers"),
    ("percent-encoded", "http://m%40e:s%3Aecret@cdn/a", "m@e", "s:ecret"),
]

@Test(arguments: userInfoRows)
func userInfoBelongsToItsOrigin(when: String, url: String, user: String?, password: String?) throws {
    let backup = try HTTPURL("http://you:other@b/list.m3u8")
    let headers = try RequestHeaders(
        loopbackConfiguration(), for: HTTPURL("http://me:secret@h/main.m3u8"), backups: [backup])
    let userInfo = headers.userInfo(for: try HTTPURL(url))
    #expect(userInfo?.user == user && userInfo?.password.value == password, "\(when)")
}

/// printf 'me:secret' | base64
private let basic = "Basic bWU6c2VjcmV0"

@Test func userInfoIsKeptOnlyForItsOriginAcrossRedirects() async throws {
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
    #expect(answer.finalURL == named + "/moved/main.m3u8", "relative URIs are requested with the same user information")
    for url in [origin.url + "/absolute.ts", named + "/relative.ts", named + "/away"] {
        _ = try await upstream.fetch(FetchRequest(.segment, url: url)).get()
    }
    #expect(origin.requests.count == 5)
    #expect(origin.requests.allSatisfy { $0.headers["authorization"] == basic }, "\(origin.requests)")
    #expect(foreign.requests.map { $0.headers["authorization"] } == [nil])
}

@Test func authorizationHeaderReplacesUserInfo() async throws {
    let origin = try LoopbackServer { _ in [.answer()] }
    let named = origin.url.replacing("http://", with: "http://me:secret@")
    let upstream = try CurlFetcher(upstream: named, configuration: configured)
    _ = try await upstream.fetch(FetchRequest(.segment, url: named)).get()
    #expect(origin.requests.first?.headers["authorization"] == "Bearer secret")
}

struct OriginRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let url: String
    let isSent: Bool
}

private let originRows = [
    OriginRow(when: "the same origin", url: "https://cdn.example/seg", isSent: true),
    OriginRow(when: "in upper case, with its port", url: "HTTPS://CDN.example:443/seg", isSent: true),
    OriginRow(when: "without TLS", url: "http://cdn.example/seg", isSent: false),
    OriginRow(when: "another port", url: "https://cdn.example:8443/seg", isSent: false),
    OriginRow(when: "a subdomain", url: "https://edge.cdn.example/seg", isSent: false),
    OriginRow(when: "a host with the same beginning", url: "https://cdn.example.net/seg", isSent: false),
    OriginRow(when: "the host as a user name", url: "https://cdn.example@evil.example/", isSent: false),
    OriginRow(when: "the host in a fragment", url: "https://evil.example#@cdn.example/", isSent: false),
]

@Test(arguments: originRows)
func credentialsAreForOneOrigin(row: OriginRow) throws {
    let configuration = loopbackConfiguration(headers: [("authorization", "x"), ("Origin", "y")])
    let headers = try RequestHeaders(configuration, for: HTTPURL("https://cdn.example/main.m3u8"))
    let lines = headers.lines(for: try HTTPURL(row.url))
    #expect(lines.contains("authorization: x") == row.isSent, "\(row.when)")
    #expect(lines.contains("Origin: y"), "\(row.when)")
}

@Test(arguments: [
    loopbackConfiguration(headers: [("X", "a\r\nY: b")]), loopbackConfiguration(headers: [("X:", "a")]),
    loopbackConfiguration(headers: [("", "a")]), loopbackConfiguration(headers: [("X", "a\nb")]),
    loopbackConfiguration(headers: [("Cookie", "a=b\n")]), loopbackConfiguration(cookie: "novalue"),
    loopbackConfiguration(cookie: "a=b\tc"), loopbackConfiguration(cookie: "=b"),
])
func invalidHeaderIsRefused(configuration: CurlConfiguration) {
    #expect(throws: FetchError.self) { try CurlFetcher(upstream: "http://h/", configuration: configuration) }
}

private let urlRows: [(text: String, requested: String?, reason: FetchError.Reason?)] = [
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

@Test(arguments: urlRows)
func urlIsRequestedAsWritten(text: String, requested: String?, reason: FetchError.Reason?) {
    let url = Result { () throws(FetchError) in try HTTPURL(text) }
    switch url {
    case .success(let url): #expect(url.text == requested)
    case .failure(let error): #expect(error.reason == reason, "\(error)")
    }
}

@Test func foldedHeaderIsOneField() {
    var head = ResponseHead()
    for line in ["HTTP/1.1 200 OK\r\n", "A: b\r\n", "\t c \r\n", "D:\r\n", "no colon\r\n", "\r\n"] {
        let isBounded = head.receive(line)
        #expect(isBounded)
    }
    #expect(head.headers == [.init(name: "A", value: "b c"), .init(name: "D", value: "")])
}

@Test func eachSourceIsRequestedInItsOwnWay() async throws {
    let server = try LoopbackServer { _ in [.answer(body: [1])] }
    let own = loopbackConfiguration(headers: [("X-Own", "backup")])
    let fetcher = try SourceFetcher(
        upstream: server.url + "/0", configuration: loopbackConfiguration(headers: [("X-Own", "primary")]),
        backups: [server.url + "/1", server.url + "/2"], backupConfigurations: [own])
    for source in 0..<3 {
        var request = FetchRequest(.segment, url: server.url + "/\(source)")
        request.source = source
        _ = try await fetcher.fetch(request).get()
    }
    #expect(server.requests.map { $0.headers["x-own"] } == ["primary", "backup", "primary"])
}

/// Answers as a server with Digest authentication does, and one with both kinds.
private func guarded(by challenges: [String]) throws -> LoopbackServer {
    try LoopbackServer { request in
        let given = request.headers["authorization"] ?? ""
        let isDigest =
            given.hasPrefix("Digest ") && given.contains("username=\"user\"") && given.contains("nonce=\"n1\"")
        let isBasic = given == "Basic dXNlcjpwYXNz" && challenges.contains { $0.hasPrefix("Basic") }
        if isDigest || isBasic { return [.answer(body: [1])] }
        return [.answer(401, challenges.map { "WWW-Authenticate: \($0)" }, body: Array("401 Unauthorized".utf8))]
    }
}

private let challengeRows: [(when: String, challenges: [String], requests: [String])] = [
    (
        "Digest", ["Digest realm=\"tv, basic\", qop=\"auth\", nonce=\"n1\", opaque=\"o\""],
        ["Basic", "", "Digest", "", "Digest"]
    ),
    ("Basic", ["Basic realm=\"tv\""], ["Basic", "Basic"]),
    (
        "both", ["Digest realm=\"tv\", qop=\"auth\", nonce=\"n1\"", "Basic realm=\"tv\""], ["Basic", "Basic"]
    ),
]

@Test(arguments: challengeRows)
func passwordOfAURLIsSentAsTheServerAsks(when: String, challenges: [String], requests: [String]) async throws {
    let server = try guarded(by: challenges)
    let url = server.url.replacing("http://", with: "http://user:pass@")
    let fetcher = try CurlFetcher(upstream: url + "/1", configuration: loopbackConfiguration())
    for name in ["/1", "/2"] {
        let answer = try await fetcher.fetch(FetchRequest(.segment, url: url + name)).get()
        #expect(answer.status == 200 && answer.body == [1], "\(when)")
    }
    let sent = server.requests.map { $0.headers["authorization"]?.split(separator: " ").first.map(String.init) ?? "" }
    #expect(sent == requests, "\(when)")
}

private let dataRows: [(url: String, bytes: [UInt8]?)] = [
    ("data:;base64,AAECAwQFBgcICQoLDA0ODw==", Array(0..<16)),
    ("data:text/plain;base64,AAECAwQFBgcICQoLDA0ODw", Array(0..<16)),
    ("DATA:text/plain;charset=utf-8;BASE64,AAEC%0AAw%3D%3D", Array(0..<4)),
    ("data:,a%00b", [0x61, 0, 0x62]),
    ("data:application/octet-stream,%ff", [0xFF]),
    ("data:;base64,", []),
    ("data:;base64,*", nil),
    ("data:,%2", nil),
    ("data:text/plain", nil),
]

@Test(arguments: dataRows)
func resourcesInTheirOwnURLAreDecoded(url: String, bytes: [UInt8]?) async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let fetcher = try SourceFetcher(
        upstream: server.url, configuration: loopbackConfiguration(), backups: [], backupConfigurations: [])
    let outcome = await fetcher.fetch(FetchRequest(.key, url: url))
    #expect(try bytes == nil || outcome.get().body == bytes, "\(url)")
    #expect((try? outcome.get()) == nil || bytes != nil, "\(url)")
    #expect(server.requests.isEmpty)
}

private let mp3 = [UInt8](repeating: 0, count: 4000).indices.map {
    $0 % 417 == 0 ? 0xFF : $0 % 417 == 1 ? 0xFB : UInt8($0 & 63)
}
private let radioRows: [(when: String, head: String, body: [UInt8], isRadio: Bool)] = [
    ("Icecast", "HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\nicy-name: R\r\n\r\n", mp3, true),
    ("a type alone", "HTTP/1.1 200 OK\r\nContent-Type: audio/aacp\r\n\r\n", mp3, true),
    ("Shoutcast", "ICY 200 OK\r\nicy-notice1: x\r\ncontent-type:audio/mpeg\r\n\r\n", Array(mp3.dropFirst(9)), true),
    ("a playlist of that type", "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n", Array("#EXTM3U\n".utf8), false),
]

@Test(arguments: radioRows)
func endlessAudioIsRefusedByName(when: String, head: String, body: [UInt8], isRadio: Bool) async throws {
    let server = try LoopbackServer { _ in [.send(Array(head.utf8) + body), isRadio ? .trickle : .close] }
    let fetcher = try CurlFetcher(upstream: server.url, configuration: loopbackConfiguration())
    var request = FetchRequest(.multivariantPlaylist, url: server.url)
    request.acceptsFile = true
    request.acceptsStream = true
    let outcome = await fetcher.fetch(request) { _ in }
    if case .failure(let error) = outcome { #expect(isRadio && error.reason == .audioStream, "\(when): \(error)") }
    #expect(((try? outcome.get()) == nil) == isRadio, "\(when)")
}
