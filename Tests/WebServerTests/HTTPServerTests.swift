import Foundation
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// Start and shutdown of the server. One that waited for its limit would take ten minutes.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct HTTPServerTests {
    @Test func shutdownClosesADownloadAtItsLimit() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client(receiveBuffer: 4096)
        try client.send(request("GET", "/large.mp4"))
        #expect(try client.head().status == 200)
        await origin.server.shutdown(within: .milliseconds(1))
        #expect(try client.rest().count < HTTPOrigin.largeByteCount)
        #expect(try origin.openFileCount() == 0)
    }

    @Test func shutdownLetsADownloadEnd() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client(receiveBuffer: 65536)
        try client.send(request("GET", "/large.mp4"))
        #expect(try client.head().status == 200)
        let server = origin.server
        async let down: Void = server.shutdown(within: .seconds(600))
        #expect(try client.read(HTTPOrigin.largeByteCount).count == HTTPOrigin.largeByteCount)
        #expect(try client.rest().isEmpty)
        await down
    }

    @Test func shutdownDoesNotWaitForIdleConnections() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        try client.send(request("GET", "/query"))
        #expect(try client.response().status == 200)
        await origin.server.shutdown(within: .seconds(600))
        #expect(try client.rest().isEmpty)
        #expect(throws: RawClient.Failure.self) { _ = try origin.client() }
    }

    @Test func shutdownClosesIdleConnectionsWhileADownloadEnds() async throws {
        let origin = try await HTTPOrigin()
        var idle = try origin.client()
        try idle.send(request("GET", "/query"))
        #expect(try idle.response().status == 200)
        var busy = try origin.client(receiveBuffer: 65536)
        try busy.send(request("GET", "/large.mp4"))
        #expect(try busy.head().status == 200)
        let server = origin.server
        async let down: Void = server.shutdown(within: .seconds(600))
        #expect(try idle.rest().isEmpty, "closed although the download is under way")
        #expect(try busy.read(HTTPOrigin.largeByteCount).count == HTTPOrigin.largeByteCount)
        #expect(try busy.rest().isEmpty)
        await down
    }

    @Test func secondShutdownReturns() async throws {
        let origin = try await HTTPOrigin()
        await origin.server.shutdown(within: .seconds(1))
        await origin.server.shutdown(within: .seconds(1))
    }

    @Test func addressInUseIsReported() async throws {
        let origin = try await HTTPOrigin()
        let port = origin.server.port
        await #expect(throws: HTTPServerError.addressInUse(host: "127.0.0.1", port: port)) {
            try await Self.start("127.0.0.1", port)
        }
        await origin.server.shutdown(within: .seconds(1))
        // The port is free at once, although connections of the old server may still linger.
        let next = try await Self.start("127.0.0.1", port)
        #expect(next.port == port)
        await next.shutdown(within: .seconds(1))
    }

    @Test func addressOfAnotherMachineIsReported() async throws {
        await #expect(throws: HTTPServerError.addressNotAvailable(host: "192.0.2.1", port: 0)) {
            try await Self.start("192.0.2.1", 0)
        }
    }

    @Test func unknownHostIsReported() async throws {
        await #expect(throws: HTTPServerError.unknownHost("no-such-host.invalid")) {
            try await Self.start("no-such-host.invalid", 0)
        }
    }

    /// curl(1) implements more of HTTP than the client of these tests.
    @Test func curlReadsResponses() async throws {
        let origin = try await HTTPOrigin()
        let base = "http://127.0.0.1:\(origin.server.port)"
        #expect(try runTool("curl", ["-sf", "--compressed", base + "/live.m3u8"]) == HTTPOrigin.playlist)
        #expect(
            try runTool("curl", ["-sf", "-r", "-100", base + "/seg-1.m4s"]) == Array(HTTPOrigin.segment.suffix(100)))
        #expect(
            try runTool("curl", ["-sf", "-C", "99000", base + "/seg-1.m4s"]) == Array(HTTPOrigin.segment[99_000...]))
        #expect(try runTool("curl", ["-sfI", base + "/seg-1.m4s"]).count > 0)
        await origin.server.shutdown(within: .seconds(1))
    }

    private static func start(_ host: String, _ port: Int) async throws -> HTTPServer {
        try await HTTPServer.start(
            on: ListenAddress(host: host, port: port), threads: 1,
            responder: TargetResponder { .now(.notFound($0.path)) })
    }
}

/// A server whose connections go over to another one on the same socket.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct HTTPServerHandoverTests {
    @Test func connectionsCloseAfterTheNextResponse() async throws {
        let origin = try await HTTPOrigin()
        var idle: RawClient? = try origin.client()
        try idle?.send(request("GET", "/query"))
        #expect(try idle?.response()["Connection"] == nil)
        origin.server.beginClosing()
        try idle?.send(request("GET", "/query"))
        let last = try #require(try idle?.response())
        #expect(last.status == 200 && last["Connection"] == "close")
        #expect(try idle?.rest() == [])
        idle = nil
        await origin.server.finish(within: .seconds(600))
        await origin.server.resumeAccepting()
        var next = try origin.client()
        try next.send(request("GET", "/query"))
        #expect(try next.response()["Connection"] == nil)
        await origin.server.shutdown(within: .zero)
    }

    @Test func finishHasALimit() async throws {
        let origin = try await HTTPOrigin()
        var slow = try origin.client(receiveBuffer: 4096)
        try slow.send(request("GET", "/large.mp4"))
        #expect(try slow.head().status == 200)
        origin.server.beginClosing()
        await origin.server.finish(within: .milliseconds(100))
        await origin.server.shutdown(within: .milliseconds(1))
        #expect(try slow.rest().count < HTTPOrigin.largeByteCount)
    }

    /// A connection that nobody has accepted yet belongs to the socket, not to the server that closes.
    @Test func waitingConnectionsAreServedByTheNextServer() async throws {
        let origin = try await HTTPOrigin()
        let listener = try #require(await origin.server.duplicateListener())
        await origin.server.pauseAccepting()
        var waiting = try origin.client()
        try waiting.send(request("GET", "/query"))
        let next = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), listening: listener, threads: 1,
            responder: TargetResponder { _ in .now(.text(.ok, "next")) })
        #expect(next.port == origin.server.port)
        #expect(String(decoding: try waiting.response().body, as: UTF8.self) == "next\n")
        await origin.server.shutdown(within: .zero)
        var later = try RawClient(port: next.port)
        try later.send(request("GET", "/query"))
        #expect(try later.response().status == 200)
        await next.shutdown(within: .zero)
    }
}
