package import Foundation

import HTTP
package import WebServer

/// A server with a directory of files, for tests with real connections.
package struct HTTPOrigin: ~Copyable {
    package static let playlist = Array(String(repeating: "#EXTINF:6.006,\nseg-1.m4s\n", count: 160).utf8)
    package static let segment = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    /// More bytes than the socket buffers of a connection hold, so that a client that does not read blocks the sender.
    package static let largeByteCount = 64 << 20

    package let server: HTTPServer
    package let directory: URL

    package init(limits: HTTPServer.Limits = .init(), threads: Int = 1) async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("origin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(Self.segment).write(to: directory.appendingPathComponent("seg-1.m4s"))
        try Data(Self.segment).write(to: directory.appendingPathComponent("grown.m4s"))
        let large = directory.appendingPathComponent("large.mp4")
        try Data().write(to: large)
        try FileHandle(forWritingTo: large).truncate(atOffset: UInt64(Self.largeByteCount))
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), limits: limits, threads: threads,
            responder: TargetResponder(respond: Self.responder(directory.path)))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private static func responder(_ directory: String) -> @Sendable (RequestTarget) -> Answer {
        let gzip = LazyGzip(playlist)
        return { target in
            .now(response(to: target))
        }
        @Sendable func response(to target: RequestTarget) -> Response {
            switch target.path {
            case "/live.m3u8":
                return Response(
                    contentType: .playlist, cacheControl: .maxAge(seconds: 3), etag: "\"p1\"",
                    body: .bytes(playlist, gzip: gzip))
            case "/seg-1.m4s": return file("seg-1.m4s", segment.count)
            case "/grown.m4s": return file("grown.m4s", 1000)
            case "/large.mp4": return file("large.mp4", largeByteCount)
            case "/shrunk.m4s": return file("seg-1.m4s", segment.count + 1)
            case "/evicted.m4s": return file("evicted.m4s", 1000)
            case "/directory": return file("", 10)
            case "/query": return .text(.ok, target.query.first { $0.name == "start" }?.value ?? "none")
            case "/nothing": return Response(contentType: .text, cacheControl: .noStore, body: .empty)
            default: return .notFound(target.path, cacheControl: .maxAge(seconds: 6))
            }
        }
        @Sendable func file(_ name: String, _ byteCount: Int) -> Response {
            Response(
                contentType: .videoMP4, cacheControl: .immutable, etag: "\"\(name)\"",
                body: .file(path: directory + "/" + name, byteCount: byteCount))
        }
    }

    package func client(receiveBuffer: CInt? = nil) throws -> RawClient {
        try RawClient(port: server.port, receiveBuffer: receiveBuffer)
    }

    /// Waits until the server has exactly `count` files of its directory open; returns false if that takes too long.
    ///
    /// A client may have a complete response before the server closes the file. Each round trip on another connection
    /// lets the only event loop continue.
    package func reachesOpenFileCount(_ count: Int) throws -> Bool {
        var other = try client()
        for _ in 0..<2000 {
            if try openFileCount() == count { return true }
            try other.send(request("GET", "/query"))
            _ = try other.response()
        }
        return false
    }

    /// Number of descriptors of this process for files in the directory.
    package func openFileCount() throws -> Int {
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return open.count {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return link?.hasPrefix(directory.path) == true
        }
    }
}

/// A request as text.
package func request(_ method: String, _ path: String, _ fields: [String] = [], version: String = "1.1") -> String {
    (["\(method) \(path) HTTP/\(version)", "Host: test"] + fields + ["", ""]).joined(separator: "\r\n")
}
