import TestSupport
import Testing

@testable import Playlist

/// Media playlist from lines; "#EXTM3U" is put before them.
private func playlist(_ lines: String...) throws(PlaylistError) -> MediaPlaylist {
    try MediaPlaylistParser.parse(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8))
}

/// What a segment is, in short: number, discontinuity number, URI, and the rest that is not the default.
private func summary(_ segment: MediaSegment) -> String {
    var words = ["\(segment.mediaSequence)/\(segment.discontinuitySequence)", segment.uri]
    words.append(DecimalSeconds.text(segment.duration))
    if segment.isDiscontinuous { words.append("discontinuous") }
    if segment.isGap { words.append("gap") }
    if let range = segment.byteRange { words.append(range.text) }
    words += segment.keys.map { "key=\($0.uri)" }
    if let map = segment.map { words.append(([map.uri] + map.keys.map { "under \($0.uri)" }).joined(separator: " ")) }
    if let date = segment.programDateTime { words.append(date.text) }
    if let bitrate = segment.bitrate { words.append("\(bitrate) kbit/s") }
    words += segment.parts.map { "part=\($0.uri) \($0.byteRange?.text ?? "")" }
    return (words + segment.unknownTags).joined(separator: " ")
}

private let segmentRows: [(when: String, text: String, segments: [String])] = [
    ("the least there can be", "#EXTINF:6,\na", ["0/0 a 6"]),
    ("an integer EXTINF without its comma", "#EXTINF:6\na", ["0/0 a 6"]),
    ("white space in EXTINF", "#EXTINF: 6.5 , t \na", ["0/0 a 6.5"]),
    (
        "CRLF, blank lines, no end of the last line", "\r\n\r\n#EXTINF:6,\r\n\r\na\r\n#EXTINF:4,\r\nb",
        ["0/0 a 6", "1/0 b 4"]
    ),
    (
        "control characters, which no line may have",
        "#EXT-X-\0GAP\n#EXTINF:6,\n \u{1} a\u{85}\rb\u{7F}.ts\u{C2}\u{A9} \u{0}",
        ["0/0 ab.ts\u{C2}\u{A9} 6 gap"]
    ),
    ("white space around a URI", "#EXTINF:6,\n  a b.ts \t", ["0/0 a b.ts 6"]),
    (
        "numbers count from the tags",
        "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:3\n#EXTINF:6,\na\n#EXT-X-DISCONTINUITY\n#EXTINF:6,\nb",
        ["7/3 a 6", "8/4 b 6 discontinuous"]
    ),
    ("the tags that count stand last", "#EXTINF:6,\na\n#EXT-X-MEDIA-SEQUENCE:7", ["7/0 a 6"]),
    ("a discontinuity before the first", "#EXT-X-DISCONTINUITY\n#EXTINF:6,\na", ["0/1 a 6 discontinuous"]),
    (
        "two discontinuities in a row count twice",
        "#EXTINF:6,\na\n#EXT-X-DISCONTINUITY\n#EXT-X-DISCONTINUITY\n#EXTINF:6,\nb",
        ["0/0 a 6", "1/2 b 6 discontinuous"]
    ),
    ("a discontinuity between EXTINF and its URI", "#EXTINF:6,\n#EXT-X-DISCONTINUITY\na", ["0/1 a 6 discontinuous"]),
    ("a gap is one segment's", "#EXT-X-GAP\n#EXTINF:6,\na\n#EXTINF:6,\nb", ["0/0 a 6 gap", "1/0 b 6"]),
    (
        "a delta update counts what it skips",
        "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-SKIP:SKIPPED-SEGMENTS=10\n#EXTINF:6,\na", ["17/0 a 6"]
    ),
    (
        "byte ranges that go on from the one before",
        "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\na\n#EXTINF:6,\n#EXT-X-BYTERANGE:20\na\n#EXT-X-BYTERANGE:1@0\n#EXTINF:6,\na",
        ["0/0 a 6 10@5", "1/0 a 6 20@15", "2/0 a 6 1@0"]
    ),
    (
        "a date belongs to one segment",
        "#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05+01:00\n#EXTINF:6,\na\n#EXTINF:6,\nb",
        ["0/0 a 6 2026-01-02T02:04:05.000Z", "1/0 b 6"]
    ),
    (
        "a date that is none costs nothing", "#EXT-X-PROGRAM-DATE-TIME:soon\n#EXTINF:6,\na",
        ["0/0 a 6 #EXT-X-PROGRAM-DATE-TIME:soon"]
    ),
    (
        "a bitrate is in force until the next",
        "#EXT-X-BITRATE:800\n#EXTINF:6,\na\n#EXTINF:6,\nb\n#EXT-X-BITRATE:900\n#EXTINF:6,\nc",
        ["0/0 a 6 800 kbit/s", "1/0 b 6 800 kbit/s", "2/0 c 6 900 kbit/s"]
    ),
    (
        "a key is in force until the next of its format",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\"\n#EXTINF:6,\na\n#EXTINF:6,\nb\n#EXT-X-KEY:METHOD=AES-128,URI=\"k2\"\n#EXTINF:6,\nc",
        ["0/0 a 6 key=k1", "1/0 b 6 key=k1", "2/0 c 6 key=k2"]
    ),
    (
        "one key per format, one replaced",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k1\"\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"f1\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n#EXTINF:6,\na\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k2\",KEYFORMAT=\"identity\"\n#EXTINF:6,\nb",
        ["0/0 a 6 key=k1 key=f1", "1/0 b 6 key=k2 key=f1"]
    ),
    (
        "METHOD=NONE ends every key",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:6,\na\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:6,\nb",
        ["0/0 a 6 key=k", "1/0 b 6"]
    ),
    (
        "a map stays under the key it was read under",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:6,\na\n#EXTINF:6,\nb",
        ["0/0 a 6 i.mp4 under k", "1/0 b 6 i.mp4 under k"]
    ),
    (
        "cue marks, before and after EXTINF",
        "#EXT-X-CUE-OUT:30\n#EXTINF:6,\n#EXT-OATCLS-SCTE35:/DAl=\na\n#EXT-X-CUE-OUT-CONT:6/30\n#EXTINF:6,\nb\n#EXT-X-CUE-IN\n#EXTINF:6,\nc",
        [
            "0/0 a 6 #EXT-X-CUE-OUT:30 #EXT-OATCLS-SCTE35:/DAl=", "1/0 b 6 #EXT-X-CUE-OUT-CONT:6/30",
            "2/0 c 6 #EXT-X-CUE-IN",
        ]
    ),
    (
        "comments and unknown tags after the head", "#EXTINF:6,\na\n# by hand\n#EXT-X-OURS:1\n#EXTINF:6,\nb",
        ["0/0 a 6", "1/0 b 6 # by hand #EXT-X-OURS:1"]
    ),
    (
        "parts before their segment",
        "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5@0\"\n#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"6\"\n#EXTINF:2,\na",
        ["0/0 a 2 part=p 5@0 part=p 6@5"]
    ),
    ("an EXTINF whose URI is not written yet", "#EXTINF:6,\na\n#EXTINF:6,", ["0/0 a 6"]),
    ("a misspelt tag of the other kind", "#EXT-X-MEDIA:TYPE=AUDIO\n#EXTINF:6,\na", ["0/0 a 6"]),
]

@Test(arguments: segmentRows)
func segmentsAsWritten(when: String, text: String, segments: [String]) throws {
    #expect(try playlist(text).segments.map(summary) == segments, "\(when)")
}

@Test func everyTagOfTheHeadHasItsField() throws {
    let read = try playlist(
        "#EXT-X-VERSION:10", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES",
        "#EXT-X-TARGETDURATION:6", "#EXT-X-PART-INF:PART-TARGET=1.002", "#EXT-X-PLAYLIST-TYPE:EVENT",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=YES,HOLD-BACK=18,PART-HOLD-BACK=3.3",
        "#EXT-X-I-FRAMES-ONLY", "#EXT-X-MEDIA-SEQUENCE:18446744073", "#EXT-X-DISCONTINUITY-SEQUENCE:2",
        "#EXT-X-ALLOW-CACHE:NO", "#EXT-X-SKIP:SKIPPED-SEGMENTS=3,RECENTLY-REMOVED-DATERANGES=\"a\tb\"",
        "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2026-01-02T03:04:05Z\",X-COM=\"1,2\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p3\"", "#EXT-X-RENDITION-REPORT:URI=\"../a\",LAST-MSN=5", "#EXT-X-ENDLIST")
    var expected = MediaPlaylist(targetDuration: .seconds(6), mediaSequence: 18_446_744_073)
    expected.version = 10
    expected.hasIndependentSegments = true
    expected.start = StartOffset(timeOffset: .milliseconds(-12_500), isPrecise: true)
    expected.partTarget = .milliseconds(1002)
    expected.playlistType = .event
    expected.serverControl = ServerControl(
        canSkipUntil: .seconds(36), canSkipDateRanges: true, holdBack: .seconds(18),
        partHoldBack: .milliseconds(3300), canBlockReload: true)
    expected.isIFramesOnly = true
    expected.discontinuitySequence = 2
    expected.unknownTags = ["#EXT-X-ALLOW-CACHE:NO"]
    expected.skippedSegments = 3
    expected.recentlyRemovedDateRanges = ["a", "b"]
    expected.dateRanges = [
        DateRange(
            id: "ad",
            attributes: try AttributeList(
                parsing: "ID=\"ad\",START-DATE=\"2026-01-02T03:04:05Z\",X-COM=\"1,2\"", line: 1, tag: ""))
    ]
    expected.preloadHints = [try AttributeList(parsing: "TYPE=PART,URI=\"p3\"", line: 1, tag: "")]
    expected.renditionReports = [try AttributeList(parsing: "URI=\"../a\",LAST-MSN=5", line: 1, tag: "")]
    expected.hasEndList = true
    #expect(read == expected)
}

private let targetRows: [(when: String, text: String, target: Duration)] = [
    ("announced", "#EXT-X-TARGETDURATION:10\n#EXTINF:6,\na", .seconds(10)),
    ("announced and nothing listed", "#EXT-X-TARGETDURATION:10", .seconds(10)),
    ("announced with a fraction", "#EXT-X-TARGETDURATION:6.006\n#EXTINF:6,\na", .seconds(7)),
    ("missing: the longest, rounded up", "#EXTINF:5.5,\na\n#EXTINF:6.006,\nb\n#EXTINF:2,\nc", .seconds(7)),
    ("announced as 0", "#EXT-X-TARGETDURATION:0\n#EXTINF:5.5,\na", .seconds(6)),
    ("missing, and everything is empty", "#EXTINF:0,\na", .seconds(1)),
    ("said twice, the same", "#EXT-X-TARGETDURATION:6\n#EXT-X-TARGETDURATION:6", .seconds(6)),
]

@Test(arguments: targetRows)
func targetDurations(when: String, text: String, target: Duration) throws {
    #expect(try playlist(text).targetDuration == target, "\(when)")
}

@Test func anInitializationVectorIsANumber() throws {
    let full = "0x000102030405060708090A0B0C0D0E0f"
    let rows: [(text: String, bytes: [UInt8])] = [
        (full, Array(0..<16)), ("0XFF", Array(repeating: 0, count: 15) + [255]),
        ("0x100", Array(repeating: 0, count: 14) + [1, 0]),
    ]
    for row in rows {
        let read = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=\(row.text)", "#EXTINF:6,", "a")
        #expect(read.segments.first?.keys.first?.initializationVector == row.bytes)
    }
    let without = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:6,", "a")
    #expect(without.segments.first?.keys == [SegmentKey(method: .aes128, uri: "k")])
}

@Test func whatIsSaidOfTheSegmentToComeIsKept() throws {
    let read = try playlist(
        "#EXTINF:4,", "a", "#EXT-X-DISCONTINUITY", "#EXT-X-CUE-IN", "#EXT-X-PART:DURATION=1,URI=\"p\"", "# note",
        "#EXTINF:4,")
    #expect(read.trailingLines == ["#EXT-X-DISCONTINUITY", "#EXT-X-CUE-IN", "# note"])
    #expect(read.trailingParts == [PartialSegment(uri: "p", duration: .seconds(1))])
}

@Test func aByteOrderMarkIsPassedOver() throws {
    let read = try MediaPlaylistParser.parse([0xEF, 0xBB, 0xBF] + Array("\n#EXTM3U x=1\r\n#EXTINF:6,\r\na\r\n".utf8))
    #expect(read.segments.map { $0.uri } == ["a"])
    #expect(read.unknownTags.isEmpty)
}

@Test func theLineKnowsItsTitleAndItsNumber() throws {
    let read = try playlist("#EXTINF:6.006, Nachrichten, Teil 2 ", "a")
    #expect(read.segments.first?.title == "Nachrichten, Teil 2")
    let lines = Array(PlaylistLines(Array("#EXTM3U\r\n\r\n#EXT-X-ENDLIST\n".utf8)))
    #expect(lines.map { $0.number } == [1, 2, 3])
    #expect(lines.map { $0.text } == ["#EXTM3U", "", "#EXT-X-ENDLIST"])
}

/// A rendition may list hours (3600 entries): numbering and inheritance hold to the end.
@Test func aHugeListIsReadToItsEnd() throws {
    let entries = (0..<5000).map { "#EXTINF:6.006,\nseg-\($0).ts" }.joined(separator: "\n")
    let read = try playlist("#EXT-X-MEDIA-SEQUENCE:100", "#EXT-X-MAP:URI=\"i\"", entries)
    #expect(read.segments.count == 5000)
    #expect(read.segments.last.map(summary) == "5099/0 seg-4999.ts 6.006 i")
}

private let malformedRows:
    [(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int, section: String)] = [
        ("EXTINF that is no number", "#EXTINF:six,\na", .badValue("six,"), "EXTINF", 2, "4.3.2.1"),
        (
            "a channel list of IPTV", "#EXTINF:-1 tvg-id=\"x\",Channel\nhttp://h/1",
            .badValue("-1 tvg-id=\"x\",Channel"), "EXTINF", 2, "4.3.2.1"
        ),
        ("two EXTINFs for one URI", "#EXTINF:6,\n#EXTINF:4,\na", .duplicate, "EXTINF", 3, "4.3.2.1"),
        ("a URI without EXTINF", "#EXT-X-TARGETDURATION:6\n\na", .missing, "EXTINF", 4, "4.3.2.1"),
        (
            "MEDIA-SEQUENCE that is no number", "#EXT-X-MEDIA-SEQUENCE:abc\n#EXTINF:6,\na", .badValue("abc"),
            "EXT-X-MEDIA-SEQUENCE", 2, "4.3.3.2"
        ),
        ("MEDIA-SEQUENCE below 0", "#EXT-X-MEDIA-SEQUENCE:-1", .badValue("-1"), "EXT-X-MEDIA-SEQUENCE", 2, "4.3.3.2"),
        (
            "MEDIA-SEQUENCE with no room to count on", "#EXT-X-MEDIA-SEQUENCE:18446744073709551615",
            .badValue("18446744073709551615"), "EXT-X-MEDIA-SEQUENCE", 2, "4.3.3.2"
        ),
        (
            "MEDIA-SEQUENCE twice, not the same", "#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:2", .duplicate,
            "EXT-X-MEDIA-SEQUENCE", 3, "4.3.3.2"
        ),
        (
            "DISCONTINUITY-SEQUENCE that is no number", "#EXT-X-DISCONTINUITY-SEQUENCE:x", .badValue("x"),
            "EXT-X-DISCONTINUITY-SEQUENCE", 2, "4.3.3.3"
        ),
        (
            "TARGETDURATION that is no number", "#EXT-X-TARGETDURATION:ten", .badValue("ten"), "EXT-X-TARGETDURATION",
            2, "4.3.3.1"
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

private let notPlaylists: [(when: String, text: String, beginning: String)] = [
    (
        "a portal's page", "<!DOCTYPE html><html><body>Log in</body></html>",
        "<!DOCTYPE html><html><body>Log in</body></html>"
    ),
    ("nothing", "", ""),
    ("tags without the first line", "#EXT-X-VERSION:3\n#EXTINF:6,\na", "#EXT-X-VERSION:3\n#EXTINF:6,\na"),
    ("bytes of media", "G@\u{0}\u{10}", "G@\u{0}\u{10}"),
    ("a long page, cut", String(repeating: "x", count: 5000), String(repeating: "x", count: 64)),
]

@Test(arguments: notPlaylists)
func whatIsNoPlaylistIsSaidToBeNone(when: String, text: String, beginning: String) {
    let expected = PlaylistError(
        reason: .notAPlaylist(beginning: beginning), tag: "EXTM3U", line: 1, section: "4.3.1.1")
    #expect(throws: expected, "\(when)") { try PlaylistParser.parse(Array(text.utf8)) }
    #expect(throws: expected, "\(when)") { try MediaPlaylistParser.parse(Array(text.utf8)) }
    #expect(throws: expected, "\(when)") { try MultivariantPlaylistParser.parse(Array(text.utf8)) }
}

/// Tags that do not govern media are kept as they are instead of costing the channel.
private let toleratedRows = [
    "#EXT-X-VERSION:three", "#EXT-X-PLAYLIST-TYPE:LIVE", "#EXT-X-START:TIME-OFFSET=now", "#EXT-X-PART-INF:",
    "#EXT-X-SERVER-CONTROL:HOLD-BACK=x", "#EXT-X-DATERANGE:START-DATE=\"2026-01-02T03:04:05Z\"",
    "#EXT-X-PRELOAD-HINT:URI=\"p", "#EXT-X-SESSION-DATA:DATA-ID=\"x\"", "#EXT-X-UNHEARD-OF:\"",
]

@Test(arguments: toleratedRows)
func unreadableTagsOfTheHeadAreKept(line: String) throws {
    let read = try playlist(line, "#EXTINF:6,", "a")
    #expect(read.unknownTags == [line])
    #expect(read.segments.count == 1)
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
