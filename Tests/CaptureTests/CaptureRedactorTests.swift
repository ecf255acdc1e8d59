import Testing

@testable import Capture
@testable import Fetch

private let everything = CaptureRedactor.Options(queries: true, headers: true, hosts: true)

/// URLs in order of appearance, and their redacted forms.
private let rows: [(when: String, options: CaptureRedactor.Options, urls: [String], redacted: [String])] = [
    ("a password is always removed", .none, ["http://me:secret@h:81/a?b"], ["http://h:81/a?b"]),
    ("nothing else changes", .none, ["https://h/a?b#c", "HTTP://H/"], ["https://h/a?b#c", "HTTP://H/"]),
    (
        "a query is removed", .init(queries: true), ["http://h/a?b#c", "http://h/a?b", "http://h/b?b"],
        ["http://h/a", "http://h/a", "http://h/b"]
    ),
    (
        "another query is another resource", .init(queries: true),
        ["http://h/k?id=1", "http://h/k?id=2", "http://h/k?id=1", "http://h/k", "http://h/k?"],
        ["http://h/k", "http://h/k?2", "http://h/k", "http://h/k?3", "http://h/k?4"]
    ),
    (
        "hosts are numbered", .init(hosts: true), ["http://b/1?q", "https://a:8443/2", "http://u@b/3"],
        ["http://host-1.example/1?q", "https://host-2.example/2", "http://host-1.example/3"]
    ),
]

@Test(arguments: rows)
func distinctURLsStayDistinct(
    when: String, options: CaptureRedactor.Options, urls: [String], redacted: [String]
) {
    var redactor = CaptureRedactor(options)
    #expect(urls.map { redactor.redact(url: $0) } == redacted, "\(when)")
}

private let references: [(when: String, text: String, redacted: String)] = [
    ("relative", "a/1.ts?t=1", "a/1.ts"), ("absolute path", "/1.ts?t=1", "/1.ts"),
    ("absolute, the same host", "http://h/x/2.ts?t", "http://host-1.example/x/2.ts"),
    ("absolute, another", "https://cdn:444/2.ts?t", "https://host-2.example/2.ts"),
    ("without a scheme", "//cdn/2.ts?t", "http://host-2.example/2.ts"),
    ("a query alone", "?n=2", "http://host-1.example/p/list.m3u8?2"),
]

@Test(arguments: references) func playlistURIsAreRedactedLikeTheIndex(when: String, text: String, redacted: String) {
    var redactor = CaptureRedactor(everything)
    let base = "http://h/p/list.m3u8?token"
    #expect(redactor.redact(url: base) == "http://host-1.example/p/list.m3u8")
    let playlist = redactor.redact(body: Array("#EXTM3U\n#EXTINF:2,\n\(text)\n".utf8), base: base)
    #expect(String(decoding: playlist, as: UTF8.self) == "#EXTM3U\n#EXTINF:2,\n\(redacted)\n", "\(when)")
}

/// Lines of the playlist `http://h/p/list.m3u8` that contain `secret`, and their redacted forms.
private let secrets: [(line: String, redacted: String)] = [
    ("#EXT-X-DATERANGE:ID=\"a\",X-ASSET-LIST=\"/l?tok=secret\"", "#EXT-X-DATERANGE:ID=\"a\",X-ASSET-LIST=\"/l\""),
    ("#EXT-X-CONTENT-STEERING:SERVER-URI=\"/s?tok=secret\"", "#EXT-X-CONTENT-STEERING:SERVER-URI=\"/s\""),
    ("#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"secret\"", "#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"\""),
    ("# made from https://me:secret@h/x?tok=secret", "#"), ("## secret", "#"),
    ("#EXT-X-VENDOR:https://h/v?tok=secret,secret", "#EXT-X-VENDOR:http://host-1.example/v"),
    ("#EXT-X-VENDOR:SRC=\"at http://h/v?tok=secret\"", "#EXT-X-VENDOR:SRC=\"at http://host-1.example/v\""),
    ("#EXTINF:2,http://h/v?tok=secret", "#EXTINF:2,http://host-1.example/v"),
]

@Test(arguments: secrets) func noPlaylistLineContainsASecret(line: String, redacted: String) {
    var redactor = CaptureRedactor(everything)
    let playlist = redactor.redact(body: Array("#EXTM3U\n\(line)\n".utf8), base: "http://h/p/list.m3u8?tok=secret")
    let expected = redacted.replacing("http://", with: line.contains("https://") ? "https://" : "http://")
    #expect(String(decoding: playlist, as: UTF8.self) == "#EXTM3U\n\(expected)\n")
}

@Test func variablesOfTheMasterApplyToItsMediaPlaylists() {
    var redactor = CaptureRedactor(everything)
    let master = """
        #EXTM3U
        #EXT-X-DEFINE:NAME="cdn",VALUE="http://cdn"
        #EXT-X-STREAM-INF:BANDWIDTH=1
        main.m3u8

        """
    _ = redactor.redact(body: Array(master.utf8), base: "http://h/master.m3u8")
    let media = "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"cdn\"\n#EXTINF:2,\n{$cdn}/1.ts?t\n"
    let redacted = "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"cdn\"\n#EXTINF:2,\nhttp://host-2.example/1.ts\n"
    #expect(
        String(decoding: redactor.redact(body: Array(media.utf8), base: "http://h/main.m3u8"), as: UTF8.self)
            == redacted)
}

private let headerRows: [(when: String, options: CaptureRedactor.Options, kept: [String])] = [
    ("always", .none, ["Content-Type", "Retry-After", "ETag", "Link"]),
    ("without queries", .init(queries: true), ["Content-Type", "Retry-After", "ETag"]),
    ("without hosts", .init(hosts: true), ["Content-Type", "Retry-After", "ETag"]),
    ("without headers", .init(headers: true), ["Content-Type", "Retry-After"]),
]

@Test(arguments: headerRows) func keptHeaders(when: String, options: CaptureRedactor.Options, kept: [String]) {
    let headers = [
        ("Content-Type", "video/mp2t"), ("Set-Cookie", "a=b"), ("Content-Length", "3"), ("Retry-After", "2"),
        ("ETag", "\"e\""), ("Link", "<http://h/a?token>"),
    ].map { FetchAnswer.Header(name: $0.0, value: $0.1) }
    #expect(CaptureRedactor(options).redact(headers: headers).map(\.name) == kept, "\(when)")
}

/// A file is recognized by its size, and read in parts.
@Test func fileKeepsItsSizeAndItsPlaces() {
    let names = ["Accept-Ranges", "Content-Length", "Content-Range"]
    let headers = names.map { FetchAnswer.Header(name: $0, value: "bytes") }
    for options in [CaptureRedactor.Options.none, everything] {
        #expect(CaptureRedactor(options).redact(headers: headers, isFile: true).map(\.name) == names)
    }
}

@Test func changingTokensDoNotOccupyMemory() {
    var redactor = CaptureRedactor(everything)
    #expect(redactor.redact(url: "http://h/a?key") == "http://host-1.example/a")
    for token in 0..<10_000 {
        #expect(redactor.redact(url: "http://h/list.m3u8?\(token)").hasPrefix("http://host-1.example/list.m3u8"))
        #expect(redactor.redact(url: "http://h/a?key") == "http://host-1.example/a", "used continuously")
    }
    #expect(String(reflecting: redactor).utf8.count < 20_000)
    #expect(redactor.redact(url: "http://h/list.m3u8?0") == "http://host-1.example/list.m3u8?10001")
}

@Test func cacheEvictsUnusedValues() {
    var cache = RecentCache<Int>(limit: 4)
    for key in 0..<100 {
        cache[UInt64(key)] = key
        #expect(cache[0] == 0, "used continuously")
    }
    #expect(cache[98] == 98 && cache[50] == nil)
}
