import Foundation
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// One request over a real socket, one answer: status, fields and body.
@Suite(.ownThreads) struct HTTPResponseTests {
    enum Body: Equatable, Sendable {
        case none
        case segment(Range<Int>)
        case playlist, gzipPlaylist
        case text(String)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        let request: String
        let status: Int
        /// nil: must be absent.
        let fields: [String: String?]
        let body: Body
        var testDescription: String { when }

        init(_ when: String, _ request: String, _ status: Int, _ fields: [String: String?], _ body: Body) {
            (self.when, self.request, self.status, self.fields, self.body) = (when, request, status, fields, body)
        }
    }

    static let segmentFields: [String: String?] = [
        "Content-Type": "video/mp4", "Content-Length": "100000", "ETag": "\"seg-1.m4s\"", "Accept-Ranges": "bytes",
        "Cache-Control": "max-age=31536000, immutable", "Access-Control-Allow-Origin": "*", "Content-Range": nil,
        "Access-Control-Expose-Headers": "Age, Content-Length, Content-Range, Date", "Connection": nil,
        "Transfer-Encoding": nil, "Set-Cookie": nil, "Vary": nil,
    ]
    static let playlistFields: [String: String?] = [
        "Content-Type": "application/vnd.apple.mpegurl", "Cache-Control": "max-age=3", "ETag": "\"p1\"",
        "Vary": "Accept-Encoding", "Content-Encoding": nil, "Content-Length": "\(HTTPOrigin.playlist.count)",
    ]

    static let rows: [Row] = [
        Row("segment", request("GET", "/seg-1.m4s"), 200, segmentFields, .segment(0..<100_000)),
        Row("segment, HEAD", request("HEAD", "/seg-1.m4s"), 200, segmentFields, .none),
        Row("playlist", request("GET", "/live.m3u8"), 200, playlistFields, .playlist),
        Row("playlist, HEAD", request("HEAD", "/live.m3u8"), 200, playlistFields, .none),
        Row(
            "playlist, gzip", request("GET", "/live.m3u8", ["Accept-Encoding: gzip, br"]), 200,
            ["Content-Encoding": "gzip", "Vary": "Accept-Encoding", "ETag": "\"p1-gzip\""], .gzipPlaylist),
        Row(
            "playlist, gzip refused", request("GET", "/live.m3u8", ["Accept-Encoding: gzip;q=0"]), 200,
            ["Content-Encoding": nil], .playlist),
        Row(
            "playlist, encodings in two fields",
            request("GET", "/live.m3u8", ["Accept-Encoding: br", "Accept-Encoding: gzip"]), 200,
            ["Content-Encoding": "gzip"], .gzipPlaylist),
        Row(
            "segment is not coded", request("GET", "/seg-1.m4s", ["Accept-Encoding: gzip"]), 200,
            ["Content-Encoding": nil], .segment(0..<100_000)),
        Row(
            "range", request("GET", "/seg-1.m4s", ["Range: bytes=100-199"]), 206,
            ["Content-Range": "bytes 100-199/100000", "Content-Length": "100", "ETag": "\"seg-1.m4s\""],
            .segment(100..<200)),
        Row(
            "range, HEAD", request("HEAD", "/seg-1.m4s", ["Range: bytes=100-199"]), 206,
            ["Content-Range": "bytes 100-199/100000", "Content-Length": "100"], .none),
        Row(
            "suffix range", request("GET", "/seg-1.m4s", ["Range: bytes=-100"]), 206,
            ["Content-Range": "bytes 99900-99999/100000"], .segment(99_900..<100_000)),
        Row(
            "open range", request("GET", "/seg-1.m4s", ["Range: bytes=99999-"]), 206,
            ["Content-Range": "bytes 99999-99999/100000"], .segment(99_999..<100_000)),
        Row(
            "range after the end", request("GET", "/seg-1.m4s", ["Range: bytes=100000-"]), 416,
            [
                "Content-Range": "bytes */100000", "Content-Length": "0", "Cache-Control": "no-store",
                "ETag": nil,
            ],
            .none),
        Row(
            "several ranges", request("GET", "/seg-1.m4s", ["Range: bytes=0-1,5-6"]), 200,
            ["Content-Range": nil], .segment(0..<100_000)),
        Row(
            "range with a matching If-Range",
            request("GET", "/seg-1.m4s", ["Range: bytes=0-1", "If-Range: \"seg-1.m4s\""]),
            206, [:], .segment(0..<2)),
        Row(
            "range with another If-Range", request("GET", "/seg-1.m4s", ["Range: bytes=0-1", "If-Range: \"old\""]),
            200, [:], .segment(0..<100_000)),
        Row(
            "range of a playlist selects uncompressed bytes",
            request("GET", "/live.m3u8", ["Range: bytes=0-6", "Accept-Encoding: gzip"]), 206,
            ["Content-Encoding": nil], .text("#EXTINF")),
        Row(
            "matching If-None-Match", request("GET", "/live.m3u8", ["If-None-Match: \"p0\", \"p1\""]), 304,
            ["ETag": "\"p1\"", "Cache-Control": "max-age=3", "Vary": "Accept-Encoding", "Content-Length": nil],
            .none),
        Row(
            "matching If-None-Match for gzip",
            request("GET", "/live.m3u8", ["Accept-Encoding: gzip", "If-None-Match: \"p1-gzip\""]),
            304, ["ETag": "\"p1-gzip\""], .none),
        Row(
            "If-None-Match for the other coding", request("GET", "/live.m3u8", ["If-None-Match: \"p1-gzip\""]), 200,
            [:],
            .playlist),
        Row(
            "If-None-Match precedes Range",
            request("GET", "/seg-1.m4s", ["Range: bytes=0-1", "If-None-Match: \"seg-1.m4s\""]), 304, [:], .none),
        Row(
            "file longer than announced", request("GET", "/grown.m4s"), 200, ["Content-Length": "1000"],
            .segment(0..<1000)),
        Row(
            "file shorter than announced", request("GET", "/shrunk.m4s"), 404, [:],
            .text("There is nothing at /shrunk.m4s.\n")),
        Row(
            "file removed", request("GET", "/evicted.m4s"), 404, [:],
            .text("There is nothing at /evicted.m4s.\n")),
        Row(
            "a directory is no file", request("GET", "/directory"), 404, [:], .text("There is nothing at /directory.\n")
        ),
        Row(
            "unknown path", request("GET", "/x"), 404,
            [
                "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=6",
                "Access-Control-Allow-Origin": "*",
            ],
            .text("There is nothing at /x.\n")),
        Row(
            "range of an unknown path", request("GET", "/x", ["Range: bytes=0-1"]), 404, [:],
            .text("There is nothing at /x.\n")),
        Row("an empty body", request("GET", "/nothing"), 200, ["Content-Length": "0"], .none),
        Row(
            "query", request("GET", "/query?start=2024-05-01T12:00:00+02:00"), 200, [:],
            .text("2024-05-01T12:00:00+02:00\n")),
        Row(
            "parent directory", request("GET", "/../x"), 400, [:], .text("The address of this request is malformed.\n")),
        Row(
            "preflight",
            request("OPTIONS", "/seg-1.m4s", ["Origin: https://a", "Access-Control-Request-Headers: range"]), 204,
            [
                "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
                "Access-Control-Allow-Headers": "Authorization, Range, If-None-Match, If-Range, Cache-Control",
                "Access-Control-Max-Age": "86400", "Content-Length": nil,
            ], .none),
        Row(
            "another method", request("DELETE", "/seg-1.m4s"), 405,
            ["Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Origin": "*"],
            .text("Only GET, HEAD and OPTIONS are answered here.\n")),
        Row(
            "a request body", request("POST", "/", ["Content-Length: 5"]) + "hello", 405,
            ["Connection": nil], .text("Only GET, HEAD and OPTIONS are answered here.\n")),
        Row(
            "a request body too large to skip", request("POST", "/", ["Content-Length: 10000000"]), 405,
            ["Connection": "close"], .text("Only GET, HEAD and OPTIONS are answered here.\n")),
        Row(
            "a request body after 100-continue", request("PUT", "/", ["Content-Length: 5", "Expect: 100-continue"]),
            405, ["Connection": "close"], .text("Only GET, HEAD and OPTIONS are answered here.\n")),
        Row(
            "Connection: close", request("GET", "/query", ["Connection: close"]), 200, ["Connection": "close"],
            .text("none\n")),
        Row("HTTP/1.0", request("GET", "/query", version: "1.0"), 200, ["Connection": "close"], .text("none\n")),
        Row(
            "HTTP/1.0 keep-alive", request("GET", "/query", ["Connection: keep-alive"], version: "1.0"), 200,
            ["Connection": "keep-alive"], .text("none\n")),
        Row("no Host", "GET /query HTTP/1.1\r\n\r\n", 400, [:], .text("A request needs one Host field.\n")),
        Row("no HTTP", "\u{16}\u{3}\u{1} hello\r\n\r\n", 400, ["Connection": "close"], .none),
        Row(
            "an oversized request line", request("GET", "/" + String(repeating: "a", count: 20_000)), 431,
            ["Connection": "close"], .none),
        Row(
            "oversized fields",
            request("GET", "/query", (0..<20).map { "X-\($0): " + String(repeating: "a", count: 1000) }),
            431, ["Connection": "close"], .none),
    ]

    /// After each response the connection closes, if announced, or serves the next request.
    @Test func responses() async throws {
        let origin = try await HTTPOrigin()
        for row in Self.rows {
            var client = try origin.client()
            try client.send(row.request)
            let response = try client.response(toHead: row.request.hasPrefix("HEAD"))
            #expect(response.status == row.status, "\(row.when)")
            for (name, value) in row.fields { #expect(response[name] == value, "\(row.when): \(name)") }
            try Self.expect(response.body, row.body, row.when)
            try Self.expectConnection(&client, closes: response["Connection"] == "close", row.when)
        }
        await origin.server.shutdown(within: .seconds(1))
    }

    private static func expect(_ body: [UInt8], _ expected: Body, _ when: String) throws {
        switch expected {
        case .none: #expect(body.isEmpty, "\(when)")
        case .segment(let range): #expect(body == Array(HTTPOrigin.segment[range]), "\(when)")
        case .playlist: #expect(body == HTTPOrigin.playlist, "\(when)")
        case .gzipPlaylist: #expect(try runTool("gzip", ["-dc"], input: body) == HTTPOrigin.playlist, "\(when)")
        case .text(let text): #expect(String(decoding: body, as: UTF8.self) == text, "\(when)")
        }
    }

    private static func expectConnection(_ client: inout RawClient, closes: Bool, _ when: String) throws {
        if closes {
            #expect(try client.rest().isEmpty, "\(when): nothing follows")
        } else {
            try client.send(request("GET", "/query"))
            #expect(try client.response().body == Array("none\n".utf8), "\(when): next request")
        }
    }

    @Test func dateFieldIsTheCurrentTime() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        let before = Int(Date().timeIntervalSince1970)
        try client.send(request("GET", "/query"))
        let date = try client.response()["Date"]
        let after = Int(Date().timeIntervalSince1970)
        #expect((before...after).map { HTTPDate.text(secondsSince1970: $0) }.contains(date ?? "none"))
        await origin.server.shutdown(within: .seconds(1))
    }
}
