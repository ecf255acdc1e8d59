import TestSupport
import Testing

@testable import Playlist

/// Media playlist from lines; "#EXTM3U" is put before them.
private func playlist(_ lines: String...) throws(PlaylistError) -> MediaPlaylist {
    try MediaPlaylistParser.parse(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8))
}

private let malformedRows:
    [(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int, section: String)] = [
        ("EXTINF that is not a number", "#EXTINF:six,\na", .badValue("six,"), "EXTINF", 2, "4.3.2.1"),
        (
            "an IPTV channel list", "#EXTINF:-1 tvg-id=\"x\",Channel\nhttp://h/1",
            .badValue("-1 tvg-id=\"x\",Channel"), "EXTINF", 2, "4.3.2.1"
        ),
        ("a URI without EXTINF", "#EXT-X-TARGETDURATION:6\n\na", .missing, "EXTINF", 4, "4.3.2.1"),
        (
            "MEDIA-SEQUENCE twice, not the same", "#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:2", .duplicate,
            "EXT-X-MEDIA-SEQUENCE", 3, "4.3.3.2"
        ),
        ("nothing at all", "", .missing, "EXT-X-TARGETDURATION", 1, "4.3.3.1"),
        (
            "an IV without 0x", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=12", .badValue("IV=12"), "EXT-X-KEY", 2,
            "4.3.2.4"
        ),
        (
            "an IV of 17 bytes", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(String(repeating: "00", count: 17))",
            .badValue("IV=0x\(String(repeating: "00", count: 17))"), "EXT-X-KEY", 2, "4.3.2.4"
        ),
        (
            "an IV that is not hexadecimal", "\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xZZ", .badValue("IV=0xZZ"),
            "EXT-X-KEY", 3, "4.3.2.4"
        ),
        ("a key without URI", "#EXT-X-KEY:METHOD=SAMPLE-AES", .missingAttribute("URI"), "EXT-X-KEY", 2, "4.3.2.4"),
        ("a key without METHOD", "#EXT-X-KEY:URI=\"k\"", .missingAttribute("METHOD"), "EXT-X-KEY", 2, "4.3.2.4"),
        (
            "a key whose quote does not close", "#EXT-X-KEY:METHOD=AES-128,URI=\"k", .badValue("URI=\"k"), "EXT-X-KEY",
            2, "4.2"
        ),
        ("a map without URI", "#EXT-X-MAP:BYTERANGE=\"10@0\"", .missingAttribute("URI"), "EXT-X-MAP", 2, "4.3.2.5"),
        (
            "a map with a bad range", "#EXT-X-MAP:URI=\"i\",BYTERANGE=\"ten\"", .badValue("BYTERANGE=ten"), "EXT-X-MAP",
            2, "4.3.2.5"
        ),
        (
            "a byte range that is none", "#EXTINF:6,\n#EXT-X-BYTERANGE:a@b\na", .badValue("a@b"), "EXT-X-BYTERANGE", 3,
            "4.3.2.2"
        ),
        (
            "an implied offset after nothing", "#EXTINF:6,\n#EXT-X-BYTERANGE:10\na", .badValue("10"), "EXT-X-BYTERANGE",
            3, "4.3.2.2"
        ),
        (
            "an implied offset after another resource",
            "#EXTINF:6,\n#EXT-X-BYTERANGE:10@0\na\n#EXTINF:6,\n#EXT-X-BYTERANGE:10\nb", .badValue("10"),
            "EXT-X-BYTERANGE", 6, "4.3.2.2"
        ),
        (
            "a range past the last number", "#EXTINF:6,\n#EXT-X-BYTERANGE:10@18446744073709551615\na", .badValue("10"),
            "EXT-X-BYTERANGE", 3, "4.3.2.2"
        ),
        (
            "a skip without its count", "#EXT-X-SKIP:RECENTLY-REMOVED-DATERANGES=\"a\"",
            .missingAttribute("SKIPPED-SEGMENTS"), "EXT-X-SKIP", 2, "4.4.5.2"
        ),
        (
            "a skip beyond reason", "#EXT-X-SKIP:SKIPPED-SEGMENTS=99999999999",
            .badValue("SKIPPED-SEGMENTS=99999999999"), "EXT-X-SKIP", 2, "4.4.5.2"
        ),
        ("a multivariant playlist", "#EXT-X-STREAM-INF:BANDWIDTH=1\na", .misplaced, "EXT-X-STREAM-INF", 2, "4.3.4.2"),
    ]

@Test(arguments: malformedRows)
func malformedPlaylistsSayWhere(
    when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int, section: String
) {
    let error = #expect(throws: PlaylistError.self, "\(when)") { _ = try playlist(text) }
    #expect(error == PlaylistError(reason: reason, tag: tag, line: line, section: section), "\(when)")
}

private let notPlaylists: [(when: String, text: String, kind: DocumentKind, beginning: String)] = [
    (
        "a portal's page", "<!DOCTYPE html><html><body>Log in</body></html>", .webPage,
        "<!DOCTYPE html><html><body>Log in</body></html>"
    ),
    (
        "a DASH manifest", "<?xml version=\"1.0\"?>\n<!-- made by x -->\n<MPD>", .dashManifest,
        "<?xml version=\"1.0\"?>\n<!-- made by x -->\n<MPD>"
    ),
    ("an answer of an API", "{\"error\":\"expired\"}", .json, "{\"error\":\"expired\"}"),
    ("nothing", "", .nothing, ""),
    (
        "tags without the first line", "#EXT-X-VERSION:3\n#EXTINF:6,\na",
        .unknown(beginning: "#EXT-X-VERSION:3 #EXTINF:6, a"), "#EXT-X-VERSION:3\n#EXTINF:6,\na"
    ),
    ("bytes of media", "G@\u{0}\u{10}", .unknown(beginning: "G@"), "G@\u{0}\u{10}"),
    (
        "a long text, cut", String(repeating: "x", count: 5000),
        .unknown(beginning: String(repeating: "x", count: 40)), String(repeating: "x", count: 64)
    ),
]

@Test(arguments: notPlaylists)
func refusesTextThatIsNoPlaylist(when: String, text: String, kind: DocumentKind, beginning: String) {
    let expected = PlaylistError(
        reason: .notAPlaylist(kind, beginning: beginning), tag: "EXTM3U", line: 1, section: "4.3.1.1")
    #expect(throws: expected, "\(when)") { try PlaylistParser.parse(Array(text.utf8)) }
    #expect(throws: expected, "\(when)") { try MediaPlaylistParser.parse(Array(text.utf8)) }
    #expect(throws: expected, "\(when)") { try MultivariantPlaylistParser.parse(Array(text.utf8)) }
}

/// A list of channels has entries with a duration of -1, and no tag of HLS.
@Test func namesAListOfChannels() throws {
    let list = "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/1\n"
    let error = #expect(throws: PlaylistError.self) { try PlaylistParser.parse(Array(list.utf8)) }
    #expect(
        error?.reason == .notAPlaylist(.channelList, beginning: String(list.prefix(64))), "\(String(describing: error))"
    )
    let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:soon,\na.ts\n"
    let malformed = #expect(throws: PlaylistError.self) { try PlaylistParser.parse(Array(playlist.utf8)) }
    #expect(malformed?.tag == "EXTINF", "a playlist with a malformed tag is a playlist")
}

/// Tags that do not govern media are kept as they are instead of costing the channel.
private let toleratedRows = [
    "#EXT-X-PLAYLIST-TYPE:LIVE", "#EXT-X-SERVER-CONTROL:HOLD-BACK=\"x",
    "#EXT-X-DATERANGE:START-DATE=\"2026-01-02T03:04:05Z\"", "#EXT-X-SESSION-DATA:DATA-ID=\"x\"",
    "#EXT-X-UNHEARD-OF:\"",
]

@Test(arguments: toleratedRows)
func unreadableTagsOfTheHeadAreKept(line: String) throws {
    let read = try playlist(line, "#EXTINF:6,", "a")
    #expect(read.unknownTags == [line])
    #expect(read.segments.count == 1)
}

private let irregularRows: [(when: String, text: String, irregularities: [PlaylistError])] = [
    ("nothing wrong", "#EXT-X-VERSION:3", []),
    ("a blank before the version", "#EXT-X-VERSION: 10", []),
    ("a version in words, which nothing depends on", "#EXT-X-VERSION:three", []),
    (
        "an unknown playlist type", "\n#EXT-X-PLAYLIST-TYPE:LIVE",
        [PlaylistError(reason: .badValue("LIVE"), tag: "EXT-X-PLAYLIST-TYPE", line: 3, section: "4.3.3.5")]
    ),
    (
        "two EXTINFs for one URI", "#EXTINF:6,first",
        [PlaylistError(reason: .duplicate, tag: "EXTINF", line: 3, section: "4.3.2.1")]
    ),
    (
        "a key without attributes", "#EXT-X-KEY:",
        [PlaylistError(reason: .missingAttribute("METHOD"), tag: "EXT-X-KEY", line: 2, section: "4.3.2.4")]
    ),
    (
        "a map without a URI", "#EXT-X-MAP:URI=\"\"",
        [PlaylistError(reason: .badValue(""), tag: "EXT-X-MAP", line: 2, section: "4.3.2.5")]
    ),
]

/// What everybody else reads past is read past, and listed.
@Test(arguments: irregularRows)
func irregularPlaylistsAreRead(when: String, text: String, irregularities: [PlaylistError]) throws {
    let read = try playlist(text, "#EXTINF:4,last", "a")
    #expect(read.irregularities == irregularities, "\(when)")
    #expect(read.segments.map(\.duration) == [.seconds(4)], "\(when)")
    #expect(read.segments.allSatisfy { $0.keys.isEmpty && $0.map == nil }, "\(when)")
}

@Test(arguments: [false, true]) func playlistInUTF16IsRead(isBigEndian: Bool) throws {
    let text = "#EXTM3U\r\n#EXT-X-TARGETDURATION:6\r\n#EXTINF:6,é\r\nä.ts\r\n"
    let bytes = ("\u{FEFF}" + text).utf16.flatMap { unit in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
        return isBigEndian ? [high, low] : [low, high]
    }
    #expect(try PlaylistParser.parse(bytes) == PlaylistParser.parse(Array(text.utf8)))
    #expect(throws: PlaylistError.self) { try PlaylistParser.parse(Array(bytes.prefix(3))) }
}

@Test func irregularitiesAreBounded() throws {
    let text = Array(repeating: "#EXT-X-SESSION-DATA:DATA-ID=\"x\"", count: 5000).joined(separator: "\n")
    #expect(try playlist(text, "#EXTINF:4,", "a").irregularities.count == [PlaylistError].maximumIrregularities)
}

/// Whatever the bytes are, the parser answers with a value or a typed error.
@Test func damagedTextNeverTraps() {
    let sample = Array(
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:18446744073
        #EXT-X-DEFINE:NAME="v",VALUE="w"
        #EXT-X-KEY:METHOD=AES-128,URI="k{$v}",IV=0x12
        #EXT-X-MAP:URI="i",BYTERANGE="10@20"
        #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.678+01:00
        #EXT-X-PART:DURATION=1.5,URI="p",BYTERANGE="5@18446744073709551610"
        #EXTINF:6.006,title
        #EXT-X-BYTERANGE:99999@18446744073709551
        seg{$v}.ts
        """.utf8)
    let alphabet = Array("#:,\"=@.-0959{}$\r\n \u{0}".utf8) + [0xFF, 0xC3]
    var random = SeededGenerator(seed: 3)
    var read = 0
    for _ in 0..<4000 {
        var bytes = sample
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: 8..<bytes.count, using: &random)
            if random.once(in: 3) {
                bytes.remove(at: index)
            } else {
                bytes[index] = alphabet.randomElement(using: &random) ?? 0
            }
        }
        if let playlist = try? MediaPlaylistParser.parse(bytes) {
            read += 1
            _ = PlaylistWriter.write(playlist)
        }
    }
    #expect(200..<4000 ~= read, "both outcomes were seen: \(read)")
}
