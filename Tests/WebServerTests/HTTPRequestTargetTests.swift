import Testing

@testable import HTTP
@testable import WebServer

@Suite struct HTTPRequestTargetTests {
    typealias Item = RequestTarget.QueryItem

    static let rows: [(when: String, uri: String, path: String, query: [Item])] = [
        ("the root", "/", "/", []),
        ("a file of a channel", "/news/seg-1.m4s", "/news/seg-1.m4s", []),
        ("encoded", "/caf%C3%A9/a%20b.mp4", "/café/a b.mp4", []),
        ("dots in names", "/a..b/.hidden/...", "/a..b/.hidden/...", []),
        ("empty segments", "//a//", "//a//", []),
        (
            "query", "/dvr.m3u8?start=1&end=2", "/dvr.m3u8",
            [Item(name: "start", value: "1"), Item(name: "end", value: "2")]
        ),
        (
            "a plus is a plus", "/d?start=2024-05-01T12:00:00+02:00", "/d",
            [Item(name: "start", value: "2024-05-01T12:00:00+02:00")]
        ),
        ("an encoded plus", "/d?start=12:00%2B02:00", "/d", [Item(name: "start", value: "12:00+02:00")]),
        ("a name without value", "/d?live&x=", "/d", [Item(name: "live", value: ""), Item(name: "x", value: "")]),
        ("a value with equals signs", "/d?token=a==", "/d", [Item(name: "token", value: "a==")]),
        ("an empty query", "/d?", "/d", []),
        ("a second question mark", "/d?a=?", "/d", [Item(name: "a", value: "?")]),
        ("absolute form", "http://host:80/a?b=c", "/a", [Item(name: "b", value: "c")]),
        ("absolute form without path", "HTTPS://host", "/", []),
    ]

    @Test(arguments: rows)
    func accepted(when: String, uri: String, path: String, query: [Item]) throws {
        let target = try RequestTarget(method: .get, uri: uri)
        #expect(target.path == path, "\(when)")
        #expect(target.query == query, "\(when)")
    }

    static let refusals: [(when: String, uri: String, reason: RequestTarget.Malformed)] = [
        ("parent directory", "/../etc/passwd", .path),
        ("parent directory, encoded", "/%2e%2E/etc/passwd", .path),
        ("parent directory in the middle", "/a/../b", .path),
        ("current directory", "/./a", .path),
        ("a slash in a name", "/a%2Fb", .path),
        ("a slash after dots", "/..%2fetc", .path),
        ("NUL", "/a%00.mp4", .path),
        ("newline", "/a%0d%0ab", .path),
        ("an incomplete escape", "/a%4", .encoding),
        ("no hexadecimal digits", "/a%zz", .encoding),
        ("no UTF-8", "/a%ff", .encoding),
        ("no UTF-8 in the query", "/a?b=%ff", .encoding),
        ("asterisk", "*", .form),
        ("no slash", "a", .form),
        ("another scheme", "ftp://host/a", .form),
        ("empty", "", .form),
    ]

    @Test(arguments: refusals)
    func refused(when: String, uri: String, reason: RequestTarget.Malformed) {
        #expect(throws: reason, "\(when)") { try RequestTarget(method: .get, uri: uri) }
    }

    @Test func optionsOfTheServer() throws {
        #expect(try RequestTarget(method: .options, uri: "*").path == "/")
    }
}
