import Foundation
import Synchronization
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// Keep-alive, pipelining, concurrent connections and closing.
@Suite(.ownThreads) struct HTTPConnectionTests {
    @Test func twoHundredRequestsOnOneConnection() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        for index in 0..<200 {
            try client.send(request("GET", index % 2 == 0 ? "/live.m3u8" : "/seg-1.m4s"))
            let response = try client.response()
            #expect(response.body == (index % 2 == 0 ? HTTPOrigin.playlist : HTTPOrigin.segment))
        }
        #expect(try origin.reachesOpenFileCount(0))
        await origin.server.shutdown(within: .seconds(1))
    }

    /// Requests of one packet are answered completely and in order; thousands of them do not grow the stack.
    @Test func pipelinedRequests() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        let count = 2000
        try client.send(
            (0..<count).map {
                request(
                    "GET", $0 % 3 == 0 ? "/seg-1.m4s" : "/query?start=\($0)",
                    $0 % 3 == 0 ? ["Range: bytes=\($0)-\($0)"] : [])
            }.joined())
        for index in 0..<count {
            let expected = index % 3 == 0 ? [HTTPOrigin.segment[index]] : Array("\(index)\n".utf8)
            #expect(try client.response().body == expected)
        }
        await origin.server.shutdown(within: .seconds(1))
    }

    @Test func sixtyFourConnectionsAtOnce() async throws {
        let origin = try await HTTPOrigin(threads: 2)
        let count = 64
        let clients = UnsafeMutableBufferPointer<RawClient>.allocate(capacity: count)
        for index in 0..<count { unsafe clients.initializeElement(at: index, to: try origin.client()) }
        for index in 0..<count { try unsafe clients[index].send(request("GET", "/seg-1.m4s")) }
        for index in (0..<count).reversed() {
            #expect(try unsafe clients[index].response().body == HTTPOrigin.segment)
        }
        unsafe clients.deinitialize()
        unsafe clients.deallocate()
        await origin.server.shutdown(within: .seconds(1))
    }

    /// A body in memory is shared: a client holds a slice of it, and gets it whole.
    @Test func slowReadersHoldNoCopies() async throws {
        let body = (0..<16 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 2,
            responder: TargetResponder { _ in
                .now(Response(cacheControl: .immutable, body: .bytes(body, gzip: nil)))
            })
        let before = try Self.residentBytes()
        let count = 24
        let clients = UnsafeMutableBufferPointer<RawClient>.allocate(capacity: count)
        for index in 0..<count {
            unsafe clients.initializeElement(at: index, to: try RawClient(port: server.port, receiveBuffer: 4096))
            try unsafe clients[index].send(request("GET", "/"))
            #expect(try unsafe clients[index].head().status == 200)
        }
        #expect(try Self.residentBytes() - before < count * body.count / 4)
        #expect(try unsafe clients[0].read(body.count) == body)
        unsafe clients.deinitialize()
        unsafe clients.deallocate()
        await server.shutdown(within: .zero)
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[1])) * 4096
    }

    @Test func slowReaderDelaysNoOtherClient() async throws {
        let origin = try await HTTPOrigin()
        var slow = try origin.client(receiveBuffer: 4096)
        try slow.send(request("GET", "/large.mp4"))
        #expect(try slow.head().status == 200)
        var quick = try origin.client()
        for _ in 0..<50 {
            try quick.send(request("GET", "/seg-1.m4s"))
            #expect(try quick.response().body.count == HTTPOrigin.segment.count)
        }
        #expect(try origin.reachesOpenFileCount(1), "the slow client's file is still being sent")
        #expect(try slow.read(4 << 20).count == 4 << 20)
        await origin.server.shutdown(within: .zero)
    }

    @Test(arguments: [true, false])
    func disconnectedClientReleasesItsFile(byReset: Bool) async throws {
        let origin = try await HTTPOrigin()
        try Self.disconnectDuringDownload(of: origin, byReset: byReset)
        // The event loop notices the end of the connection between two requests of another client.
        #expect(try origin.reachesOpenFileCount(0))
        await origin.server.shutdown(within: .seconds(1))
    }

    private static func disconnectDuringDownload(of origin: borrowing HTTPOrigin, byReset: Bool) throws {
        var client = try origin.client(receiveBuffer: 4096)
        try client.send(request("GET", "/large.mp4"))
        #expect(try client.head().status == 200)
        #expect(try origin.reachesOpenFileCount(1))
        if byReset { client.resetAtEnd() }
    }

    @Test func halfClosedClientGetsItsResponse() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        try client.send(request("GET", "/seg-1.m4s"))
        client.endSending()
        #expect(try client.response().body.count == HTTPOrigin.segment.count)
        #expect(try client.rest().isEmpty)
        await origin.server.shutdown(within: .seconds(1))
    }

    static let silences: [(client: String, sends: String)] = [
        ("sends nothing", ""), ("sends half a head", "GET / HT"), ("is done", request("GET", "/query")),
    ]

    @Test(arguments: silences)
    func silentConnectionIsClosed(client: String, sends: String) async throws {
        let origin = try await HTTPOrigin(limits: .init(idleTime: .milliseconds(100)))
        var connection = try origin.client()
        try connection.send(sends)
        if sends.hasSuffix("\r\n\r\n") { #expect(try connection.response().status == 200) }
        #expect(try connection.rest().isEmpty, "client \(client)")
        await origin.server.shutdown(within: .seconds(1))
    }

    /// A client is told to ask again, and may do so at once; what is made too late answers no other request.
    @Test func answerThatTakesTooLongIsRefused() async throws {
        let late = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), limits: .init(idleTime: .milliseconds(200)), threads: 1,
            responder: TargetResponder { target in
                .later {
                    if target.path == "/late" {
                        await withCheckedContinuation { continuation in late.withLock { $0 = continuation } }
                    } else {
                        late.withLock { $0.take() }?.resume()
                        try? await Task.sleep(for: .milliseconds(50))
                    }
                    return .text(.ok, target.path)
                }
            })
        var client = try RawClient(port: server.port)
        try client.send(request("GET", "/late"))
        let refusal = try client.response()
        #expect(refusal.status == 503 && refusal["Retry-After"] == "5")
        try client.send(request("GET", "/other"))
        #expect(try client.response().body == Array("/other\n".utf8))
        #expect(try client.rest().isEmpty)
        await server.shutdown(within: .seconds(1))
    }

    /// The announced length cannot be reached: the connection closes, and the server continues.
    @Test func connectionClosesWhenItsFileShrinks() async throws {
        let origin = try await HTTPOrigin(limits: .init(idleTime: .milliseconds(500)))
        var client = try origin.client(receiveBuffer: 4096)
        try client.send(request("GET", "/large.mp4"))
        let announced = Int(try client.head()["Content-Length"] ?? "")
        #expect(announced == HTTPOrigin.largeByteCount)
        try FileHandle(forWritingTo: origin.directory.appendingPathComponent("large.mp4")).truncate(atOffset: 1000)
        #expect(try client.rest().count < HTTPOrigin.largeByteCount)
        #expect(try origin.reachesOpenFileCount(0))
        var other = try origin.client()
        try other.send(request("GET", "/query"))
        #expect(try other.response().status == 200)
        await origin.server.shutdown(within: .seconds(1))
    }

    @Test func removedFileIsSentCompletely() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client(receiveBuffer: 4096)
        try client.send(request("GET", "/large.mp4"))
        #expect(try client.head().status == 200)
        try FileManager.default.removeItem(at: origin.directory.appendingPathComponent("large.mp4"))
        #expect(try client.read(HTTPOrigin.largeByteCount).count == HTTPOrigin.largeByteCount)
        await origin.server.shutdown(within: .seconds(1))
    }
}
