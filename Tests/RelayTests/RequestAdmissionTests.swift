import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// What is refused before its body has arrived.
private struct RefusedHead: Sendable, CustomTestStringConvertible {
    let when: String
    let method: String
    let path: String
    var token: String? = ServeScene.token
    var hasAPI = true
    var length: Int?
    let status: Int

    var testDescription: String { when }

    var fields: [String] {
        (token.map { ["Authorization: Bearer \($0)"] } ?? [])
            + [
                length.map { "Content-Length: \($0)" } ?? "Transfer-Encoding: chunked",
                "Content-Type: application/json",
            ]
    }
}

private let heads = [
    RefusedHead(when: "no token", method: "PUT", path: "/api/channels/x", token: nil, status: 401),
    RefusedHead(when: "another token", method: "POST", path: "/api/reload", token: "0123456789abcdeF", status: 401),
    RefusedHead(when: "no API", method: "PUT", path: "/api/channels/x", hasAPI: false, status: 404),
    RefusedHead(when: "no such path", method: "PUT", path: "/api/nothing", status: 404),
    RefusedHead(when: "another method of a path", method: "DELETE", path: "/api/channels", status: 405),
    RefusedHead(when: "a method of nothing else", method: "PUT", path: "/news/live.m3u8", token: nil, status: 405),
    RefusedHead(when: "an announced body", method: "PUT", path: "/api/channels/x", length: 262_145, status: 413),
    RefusedHead(when: "a GET with a body", method: "GET", path: "/api/channels/x", token: nil, status: 401),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct RequestAdmissionTests {
    private static let channels = [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")]

    @Test(arguments: heads) private func refusalPrecedesTheBody(_ row: RefusedHead) async throws {
        let scene = try await ServeScene(Self.channels, hasAPI: row.hasAPI)
        var client = try RawClient(port: scene.server.port)
        try client.send(request(row.method, row.path, row.fields) + (row.length == nil ? "1\r\nx\r\n" : "x"))
        #expect(try client.response().status == row.status)
        await scene.end()
    }

    /// The pages of other origins may watch, and change nothing: nothing tells a browser that they may.
    @Test(arguments: ["same-origin", "same-site", "cross-site", "none"])
    func otherOriginsMayWatchOnly(site: String) async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([("news", origin.url)])
        let fields = ["Origin: https://elsewhere.example", "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: cors"]
        var client = try RawClient(port: scene.server.port)
        try client.send(request("GET", "/news/live.m3u8", fields))
        let live = try client.response()
        #expect(live.status == 200 && live["Access-Control-Allow-Origin"] == "*")
        for method in ["PUT", "POST", "DELETE"] {
            try client.send(request(method, "/api/channels/news", fields + ["Content-Length: 2"]) + "{}")
            #expect(try client.response().status == 401)
        }
        for path in ["/news/live.m3u8", "/api/channels/news"] {
            try client.send(request("OPTIONS", path, fields + ["Access-Control-Request-Method: PUT"]))
            let preflight = try client.response()
            let methods = preflight["Access-Control-Allow-Methods"]
            #expect(preflight.status == 204 && methods == (path.hasPrefix("/api") ? nil : CrossOrigin.allowedMethods))
        }
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}

// MARK: - What is held at once

/// A server of two places for bodies and for responses, whose responses are made when their clients leave.
private struct NarrowServer {
    let server: HTTPServer
    let connections: OpenConnections
    private let calls: Calls

    final class Calls: Sendable {
        let count = Atomic(0)
    }

    /// Requests that were decided.
    var decisions: Int { calls.count.load(ordering: .relaxed) }

    init(
        _ limit: RequestWork.Limit = .init(total: 2, perConnection: 2),
        configure: @escaping HTTPServer.Configuration = { _ in }
    ) async throws {
        let calls = Calls()
        self.calls = calls
        connections = OpenConnections(work: RequestWork(limits: [.body: limit, .form: limit, .response: limit]))
        let action = BodyAction(limit: 1 << 18, tooLarge: .text(.contentTooLarge, "no")) { .text(.ok, "\($0.count)") }
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), connections: connections, threads: 1, configure: configure,
            responder: TargetResponder(paths: .list) { target in
                calls.count.wrappingAdd(1, ordering: .relaxed)
                switch target.path {
                case "/api/body": return .body(action)
                case "/held", "/held.ts":
                    return .later {
                        await Self.canceled()
                        return .text(.ok, "late")
                    }
                case "/later": return .later { .text(.ok, "later") }
                case "/refused": return .now(.text(.forbidden, "no"))
                default: return .now(.text(.ok, "now"))
                }
            })
    }

    /// Returns when the task is canceled.
    private static func canceled() async {
        let (never, continuation) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        continuation.finish()
    }

    func client(_ text: String) throws -> RawClient {
        let client = try RawClient(port: server.port)
        try client.send(text)
        return client
    }

    /// Returns when so many requests hold a place.
    func reaches(_ count: Int, _ kind: RequestWork.Kind) async {
        while connections.work.count(kind) != count { await Task.yield() }
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct HeldRequestTests {
    private static let unfinished = request("PUT", "/api/body", ["Transfer-Encoding: chunked"]) + "2\r\n{}\r\n"

    @Test func bodiesAreReceivedAFewAtOnce() async throws {
        let server = try await NarrowServer()
        var first: RawClient? = try server.client(Self.unfinished)
        var second = try server.client(Self.unfinished)
        await server.reaches(2, .body)
        var third = try server.client(Self.unfinished)
        let refusal = try third.response()
        #expect(refusal.status == 503 && refusal["Retry-After"] == "1" && server.connections.work.refused == 1)
        first = nil
        await server.reaches(1, .body)
        try second.send("0\r\n\r\n")
        #expect(try second.response().body == Array("2\n".utf8))
        await server.reaches(0, .body)
        _ = consume first
        await server.server.shutdown(within: .zero)
    }

    /// A form has the token in its body, so anybody may send one. Forms take no place of the bodies of the API.
    @Test func formsHoldBackNoOtherBody() async throws {
        let server = try await NarrowServer()
        let form = request("POST", "/player_api.php", ["Content-Length: 2"])
        var first = try server.client(form)
        let second = try server.client(form)
        await server.reaches(2, .form)
        var third = try server.client(form)
        #expect(try third.response().status == 503)
        var other = try server.client(Self.unfinished + "0\r\n\r\n")
        #expect(try other.response().status == 200)
        try first.send("a=")
        #expect(try first.response().status == 200)
        await server.reaches(1, .form)
        _ = consume second
        await server.server.shutdown(within: .zero)
    }

    /// Of one that is too large by its parts, nothing stays.
    @Test func largeBodyIsRefusedOnItsWay() async throws {
        let server = try await NarrowServer()
        var client = try server.client(request("PUT", "/api/body", ["Transfer-Encoding: chunked"]))
        let part = "10000\r\n" + String(repeating: " ", count: 1 << 16) + "\r\n"
        for _ in 0..<5 { try client.send(part) }
        #expect(try client.response().status == 413)
        await server.reaches(0, .body)
        await server.server.shutdown(within: .zero)
    }

    @Test(arguments: [("/held", true), ("/held.ts", false)])
    func responsesAreMadeAFewAtOnce(path: String, hasBody: Bool) async throws {
        let server = try await NarrowServer()
        var first: RawClient? = try server.client(request("GET", path))
        let second = try server.client(request("GET", path) + request("GET", path))
        await server.reaches(2, .response)
        var third = try server.client(request("GET", path))
        let refusal = try third.response()
        #expect(refusal.status == 503 && refusal["Retry-After"] == "1" && refusal.body.isEmpty != hasBody)
        first = nil
        await server.reaches(1, .response)
        try third.send(request("GET", "/later"))
        #expect(try third.response().status == 200, "the connection goes on")
        second.endSending()
        await server.reaches(0, .response)
        _ = consume first
        await server.server.shutdown(within: .zero)
    }

    /// Whoever asks and leaves, again and again, holds nothing.
    @Test(arguments: [true, false]) func leaversHoldNothing(byReset: Bool) async throws {
        let server = try await NarrowServer(.init(total: 4096, perConnection: 64))
        for number in 1...200 {
            let client = try server.client(request("GET", "/held"))
            while server.decisions < number { await Task.yield() }
            if byReset { client.resetAtEnd() }
        }
        await server.reaches(0, .response)
        await server.server.shutdown(within: .zero)
    }

    /// A client that only ends its sending half still gets what takes a moment.
    @Test func halfClosedClientGetsALateResponse() async throws {
        let server = try await NarrowServer()
        var client = try server.client(request("GET", "/later") + request("GET", "/later"))
        client.endSending()
        #expect(try client.response().status == 200)
        #expect(try client.response().status == 200)
        #expect(try client.rest().isEmpty)
        await server.server.shutdown(within: .zero)
    }
}

// MARK: - What a request costs

/// Counts the parts of requests that were parsed.
private final class PartCounter: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    final class Count: Sendable {
        let value = Atomic(0)
    }

    private let count: Count

    init(_ count: Count) { self.count = count }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count.value.wrappingAdd(1, ordering: .relaxed)
        context.fireChannelRead(data)
    }
}

/// Counts the writes and flushes of responses.
private final class WriteCounter: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    private let writes: PartCounter.Count
    private let flushes: PartCounter.Count

    init(writes: PartCounter.Count, flushes: PartCounter.Count) { (self.writes, self.flushes) = (writes, flushes) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writes.value.wrappingAdd(1, ordering: .relaxed)
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        flushes.value.wrappingAdd(1, ordering: .relaxed)
        context.flush()
    }
}

/// Fields of one name, which count how often one is read.
private struct CountedFields: Sequence, IteratorProtocol {
    let name: String
    var rest: Int
    let reads = PartCounter.Count()

    mutating func next() -> (name: String, value: String)? {
        guard rest > 0 else { return nil }
        rest -= 1
        reads.value.wrappingAdd(1, ordering: .relaxed)
        return (name, "x")
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct RequestCostTests {
    /// A body in parts of one byte: each byte is copied once, and again only when the storage grows, which at least
    /// doubles it: twice more for all bytes together, wherever the allocator makes it grow.
    @Test(arguments: [1, 2, 4]) func bytesOfABody(factor: Int) {
        let count = factor << 16
        let part = ByteBuffer(bytes: [0x20])
        var body = RequestBody(limit: count)
        var (copied, capacity) = (0, 0)
        for _ in 0..<count {
            let isAppended = body.append(part)
            copied += isAppended ? 1 : 0
            if body.bytes.capacity != capacity {
                (copied, capacity) = (copied + body.bytes.count, body.bytes.capacity)
            }
        }
        #expect(body.bytes.count == count)
        #expect(copied < 3 * count)
    }

    /// A response from memory is one write of one buffer, and so one system call.
    @Test(arguments: [1, 2, 4]) func writesOfResponses(factor: Int) async throws {
        let (writes, flushes) = (PartCounter.Count(), PartCounter.Count())
        let server = try await NarrowServer(configure: {
            try $0.pipeline.syncOperations.addHandler(WriteCounter(writes: writes, flushes: flushes))
        })
        for path in ["/", "/later", "/refused"] {
            var client = try server.client("")
            for _ in 0..<factor * 10 {
                try client.send(request("GET", path))
                _ = try client.response()
            }
        }
        #expect(writes.value.load(ordering: .relaxed) == factor * 30)
        #expect(flushes.value.load(ordering: .relaxed) == factor * 30)
        await server.server.shutdown(within: .zero)
    }

    /// What a refused client still sends is discarded unparsed.
    @Test(arguments: [1, 2, 4]) func chunksAfterARefusal(factor: Int) async throws {
        let parts = PartCounter.Count()
        let server = try await NarrowServer(configure: { try $0.pipeline.syncOperations.addHandler(PartCounter(parts)) }
        )
        var client = try server.client(request("PUT", "/api/body", ["Content-Length: 300000"]) + "x")
        #expect(try client.response().status == 413)
        try client.send(String(repeating: "1\r\nx\r\n", count: factor * 10_000))
        client.endSending()
        #expect(try client.rest().isEmpty)
        #expect(parts.value.load(ordering: .relaxed) <= 2, "the head, and what came with it")
        await server.server.shutdown(within: .zero)
    }

    /// The connection of a client that does not stop sending is closed.
    @Test func endlessBodyAfterARefusal() async throws {
        let server = try await NarrowServer()
        var client = try server.client(request("PUT", "/refused", ["Content-Length: 300000000"]) + "x")
        #expect(try client.response().status == 405)
        let part = String(repeating: " ", count: 1 << 20)
        #expect(throws: RawClient.Failure.self) { for _ in 0..<64 { try client.send(part) } }
        await server.server.shutdown(within: .zero)
    }

    /// Each field is read once, and fields of one name are joined once.
    @Test(arguments: ["x-other", "Range", "x-forwarded-for"]) func headerFields(name: String) {
        for count in [1000, 2000, 4000] {
            let counted = CountedFields(name: name, rest: count)
            let fields = RequestTarget.Fields(counted)
            #expect(counted.reads.value.load(ordering: .relaxed) == count)
            #expect(
                (fields.range ?? fields.forwarding.addresses)?.utf8.count == (name == "x-other" ? nil : 3 * count - 2))
        }
    }

    /// Each request is decided once, however it is answered.
    @Test func pipelinedRequests() async throws {
        let server = try await NarrowServer()
        for factor in [1, 2, 4] {
            let before = server.decisions
            let all = [request("GET", "/"), request("GET", "/later"), request("GET", "/refused")]
            var client = try server.client(String(repeating: all.joined(), count: factor * 100))
            for _ in 0..<factor * 100 {
                for status in [200, 200, 403] { #expect(try client.response().status == status) }
            }
            #expect(server.decisions - before == factor * 300)
        }
        await server.server.shutdown(within: .zero)
    }
}
