import Testing

@testable import ChannelList

private let page = "<!DOCTYPE html>\n<html><head><title>Login</title></head></html>"
private let mark = "\u{FEFF}"

/// Whole lists, and what they say.
private let rows: [(when: String, text: String, says: [String])] = [
    ("CRLF", "#EXTM3U\r\n#EXTINF:-1,A\r\nhttp://h/1\r\n", ["A"]),
    ("CR alone", "#EXTM3U\r#EXTINF:-1,A\rhttp://h/1\r", ["A"]),
    ("CR at the ends of some lines", "#EXTM3U\r\n#EXTINF:-1,A\nhttp://h/1\r\n", ["A"]),
    ("two line breaks at each end", "#EXTM3U\r\r\n#EXTINF:-1,A\r\r\nhttp://h/1\r\r\n", ["A"]),
    ("no line break at the end", "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1", ["A"]),
    ("a byte order mark", "\(mark)#EXTM3U\n#EXTINF:-1,A\nhttp://h/1", ["A"]),
    ("a byte order mark before a URL", "\(mark)http://h/1", ["1", "1 missingHeader", "1 missingEntry"]),
    (
        "a byte order mark in the middle",
        "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n\(mark)#EXTM3U\n#EXTINF:-1,B\nhttp://h/1", ["A", "B"]
    ),
    ("blank lines everywhere", "\n\n#EXTM3U\n\n\n#EXTINF:-1,A\n\n\nhttp://h/1\n\n\n", ["A"]),
    ("no header", "#EXTINF:-1,A\nhttp://h/1", ["A", "1 missingHeader"]),
    ("a header without number sign", "EXTM3U\n#EXTINF:-1,A\nhttp://h/1", ["A", "1 missingNumberSign"]),
    (
        "entries without number sign", "#EXTM3U\nEXTINF:-1 tvg-id=\"a\",A\nhttp://h/1",
        ["A · id=a", "2 missingNumberSign"]
    ),
    ("directives in lower case", "#extm3u\n#extinf:-1,A\nhttp://h/1", ["A"]),
    (
        "text above the header", "My list\n#EXTM3U\n#EXTINF:-1,A\nhttp://h/1",
        ["A", "1 missingHeader", "1 unexpectedText(\"My list\")"]
    ),
    ("a comment above the header", "# by me\n#EXTM3U\n#EXTINF:-1,A\nhttp://h/1", ["A", "1 missingHeader"]),
    (
        "text between channels", "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n---- News ----\n#EXTINF:-1,B\nhttp://h/1",
        ["A", "B", "4 unexpectedText(\"---- News ----\")"]
    ),
    (
        "only URLs", "http://h/a.m3u8\nhttp://h/live/cnn/index.m3u8?t=1",
        [
            "a · http://h/a.m3u8", "cnn · http://h/live/cnn/index.m3u8?t=1", "1 missingHeader", "1 missingEntry",
            "2 missingEntry",
        ]
    ),
    ("an entry without URL", "#EXTM3U\n#EXTINF:-1,A\n#EXTINF:-1,B\nhttp://h/1", ["B", "2 missingURL(name: \"A\")"]),
    (
        "an entry without URL at the end", "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n#EXTINF:-1,B",
        ["A", "4 missingURL(name: \"B\")"]
    ),
    (
        "one name twice", "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n#EXTINF:-1,A\nhttp://h/2",
        ["A", "A · http://h/2", "4 repeatedName(\"A\", slug: \"a-2\")"]
    ),
    (
        "one id and name twice",
        "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/1\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/2",
        ["A · id=a · http://h/2"]
    ),
    (
        "one id, two names", "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/1\n#EXTINF:-1 tvg-id=\"a\",B\nhttp://h/1",
        ["A · id=a", "B · id=a"]
    ),
    (
        "one channel in two groups",
        "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\" group-title=\"G\",A\nhttp://h/1\n#EXTINF:-1 tvg-id=\"a\" group-title=\"H\",A\nhttp://h/1",
        ["A · id=a · groups=G;H"]
    ),
    (
        "one id and name, far apart",
        "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/1\n#EXTINF:-1,B\nhttp://h/1\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/2",
        ["A · id=a · http://h/2", "B"]
    ),
    (
        "EXTGRP before two entries", "#EXTM3U\n#EXTGRP:E\n#EXTINF:-1,A\nhttp://h/1\n#EXTINF:-1,B\nhttp://h/1",
        ["A · groups=E", "B · groups=E"]
    ),
    (
        "EXTGRP after the entry", "#EXTM3U\n#EXTINF:-1,A\n#EXTGRP:E\nhttp://h/1\n#EXTINF:-1,B\nhttp://h/1",
        ["A · groups=E", "B"]
    ),
    (
        "an empty EXTGRP", "#EXTM3U\n#EXTGRP:E\n#EXTINF:-1,A\nhttp://h/1\n#EXTGRP:\n#EXTINF:-1,B\nhttp://h/1",
        ["A · groups=E", "B"]
    ),
    (
        "group-title ends EXTGRP",
        "#EXTM3U\n#EXTGRP:E\n#EXTINF:-1 group-title=\"G\",A\nhttp://h/1\n#EXTINF:-1,B\nhttp://h/1",
        ["A · groups=G", "B"]
    ),
    ("group-title before EXTGRP", "#EXTM3U\n#EXTINF:-1 group-title=\"G\",A\n#EXTGRP:E\nhttp://h/1", ["A · groups=G"]),
    ("EXTGRP with a space", "#EXTM3U\n#EXTINF:-1,A\n#EXTGRP: E;F\nhttp://h/1", ["A · groups=E;F"]),
    (
        "options before the first entry",
        "#EXTM3U\n#EXTVLCOPT:http-user-agent=U\n#EXTVLCOPT:network-caching=1000\n#EXTINF:-1,A\nhttp://h/a\n#EXTINF:-1,B\nhttp://h/1",
        ["A · http://h/a {User-Agent: U}", "B", "3 unknownOption(\"network-caching\")"]
    ),
    (
        "options between two entries",
        "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n#EXTVLCOPT:http-user-agent=U\n#EXTINF:-1,B\nhttp://h/b",
        ["A", "B · http://h/b {User-Agent: U}"]
    ),
    (
        "an option in every entry is named once",
        "#EXTM3U\n#EXTINF:-1,A\n#EXTVLCOPT:program=1\nhttp://h/1\n#EXTINF:-1,B\n#EXTVLCOPT:program=2\nhttp://h/1",
        ["A", "B", "3 unknownOption(\"program\")"]
    ),
    ("a promise in a comment at the top", "#EXTM3U\n#https://t.me/list\n#EXTINF:-1,A\nhttp://h/1", ["A"]),
    (
        "a header with defaults",
        "#EXTM3U tvg-shift=\"-4.5\" catchup=\"shift\" catchup-days=\"7\"\n#EXTINF:-1,A\nhttp://h/1\n#EXTINF:-1 tvg-shift=\"1\" catchup-days=\"1\",B\nhttp://h/1",
        ["A · shift=-4.5", "B · shift=1"]
    ),
    (
        "multicast between channels", "#EXTM3U\n#EXTINF:-1,A\nudp://@239.0.0.1:1\n#EXTINF:-1,B\nhttp://h/1",
        ["A · udp://@239.0.0.1:1", "B"]
    ),
    (
        "an HLS tag far below",
        "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/1\n#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXTINF:-1,B\nhttp://h/1",
        ["A · id=a", "B", "4 unknownDirective(\"#EXT-X-STREAM-INF\")"]
    ),
    (
        "a stray end of a playlist", "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n#EXT-X-ENDLIST",
        ["A", "4 unknownDirective(\"#EXT-X-ENDLIST\")"]
    ),

    // What is no list.
    (
        "a media playlist", "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts",
        ["notAList(an HLS media playlist, which is one channel, line: 3)"]
    ),
    (
        "a media playlist by its sequence", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:6\n#EXTINF:6,\na.ts",
        ["notAList(an HLS media playlist, which is one channel, line: 2)"]
    ),
    (
        "a multivariant playlist", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8",
        ["notAList(an HLS multivariant playlist, which is one channel, line: 2)"]
    ),
    (
        "a DASH manifest", "<?xml version=\"1.0\"?>\n<!-- x -->\n<MPD xmlns=\"urn:mpeg:dash\">",
        ["notAList(a DASH manifest, which is one channel, line: 1)"]
    ),
    ("a web page", page, ["notAList(a web page, line: 1)"]),
    (
        "a web page after a blank line", "\n  <HTML>",
        ["notAList(a web page, line: 1)"]
    ),
    (
        "a part of a web page", "<center>403 Forbidden</center>",
        ["notAList(a web page, line: 1)"]
    ),
    (
        "a guide", "\(mark)<?xml version=\"1.0\"?>\n<!DOCTYPE tv SYSTEM \"xmltv.dtd\">\n<tv>",
        ["notAList(an XMLTV guide, line: 1)"]
    ),
    ("other XML", "<?xml version=\"1.0\"?>\n<rss>", ["notAList(an XML document, line: 1)"]),
    ("JSON", "{\"error\":\"expired\"}", ["notAList(a JSON document, line: 1)"]),
    ("PLS", "[playlist]\nFile1=http://h/1", ["notAList(a list in the PLS format, line: 1)"]),
    ("nothing", "", ["notAList(empty, line: 1)"]),
    ("blank lines", " \r\n\n", ["notAList(empty, line: 1)"]),
    (
        "words", "Invalid credentials\u{7}",
        ["notAList(something that begins with “Invalid credentials”, line: 1)"]
    ),
    ("a header alone", "#EXTM3U\n", ["noChannels(firstIssue: nil)"]),
]

private let headerRows: [(when: String, line: String, guides: [String])] = [
    ("x-tvg-url", "#EXTM3U x-tvg-url=\"http://g/e.xml\"", ["http://g/e.xml"]),
    ("url-tvg and others", "#EXTM3U url-tvg=\"http://x/\" m3uautoload=1 cache=500 deinterlace=1", ["http://x/"]),
    (
        "three guides", "#EXTM3U url-tvg=\"http://a/a.xml,http://a/b.xml.gz,http://a/c.xml\" refresh=\"3600\"",
        ["http://a/a.xml", "http://a/b.xml.gz", "http://a/c.xml"]
    ),
    ("both keys, one guide", "#EXTM3U x-tvg-url=\"http://g/e.xml\" url-tvg=\"http://g/e.xml\"", ["http://g/e.xml"]),
    (
        "a missing quote", "#EXTM3U tvg-shift=\"-4.5\" x-tvg-url=\"http://p/guide.xml catchup-correction=\"-2.5\"",
        ["http://p/guide.xml"]
    ),
    ("single quotes", "#EXTM3U x-tvg-url='http://g/e.xml'", ["http://g/e.xml"]),
    ("no quotes", "#EXTM3U x-tvg-url=http://g/e.xml", ["http://g/e.xml"]),
    ("capitals", "#EXTM3U X-TVG-URL=\"http://g/e.xml\"", ["http://g/e.xml"]),
    ("a colon after the header", "#EXTM3U: x-tvg-url=\"http://g/e.xml\"", ["http://g/e.xml"]),
    ("a relative guide", "#EXTM3U x-tvg-url=\"e.xml.gz\"", ["http://list/dir/e.xml.gz"]),
    ("an empty guide", "#EXTM3U x-tvg-url=\"\"", []),
    ("a file as guide", "#EXTM3U x-tvg-url=\"/etc/passwd\"", ["http://list/etc/passwd"]),
    ("other schemes", "#EXTM3U x-tvg-url=\"file:///etc/passwd,ftp://g/e.xml,HTTP://g/e.xml\"", ["http://g/e.xml"]),
    ("spaces after commas", "#EXTM3U x-tvg-url=\"http://a/1, http://a/2\"", ["http://a/1", "http://a/2"]),
    ("two headers", "#EXTM3U x-tvg-url=\"http://a/1\"\n#EXTM3U url-tvg=\"http://a/2\"", ["http://a/1", "http://a/2"]),
]

/// Entries without a name of their own, and what they are called.
private let nameRows: [(entry: String, name: String)] = [
    ("#EXTINF:-1,\nhttp://user:PASSWORD@host/live.m3u8", "host"),
    ("http://user:PASSWORD@host:8080", "host"),
    ("http://user:PASS%40WORD@[::1]:8080/index.m3u8?t=PASSWORD", "[::1]"),
    ("http://host/live.m3u8?token=PASSWORD", "host"), ("http://host/bbc1/index.m3u8?token=PASSWORD#PASSWORD", "bbc1"),
    ("http://host/bbc1/0123PASSWORD89abcdef/index.m3u8", "bbc1"),
    ("http://host/bbc1/token=PASSWORD/index.m3u8", "bbc1"),
    ("http://host/bbc1/index;PASSWORD.m3u8", "bbc1"), ("http://host/bbc1/user%3APASSWORD%40/live.m3u8", "bbc1"),
    ("#EXTINF:-1,http://user:PASSWORD@host/live.m3u8\nhttp://h/1", "host"),
    ("#EXTINF:-1 tvg-name=\"http://user:PASSWORD@host/cnn.m3u8\",\nhttp://h/1", "cnn"),
    ("http://host/das_erste_hd_2026/index.m3u8", "das_erste_hd_2026"),
]

@Suite("Texts of lists") struct ListTextTests {
    @Test("A name that is made of a URL has no secret", arguments: nameRows)
    func name(entry: String, name: String) throws {
        let list = try M3UChannelListParser.parse(Array("#EXTM3U\n\(entry)\n".utf8))
        #expect(list.channels.map(\.name) == [name])
        let written = ChannelListWriter(baseURL: "http://h", format: .ts).write(list.channels)
        #expect(!(written + list.channels[0].slug).lowercased().contains("password"))
        #expect(!"\(list.issues)".contains("PASSWORD"))
    }

    @Test(arguments: rows)
    func list(when: String, text: String, says: [String]) {
        #expect(dump(list: Array(text.utf8)) == says, "\(when)")
    }

    @Test(arguments: headerRows)
    func guides(when: String, line: String, guides: [String]) throws {
        let text = "\(line)\n#EXTINF:-1,A\nhttp://h/1\n"
        let list = try M3UChannelListParser.parse(Array(text.utf8), url: "http://list/dir/l.m3u")
        #expect(list.guides == guides, "\(when)")
    }

    @Test("A list in a file names no file as its guide") func guideOfFile() throws {
        let text = "#EXTM3U x-tvg-url=\"/etc/passwd,guide.xml,../e.xml,http://g/e.xml\"\n#EXTINF:-1,A\nhttp://h/1\n"
        let list = try M3UChannelListParser.parse(Array(text.utf8))
        #expect(list.guides == ["http://g/e.xml"] && list.issueCount == 3)
    }

    @Test("Relative URLs are resolved against the list's") func relativeURLs() {
        let text =
            "#EXTM3U\n#EXTINF:-1 tvg-logo=\"l.png\",A\na/b.m3u8\n#EXTINF:-1,B\n/c.m3u8\n#EXTINF:-1,C\n//other/d\n"
        let says = dump(list: Array(text.utf8), url: "http://list/dir/l.m3u")
        #expect(
            says == [
                "A · logo=http://list/dir/l.png · http://list/dir/a/b.m3u8", "B · http://list/c.m3u8",
                "C · http://other/d",
            ])
    }

    @Test("Windows-1252 is decoded line by line") func windows1252() {
        let bytes =
            Array("#EXTM3U\n#EXTINF:-1 group-title=\"T".utf8) + [0xE9] + Array("l".utf8) + [0xE9, 0x22]
            + [0x2C, 0x80, 0x20, 0x41] + Array("\nhttp://h/1\n#EXTINF:-1,Télé\nhttp://h/1".utf8)
        #expect(dump(list: bytes) == ["€ A · groups=Télé", "Télé", "2 foreignEncoding"])
    }

    @Test("UTF-16 is read", arguments: [true, false]) func utf16(isBigEndian: Bool) {
        let bytes = "\u{FEFF}#EXTM3U\r\n#EXTINF:-1,Télé\r\nhttp://h/1\r\n".utf16.flatMap { unit in
            isBigEndian ? [UInt8(unit >> 8), UInt8(unit & 255)] : [UInt8(unit & 255), UInt8(unit >> 8)]
        }
        #expect(dump(list: bytes) == ["Télé"])
    }

    @Test("Compressed lists and media are named") func binary() {
        let packet: [UInt8] = [0x47] + Array(repeating: 0, count: 187)
        #expect(
            dump(list: [0x1F, 0x8B, 8, 0]) == ["notAList(a compressed file, line: 1)"])
        #expect(
            dump(list: packet + packet + packet) == [
                "notAList(a transport stream, line: 1)"
            ])
    }

    @Test("What there is too much of is passed over and named") func limits() throws {
        var limits = ChannelListLimits()
        (limits.channels, limits.sourcesPerChannel, limits.issues, limits.lineBytes) = (2, 2, 3, 60)
        let long = "#" + String(repeating: "x", count: 100)
        let text =
            "#EXTM3U\n\(long)\n#EXTINF:-1,A\nhttp://h/1\nhttp://h/2\nhttp://h/3\n#EXTINF:-1,B\nhttp://h/1\n"
            + "#EXTINF:-1,C\nhttp://h/1\n#EXTINF:-1,D\nftp://h/1\n"
        let list = try M3UChannelListParser.parse(Array(text.utf8), limits: limits)
        #expect(list.channels.map { dump($0) } == ["A · http://h/2", "B"])
        #expect(
            list.issues.map(dump) == [
                "2 longLine(bytes: 101)", "6 limit(ChannelList.ListIssue.Limit.sources)",
                "9 limit(ChannelList.ListIssue.Limit.channels)",
            ])
        #expect(list.issueCount == 4)
        limits.bytes = 10
        #expect(throws: ChannelListError.tooLarge(bytes: text.utf8.count, limit: 10)) {
            try M3UChannelListParser.parse(Array(text.utf8), limits: limits)
        }
    }
}
