import HTTP
import LiveRing
import WebServer

/// Entry for HTTP request targets and header fields.
enum RequestEntry {
    /// The input has lines: the target, Range, If-Range, If-None-Match, Accept-Encoding, Accept, Authorization, Forwarded
    /// and Host.
    static let entry = FuzzEntry(
        "request", "an HTTP request's target and fields", largest: 1024,
        dictionary: [
            "?start=", "&end=", "?last=", "?delay=", "2026-01-01T00:00:00Z", "bytes=", "%2e%2e", "%00", "W/\"",
            "gzip;q=0", "*/*;q=0.001", "text/html", "Bearer ", "for=", "proto=https", "host=",
            "for=\"[2001:db8::1]:80\"",
            "[::1]:65535", "&token=", "18446744073709551615", "99999999999999999999", "http://host/", "/dvr.m3u8",
            "/seg-1-0a0b0c0d.m4s", "/sub-0-1-0a0b0c0d.vtt", "/dvr-subs-0.m3u8",
            "/init-a.mp4", "/news", "/ts/", "/auto/v", "/tuner0/v", "/api/channels/", "/web/",
        ],
        seeds: { _ in targets.map { Array("\($0)\n\(fields)".utf8) } },
        run: { bytes in
            let lines = String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", maxSplits: 8, omittingEmptySubsequences: false).map(String.init)
            let target: RequestTarget
            do throws(RequestTarget.Malformed) {
                target = try RequestTarget(method: .get, uri: lines[0])
            } catch { return }
            try checkPath(target.path)
            for paths in [Route.Paths.list, .channel] {
                if case .channel(_, let resource) = Route(target, in: paths) { try checkNames(resource) }
            }
            try checkFields(lines.dropFirst() + Array(repeating: "", count: 8))
        })

    private static let fields = """
        bytes=0-99
        "a"
        W/"a", "b"
        gzip;q=0.5, *;q=0
        text/html;level=1, */*;q=0.5
        Bearer abc
        for="[2001:db8::1]:80";proto=https;host="a\\"b", for=192.0.2.1
        [2001:db8::1]:8080
        """

    private static let targets = [
        "/", "/live.m3u8", "/dvr.m3u8?last=600", "/dvr.m3u8?start=2026-01-01T00:00:00%2B01:00&end=1767225700.5",
        "/master.m3u8", "/dvr-master.m3u8?delay=30", "/subs-0.m3u8", "/dvr-subs-12.m3u8?last=9", "/status.json",
        "/seg-100-0a0b0c0d.m4s", "/sub-1-100-0a0b0c0d.vtt", "/init-0a0b0c0d.mp4", "http://host/live.m3u8?x=%41", "*",
        "/news/ts/dvr.m3u8?last=5", "/news/ts/seg-1-0a0b0c0d.ts", "/news.ts?speed=1.5", "/auto/v7?duration=5",
        "/api/channels/news", "/playlist.m3u?format=ts&group=a", "/news/web/page.css",
    ]

    private static func checkPath(_ path: String) throws {
        try demand(path.utf8.first == UInt8(ascii: "/"), "\(path) is not absolute")
        for part in path.split(separator: "/") {
            try demand(part != ".." && part != ".", "\(path) leaves its directory")
        }
        try demand(path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(path) has control characters")
    }

    /// Checks that a file name is a single path component, and that a range's query text gives the same range.
    private static func checkNames(_ resource: Route.Resource) throws {
        switch resource {
        case .initSection(let name), .segment(let name), .subtitles(let name), .transportSegment(let name):
            try demand(
                !name.utf8.contains(UInt8(ascii: "/")) && !name.hasPrefix("."), "\(name) is no file name of the spool")
        case .playlist(.rewind(_, let range)), .playlist(.master(_, let range?)):
            let query = range.query.split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1)
                return (name: String(sides[0]), value: String(sides[1]))
            }
            let again: RewindRange
            do throws(RewindRange.BadQuery) { again = try RewindRange(query: query) } catch {
                throw FuzzFinding(description: "\(range.query) of \(range) is rejected: \(error)")
            }
            try demand(again == range, "\(range) has the query \(range.query), which gives \(again)")
        default: break
        }
    }

    private static func checkFields(_ values: ArraySlice<String>) throws {
        let values = Array(values)
        for byteCount in [0, 1, 1000, Int.max] {
            guard case .part(let range) = HTTPByteRange(field: values[0], byteCount: byteCount) else { continue }
            try demand(
                !range.isEmpty && range.lowerBound >= 0 && range.upperBound <= byteCount, "\(range) of \(byteCount)")
        }
        _ = EntityTag.allowsRange("\"a\"", ifRange: values[1])
        _ = EntityTag.isListed("\"a\"", inIfNoneMatch: values[2])
        _ = AcceptField.allowsGzip(values[3])
        let weight = AcceptField.weight(of: "text/html", in: values[4])
        try demand((0...1000).contains(weight), "a weight of \(weight) thousandths")
        _ = AuthorizationField.bearerToken(values[5])
        for element in ForwardedField.parse(values[6]) ?? [] {
            _ = ForwardedField.address(ofNode: element.node ?? "")
        }
        if HostField.isValid(values[7]) {
            try demand(
                values[7].utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"\"'<>&\\/".utf8.contains($0) },
                "\(values[7]) is no host")
        }
    }
}
