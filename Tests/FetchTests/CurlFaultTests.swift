import Playlist
import Synchronization
import TestSupport
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// Bodies that are compressed, truncated or mislabeled.

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

struct BodyRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    var purpose = FetchRequest.Purpose.mediaPlaylist
    let steps: [Step]
    /// nil: the fetch fails with `reason`.
    var body: [UInt8]?
    var reason: FetchError.Reason?
    var endsAtClose = false
}

// python3: zlib.compressobj(9, zlib.DEFLATED, 31) is gzip, -15 is raw deflate, 15 is deflate as RFC 9110 means it.
private let gzipped: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0xc8, 0x49, 0xcc, 0xcc, 0x53, 0x28, 0x49, 0xad,
    0x28, 0x01, 0x00, 0xb8, 0x0f, 0x0b, 0x44, 0x0a, 0x00, 0x00, 0x00,
]
private let gzippedTwice: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x93, 0xef, 0xe6, 0x60, 0x00, 0x01, 0x26, 0x66, 0xed,
    0x13, 0x9e, 0x67, 0xce, 0x04, 0x6b, 0x78, 0xae, 0xd5, 0x60, 0x64, 0xd8, 0xc1, 0xcf, 0xed, 0xc2, 0x05, 0x14, 0x05,
    0x00, 0x84, 0xd1, 0x77, 0x65, 0x1e, 0x00, 0x00, 0x00,
]
private let rawDeflate: [UInt8] = [0x2b, 0xc8, 0x49, 0xcc, 0xcc, 0x53, 0x28, 0x49, 0xad, 0x28, 0x01, 0x00]
private let zlibDeflate: [UInt8] = [0x78, 0xda] + rawDeflate + [0x15, 0xb4, 0x03, 0xfa]
/// 2000 zeros.
private let rawBomb: [UInt8] = [
    0x63, 0x60, 0x18, 0x05, 0xa3, 0x60, 0x14, 0x8c, 0x82, 0x51, 0x30, 0x0a, 0x46, 0xc1, 0x50, 0x07, 0x00,
]
private let gzippedBomb: [UInt8] =
    gzipped.prefix(10) + rawBomb + [0x44, 0xf4, 0xc9, 0x02, 0xd0, 0x07, 0x00, 0x00]
private let gzippedBombTwice: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x93, 0xef, 0xe6, 0x60, 0x00, 0x01, 0x26, 0xe6, 0xe4,
    0x04, 0x09, 0xd6, 0xc5, 0x09, 0x22, 0x3d, 0x4d, 0x81, 0x06, 0x5c, 0x6e, 0x07, 0x03, 0xd8, 0x19, 0x5c, 0xbe, 0x9c,
    0x64, 0xba, 0xc0, 0xce, 0xc0, 0x00, 0x00, 0x7f, 0x00, 0x3f, 0xb5, 0x23, 0x00, 0x00, 0x00,
]
private let untilClose = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"

private let compressedRows = [
    BodyRow(when: "gzip without Content-Encoding", steps: [.answer(body: gzipped)], body: bytes("plain text")),
    BodyRow(
        when: "gzip compressed twice, one Content-Encoding",
        steps: [.answer(200, ["Content-Encoding: gzip"], body: gzippedTwice)], body: bytes("plain text")),
    BodyRow(
        when: "gzip with data after it", steps: [.answer(body: gzipped + bytes("rubbish"))],
        body: bytes("plain text")),
    BodyRow(
        when: "deflate with zlib header", steps: [.answer(200, ["Content-Encoding: deflate"], body: zlibDeflate)],
        body: bytes("plain text")),
    BodyRow(
        when: "deflate without zlib header", steps: [.answer(200, ["Content-Encoding: deflate"], body: rawDeflate)],
        body: bytes("plain text")),
    BodyRow(when: "raw deflate without Content-Encoding", steps: [.answer(body: rawDeflate)], body: rawDeflate),
    BodyRow(
        when: "truncated gzip without Content-Encoding", steps: [.answer(body: Array(gzipped.dropLast(9)))],
        reason: .shortBody),
    BodyRow(
        when: "data that begins like gzip", steps: [.answer(body: gzipped.prefix(10) + bytes("\u{7}\u{7}no"))],
        body: gzipped.prefix(10) + bytes("\u{7}\u{7}no")),
    BodyRow(
        when: "key that begins like gzip", purpose: .key, steps: [.answer(body: Array(gzipped.prefix(16)))],
        body: Array(gzipped.prefix(16))),
    BodyRow(
        when: "text with Content-Encoding gzip", steps: [.answer(200, ["Content-Encoding: gzip"], body: bytes("text"))],
        body: bytes("text")),
    BodyRow(
        when: "unknown Content-Encoding", steps: [.answer(200, ["Content-Encoding: x-none"], body: bytes("text"))],
        body: bytes("text")),
    BodyRow(
        when: "gzip with an unknown Content-Encoding",
        steps: [.answer(200, ["Content-Encoding: x-none"], body: gzipped)], body: bytes("plain text")),
    BodyRow(
        when: "segment with Content-Encoding gzip", purpose: .segment,
        steps: [.answer(200, ["Content-Encoding: gzip"], body: [0x47, 0, 0])], body: [0x47, 0, 0]),
    BodyRow(
        when: "gzip bomb with an unknown Content-Encoding",
        steps: [.answer(200, ["Content-Encoding: x-none"], body: gzippedBomb)], reason: .tooLarge),
    BodyRow(
        when: "gzip bomb", steps: [.answer(200, ["Content-Encoding: gzip"], body: gzippedBomb)],
        reason: .tooLarge),
    BodyRow(when: "gzip bomb without Content-Encoding", steps: [.answer(body: gzippedBomb)], reason: .tooLarge),
    BodyRow(
        when: "gzip bomb compressed twice", steps: [.answer(200, ["Content-Encoding: gzip"], body: gzippedBombTwice)],
        reason: .tooLarge),
    BodyRow(
        when: "raw deflate bomb", steps: [.answer(200, ["Content-Encoding: deflate"], body: rawBomb)],
        reason: .tooLarge),
    BodyRow(
        when: "gzip bomb as a segment without Content-Encoding", purpose: .segment, steps: [.answer(body: gzippedBomb)],
        reason: .tooLarge),
]

private let lengthRows = [
    BodyRow(
        when: "body ended by the connection", steps: [.send(untilClose + "text"), .close],
        body: bytes("text"), endsAtClose: true),
    BodyRow(
        when: "HTTP/1.0 with Content-Length",
        steps: [.send("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ntext"), .close], body: bytes("text")),
    BodyRow(
        when: "body ended by the last chunk",
        steps: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n")],
        body: bytes("text")),
    BodyRow(
        when: "RST in a body ended by the connection", steps: [.send(untilClose + "text"), .reset],
        reason: .reset),
    BodyRow(
        when: "negative Content-Length",
        steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\ntext"), .close], reason: .other),
    BodyRow(
        when: "Content-Length beyond 64 bits",
        steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\ntext"), .close],
        reason: .tooLarge),
]

private let typeRows = ["text/html", "text/plain", "image/png", "application/octet-stream", "", "\u{1}nonsense"].map {
    BodyRow(
        when: "playlist with Content-Type \"\($0)\"",
        steps: [.answer(200, ["Content-Type: \($0)"], body: bytes("#EXTM3U"))], body: bytes("#EXTM3U"))
}

private let small = CurlConfiguration.Limits(bodyBytes: 1000, idle: .seconds(20), total: .seconds(60))

@Test(arguments: compressedRows + lengthRows + typeRows)
func bodyOfAnAnswer(row: BodyRow) async throws {
    let server = try LoopbackServer { _ in row.steps }
    var configuration = loopbackConfiguration(segments: small)
    configuration.playlistLimits = small
    let outcome = try await upstream(server, configuration).fetch(FetchRequest(row.purpose, url: server.url + "/1"))
    switch outcome {
    case .success(let answer):
        #expect(answer.body == row.body)
        #expect(answer.endsAtClose == row.endsAtClose)
    case .failure(let error): #expect(error.reason == row.reason, "\(error)")
    }
}

private let largestBodies: [(what: String, purpose: FetchRequest.Purpose, byteLimit: Int?, bytes: Int)] = [
    ("a map", .map, nil, 2 << 20), ("a segment that is delivered next", .segment, nil, 3 << 20),
    ("a segment that is fetched ahead", .segment, 5000, 5000),
    ("the playlist of a companion", .mediaPlaylist, 4000, 4000),
]

@Test(arguments: largestBodies)
func bodyBeyondItsShareIsTooLarge(what: String, purpose: FetchRequest.Purpose, byteLimit: Int?, bytes: Int) async throws
{
    let limits = CurlConfiguration.Limits(bodyBytes: 3 << 20, idle: .seconds(20), total: .seconds(60))
    for excess in [0, 1] {
        let body = [UInt8](repeating: 0x47, count: bytes + excess)
        let server = try LoopbackServer { _ in [.answer(body: body)] }
        var configuration = loopbackConfiguration(segments: limits)
        configuration.playlistLimits = limits
        var request = FetchRequest(purpose, url: server.url + "/1")
        request.byteLimit = byteLimit
        switch try await upstream(server, configuration).fetch(request) {
        case .success(let answer): #expect(excess == 0 && answer.body.count == bytes, "\(what)")
        case .failure(let error): #expect(excess == 1 && error.reason == .tooLarge, "\(what): \(error)")
        }
    }
}

@Test func mislabeledOriginCausesOneExtraRequest() async throws {
    let server = try LoopbackServer { _ in [.answer(200, ["Content-Encoding: gzip"], body: bytes("text"))] }
    let upstream = try upstream(server)
    for _ in 0..<3 {
        #expect(try await upstream.fetch(FetchRequest(.mediaPlaylist, url: server.url)).get().body == bytes("text"))
    }
    let requestsEncoding = server.requests.map { $0.headers["accept-encoding"] != nil }
    #expect(requestsEncoding == [true, false, false, false])
}

@Test func slowBodyEndsBeforeTheTotalLimit() async throws {
    let server = try LoopbackServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"), .trickle] }
    let limits = CurlConfiguration.Limits(
        bodyBytes: 1000, idle: .seconds(1), total: .seconds(60), minBytesPerSecond: 100)
    var configuration = loopbackConfiguration(segments: limits)
    (configuration.playlistLimits, configuration.keyLimits) = (limits, limits)
    let upstream = try upstream(server, configuration)
    let url = server.url
    await withTaskGroup(of: FetchOutcome.self) { group in
        for purpose in [FetchRequest.Purpose.mediaPlaylist, .key, .segment, .map] {
            group.addTask { await upstream.fetch(FetchRequest(purpose, url: url)) }
        }
        for await outcome in group {
            guard case .failure(let error) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(error.reason == .timedOut)
            #expect(error.message.contains("too slow"), "\(error.message)")
        }
    }
    #expect(await server.waitForHangUps(4))
}

// Schemes that are not fetched.

/// `PORT` is replaced with the server's port.
private let schemeRows =
    ["file:///etc/hostname", "FILE:/etc/hostname", "ftp://127.0.0.1:PORT/", "data:text/plain,x"]
    + ["gopher://127.0.0.1:PORT/_x", "dict://127.0.0.1:PORT/d", "scp://127.0.0.1/x", "javascript:x", "smb://h/x/y"]
    + ["ldap://127.0.0.1:PORT/", "rtsp://127.0.0.1:PORT/", "ws://127.0.0.1:PORT/", "localhost:PORT/x", "c:\\boot.ini"]

@Test(arguments: schemeRows)
func onlyHTTPIsFetched(url template: String) async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let url = template.replacing("PORT", with: "\(server.port)")
    for purpose in [FetchRequest.Purpose.mediaPlaylist, .segment, .key, .map] {
        let outcome = try await upstream(server).fetch(FetchRequest(purpose, url: url))
        guard case .failure(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.reason == .unsupportedScheme)
    }
    #expect(server.connectionCount == 0)
}

@Test(arguments: schemeRows.filter { !$0.hasPrefix("localhost") })
func redirectToAnotherSchemeFails(target: String) async throws {
    let server = try LoopbackServer { request in
        [
            .redirect(
                to: target.replacing("PORT", with: String(request.headers["host"]?.split(separator: ":").last ?? "")))
        ]
    }
    let outcome = try await upstream(server).fetch(FetchRequest(.segment, url: server.url + "/1.ts"))
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect([.unsupportedScheme, .other].contains(error.reason), "\(error)")
    #expect(server.requests.count == 1)
}

@Test func redirectWithoutLocationIsAnAnswer() async throws {
    let server = try LoopbackServer { _ in [.answer(302, body: bytes("no location"))] }
    #expect(try await upstream(server).fetch(FetchRequest(.segment, url: server.url)).get().status == 302)
}

@Test func redirectLoopOverTwoHostsEnds() async throws {
    let server = try LoopbackServer { request in
        let host = request.headers["host"] ?? ""
        let other =
            host.hasPrefix("localhost")
            ? host.replacing("localhost", with: "127.0.0.1")
            : host.replacing("127.0.0.1", with: "localhost")
        return [.redirect(to: "http://\(other)/\(request.target)x")]
    }
    let outcome = try await upstream(server).fetch(FetchRequest(.segment, url: server.url))
    #expect(throws: FetchError.self) { try outcome.get() }
    #expect(server.requests.count == CurlJob.maxRedirects + 1)
}

// A whole channel.

private let multivariant = bytes("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n")

/// Answers for a finished channel of eight segments with a multivariant playlist and a key.
private func channel(_ request: LoopbackServer.Request) -> [Step] {
    if request.target == "/master.m3u8" { return [.answer(body: multivariant)] }
    guard request.target == "/list.m3u8" else { return [.answer(body: bytes(request.target))] }
    let segments = (0..<8).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
    let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"
    return [.answer(body: bytes("#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + key + segments + "#EXT-X-ENDLIST\n"))]
}

/// Follows the channel to its end. Returns the media sequence numbers delivered.
private func follow(_ server: LoopbackServer, maxConnections: Int? = nil) async throws -> [UInt64] {
    let url = server.url + "/master.m3u8"
    let upstream = try CurlFetcher(upstream: url, configuration: loopbackConfiguration(), thread: CurlThread())
    // A long limit, because the test uses real time and the machine may be busy.
    let policy = UpstreamSession.Policy(
        variant: .highest, maxConnections: maxConnections, opening: .patient(giveUp: .seconds(120)))
    let session = UpstreamSession(upstream: url, policy: policy)
    var delivered: [UInt64] = []
    let driver = TrackerDriver(upstream: upstream, clock: ContinuousClock())
    let end = try await driver.run(reporting: session) { output, _ in
        if case .delivery(let delivery) = output, case .segment(let segment) = delivery.content {
            delivered.append(segment.segment.mediaSequence)
        }
        return .published
    }
    #expect(end == .drained)
    return delivered
}

@Test func oneConnectionIsUsedIfTheOriginAllowsOne() async throws {
    let server = try LoopbackServer { channel($0) }
    #expect(try await follow(server, maxConnections: 1) == Array(0..<8))
    #expect(server.connectionCount == 1)
    #expect(
        server.requests.prefix(4).map(\.target) == ["/master.m3u8", "/list.m3u8", "/0.ts", "/key"],
        "a key before the next segment")
}

@Test func expiredCookieIsRenewedWithTheMultivariantPlaylist() async throws {
    /// The number of the session, and the number of requests with its cookie.
    let session = Mutex((number: 0, uses: 0))
    let server = try LoopbackServer { request in
        if request.target == "/master.m3u8" {
            let number = session.withLock { state in
                state = (state.number + 1, 0)
                return state.number
            }
            return [.answer(200, ["Set-Cookie: session=\(number)"], body: multivariant)]
        }
        guard request.target.hasSuffix(".ts") else { return channel(request) }
        let isValid = session.withLock { state in
            state.uses += 1
            return state.uses <= 4 && request.headers["cookie"] == "session=\(state.number)"
        }
        return isValid ? channel(request) : [.answer(403)]
    }
    #expect(try await follow(server, maxConnections: 1) == Array(0..<8))
    #expect(server.requests.count { $0.target == "/master.m3u8" } == 2)
}

/// A host whose queue of connections is full never accepts a connection.
@Test func connectionThatIsNotMadeTimesOut() async throws {
    let queue = try FullQueue()
    var configuration = loopbackConfiguration()
    configuration.connectLimit = .milliseconds(300)
    let url = "http://127.0.0.1:\(queue.port)/"
    let upstream = try CurlFetcher(upstream: url, configuration: configuration)
    let outcome = await upstream.fetch(FetchRequest(.mediaPlaylist, url: url))
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .timedOut)
}
