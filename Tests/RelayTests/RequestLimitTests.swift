import ArgumentParser
import Foundation
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import Support
@testable import WebServer
@testable import liverelay

/// Requests of one address that all come at one moment or with pauses, and how many of them are admitted.
private let rows:
    [(when: String, perSecond: Int, sends: [(at: Duration, count: Int)], admitted: Int, wait: Duration?)] =
        [
            ("a player", 2, [(.zero, 2), (.seconds(2), 2), (.seconds(4), 2)], 6, nil),
            ("as many as may come at once", 10, [(.zero, 100)], 100, nil),
            ("one more", 10, [(.zero, 101)], 100, .milliseconds(100)),
            ("one more after a pause", 10, [(.zero, 101), (.milliseconds(100), 1)], 101, .milliseconds(100)),
            ("refusals cost nothing", 10, [(.zero, 500), (.seconds(10), 100)], 200, .milliseconds(100)),
            ("a long pause gives no more than the burst", 1, [(.zero, 10), (.seconds(3600), 11)], 20, .seconds(1)),
            ("on average", 1, (0..<100).map { (.seconds($0), 2) }, 109, nil),
        ]

@Suite struct RequestRateTests {
    @Test(arguments: rows.indices) func admits(_ index: Int) {
        let row = rows[index]
        var rate = RequestRate(perSecond: row.perSecond)
        var (admitted, sent) = (0, 0)
        var wait: Duration?
        for send in row.sends {
            for _ in 0..<send.count {
                sent += 1
                if let refusal = rate.admit(ClientNetwork("a"), at: send.at) {
                    wait = wait ?? refusal
                } else {
                    admitted += 1
                }
            }
        }
        #expect(admitted == row.admitted && rate.refused == sent - admitted, "\(row.when): \(admitted)")
        if let expected = row.wait { #expect(wait == expected, "\(row.when)") }
    }

    @Test func addressesHaveTheirOwnAllowance() {
        var rate = RequestRate(perSecond: 1)
        for _ in 0..<10 { #expect(rate.admit(ClientNetwork("a"), at: .zero) == nil) }
        #expect(rate.admit(ClientNetwork("a"), at: .zero) != nil)
        #expect(rate.admit(ClientNetwork("b"), at: .zero) == nil)
    }

    @Test func theTableIsBounded() {
        var rate = RequestRate(perSecond: 100)
        var generator = SeededGenerator(seed: 7)
        for step in 0..<200_000 {
            let address = "\(UInt32.random(in: 0...(.max), using: &generator))"
            #expect(rate.admit(ClientNetwork(address), at: .milliseconds(step)) == nil)
        }
        #expect(rate.addressCount < 2048, "those with a full allowance are forgotten")
        for step in 0..<200_000 { _ = rate.admit(ClientNetwork("address \(step)"), at: .seconds(300)) }
        #expect(rate.addressCount <= RequestRate.addressLimit)
    }
}

/// Two addresses, and whether they count as one client.
private let networks: [(first: String?, second: String?, isSame: Bool)] = [
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
    ("2001:db8::1", "2001:db8:0:0:ffff::9", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ("::ffff:192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
    ("fe80::1%eth0", "fe80::2%eth0", true), ("2001:db8::1", "192.0.2.1", false), ("unknown", "_hidden", false),
    (nil, "", true), ("no:address", "no:other", false),
]

@Test(arguments: networks) func clientNetwork(first: String?, second: String?, isSame: Bool) {
    #expect((ClientNetwork(first) == ClientNetwork(second)) == isSame)
}

/// A client that reads nothing holds a slice of each answer.
@Test func encryptedConnectionsHoldSmallSlices() {
    #expect(HTTPConnectionHandler.Transport.plain.sliceByteCount == 512 << 10)
    #expect(HTTPConnectionHandler.Transport.secure.sliceByteCount == 64 << 10)
    #expect(HTTPConnectionHandler.Transport.stream.sliceByteCount == 64 << 10)
}

/// What is refused because it comes too often, and whether the answer has a body: some clients would play that of a
/// stream.
private let throttled: [(method: String, path: String, hasBody: Bool)] = [
    ("GET", "/", true), ("HEAD", "/", false), ("OPTIONS", "/", true), ("GET", "/live.m3u8", true),
    ("GET", "/live.ts", false), ("GET", "/news.ts?token=x", false), ("GET", "/auto/v7", false),
    ("PUT", "/api/channels/news", true), ("DELETE", "/api/channels/news", true), ("POST", "/api/reload", true),
    ("POST", "/lineup.post", true), ("PATCH", "/", true),
]

/// What reaches for files or for more than is permitted, and its status.
private let hostile: [(request: String, status: Int)] = [
    (request("GET", "/../../etc/passwd"), 400), (request("GET", "/news/../../etc/passwd"), 400),
    (request("GET", "/news/%2e%2e/%2e%2e/etc/passwd"), 400), (request("GET", "/news/..%2f..%2fetc%2fpasswd"), 400),
    (request("GET", "/news/....//etc/passwd"), 404), (request("GET", "/news//etc/passwd"), 404),
    (request("GET", "/etc/passwd"), 404), (request("GET", "//etc/passwd"), 404),
    (request("GET", "/news/\\..\\..\\etc\\passwd"), 404), (request("GET", "/news/%00"), 400),
    (request("GET", "/news/seg-1-00000000.m4s%00.txt"), 400), (request("GET", "/news/journal"), 404),
    (request("GET", "/news/ring.m3u8"), 404), (request("GET", "/news/init-..mp4"), 404),
    (request("GET", "/news/%c0%ae%c0%ae/x"), 400), (request("GET", "/web/../status.json"), 400),
    (request("GET", "/web/%2e%2e%2fstatus.json"), 400), (request("GET", "/web/page.css/"), 404),
    (request("GET", "file:///etc/passwd"), 400), (request("GET", "http://h/../etc/passwd"), 400),
    (request("GET", "/live.m3u8?start=../../etc/passwd"), 404),
    // Heads and bodies.
    (request("GET", "/healthz", ["X: " + String(repeating: "x", count: 17_000)]), 431),
    (request("GET", "/" + String(repeating: "x", count: 17_000)), 431),
    (request("GET", "/healthz", (0..<4000).map { "X\($0): x" }), 431),
    ("GET /healthz\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\r\n\r\n", 400),
    (
        request("PUT", "/api/channels/new", ["Authorization: Bearer \(ServeScene.token)", "Content-Length: 300000"])
            + String(repeating: " ", count: 300_000), 413
    ),
    (request("PUT", "/news/live.m3u8", ["Content-Length: 1"]) + "x", 405),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct HostileRequestTests {
    @Test func nothingButWhatIsListedIsServed() async throws {
        let scene = try await ServeScene([(slug: "news", url: "http://127.0.0.1:9/x.m3u8")])
        for row in hostile {
            var client = try RawClient(port: scene.server.port)
            // A refused head may close the connection before all of it was sent.
            try? client.send(row.request)
            let response = try client.response()
            #expect(response.status == row.status, "\(row.request.prefix(60)): \(response.status)")
            #expect(!String(decoding: response.body, as: UTF8.self).contains("root:"))
        }
        await scene.end()
    }

    @Test func anAddressThatAsksTooOftenHasToWait() async throws {
        let connections = OpenConnections(requests: RequestLimiter(perSecond: 1))
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), connections: connections, threads: 1,
            responder: TargetResponder { _ in .now(.text(.ok, "ok")) })
        var client = try RawClient(port: server.port)
        for _ in 0..<RequestRate.burst {
            try client.send(request("GET", "/"))
            #expect(try client.response().status == 200)
        }
        try client.send(request("GET", "/"))
        let refusal = try client.response()
        #expect(refusal.status == 429 && refusal["Retry-After"] == "1" && refusal["Cache-Control"] == "no-store")
        #expect(connections.counts.throttledRequests == 1)
        await server.shutdown(within: .zero)
    }

    @Test(arguments: throttled) func whateverIsAsked(method: String, path: String, hasBody: Bool) async throws {
        let action = BodyAction(limit: 9, tooLarge: .text(.contentTooLarge, "x")) { _ in .text(.ok, "done") }
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0),
            connections: OpenConnections(requests: RequestLimiter(perSecond: 1)), threads: 1,
            responder: TargetResponder(paths: .list) { _ in .body(action) })
        var client = try RawClient(port: server.port)
        for _ in 0..<RequestRate.burst {
            try client.send(request("PUT", "/api/x", ["Content-Length: 2"]) + "{}")
            #expect(try client.response().status == 200)
        }
        for _ in 0..<2 {
            try client.send(request(method, path, ["Content-Length: 2"]) + "{}")
            let answer = try client.response(toHead: method == "HEAD")
            #expect(answer.status == 429 && answer["Retry-After"] == "1" && answer["Allow"] == nil)
            #expect(answer.body.isEmpty != hasBody && (hasBody || method == "HEAD" || answer["Content-Type"] == nil))
        }
        await server.shutdown(within: .zero)
    }

    /// The clients of a proxy that is trusted have allowances of their own; those of another one share its.
    @Test(arguments: [("loopback", 200), (nil, 429)]) func proxies(trusted: String?, status: Int) async throws {
        let proxies = try trusted.map { try #require(TrustedProxies($0)) } ?? TrustedProxies()
        let limiter = RequestLimiter(perSecond: 1, addresses: ForwardedAddresses(trustedProxies: proxies))
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), connections: OpenConnections(requests: limiter), threads: 1,
            responder: TargetResponder { _ in .now(.text(.ok, "ok")) })
        var client = try RawClient(port: server.port)
        var last = 0
        for number in 0...RequestRate.burst {
            try client.send(request("GET", "/", ["X-Forwarded-For: 192.0.2.\(number)"]))
            last = try client.response().status
        }
        #expect(last == status)
        await server.shutdown(within: .zero)
    }
}

@Test(arguments: ["example.com", "ftp://h/", "http://", "http://h/?x", "http://u@h/", "http://h/../x", ""])
func badPublicURL(text: String) {
    do {
        _ = try LiveRelay.parseAsRoot(["serve", "x.m3u", "--public-url", text])
        Issue.record("accepted")
    } catch {
        let message = LiveRelay.message(for: error)
        #expect(LiveRelay.exitCode(for: error).rawValue == 64)
        #expect(message.split(separator: "\n").count == 1, "\(message)")
    }
}
