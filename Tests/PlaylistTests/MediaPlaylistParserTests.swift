import Testing

@testable import Playlist
@testable import Support

/// Media playlist from lines; "#EXTM3U" is put before them.
private func playlist(_ lines: String...) throws(PlaylistError) -> MediaPlaylist {
    try MediaPlaylistParser.parse(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8))
}

/// A segment in short: its numbers, its URI and every property that is not the default.
private func summary(_ segment: MediaSegment) -> String {
    var fields = ["\(segment.mediaSequence)/\(segment.discontinuitySequence)", segment.uri]
    fields.append(DecimalSeconds.text(segment.duration))
    if segment.isDiscontinuous { fields.append("discontinuous") }
    if segment.isGap { fields.append("gap") }
    if let range = segment.byteRange { fields.append(range.text) }
    fields += segment.keys.map { "key=\($0.uri)" }
    if let map = segment.map { fields.append(([map.uri] + map.keys.map { "under \($0.uri)" }).joined(separator: " ")) }
    if let date = segment.programDateTime { fields.append(date.text) }
    return (fields + segment.unknownTags).joined(separator: " ")
}

private let segmentRows: [(when: String, text: String, segments: [String])] = [
    ("the shortest playlist", "#EXTINF:6,\na", ["0/0 a 6"]),
    ("an integer EXTINF without its comma", "#EXTINF:6\na", ["0/0 a 6"]),
    ("white space in EXTINF", "#EXTINF: 6.5 , t \na", ["0/0 a 6.5"]),
    (
        "CRLF, blank lines, no end of the last line", "\r\n\r\n#EXTINF:6,\r\n\r\na\r\n#EXTINF:4,\r\nb",
        ["0/0 a 6", "1/0 b 4"]
    ),
    (
        "control characters, which are removed",
        "#EXT-X-\0GAP\n#EXTINF:6,\n \u{1} a\u{85}\rb\u{7F}.ts\u{C2}\u{A9} \u{0}",
        ["0/0 ab.ts\u{C2}\u{A9} 6 gap"]
    ),
    ("white space around a URI", "#EXTINF:6,\n  a b.ts \t", ["0/0 a b.ts 6"]),
    (
        "numbers count from the tags",
        "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:3\n#EXTINF:6,\na\n#EXT-X-DISCONTINUITY\n#EXTINF:6,\nb",
        ["7/3 a 6", "8/4 b 6 discontinuous"]
    ),
    (
        "numbers of the head that cannot be read count as missing",
        "#EXT-X-TARGETDURATION:\n#EXT-X-MEDIA-SEQUENCE:-1\n#EXT-X-DISCONTINUITY-SEQUENCE:x\n#EXTINF:6,\na",
        ["0/0 a 6"]
    ),
    (
        "a number that is read after one that cannot be",
        "#EXT-X-MEDIA-SEQUENCE:\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:6,\na", ["7/0 a 6"]
    ),
    ("a negative EXTINF counts as 0", "#EXT-X-TARGETDURATION:2\n#EXTINF:-1,\na", ["0/0 a 0"]),
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
        "byte ranges that continue the range before",
        "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\na\n#EXTINF:6,\n#EXT-X-BYTERANGE:20\na\n#EXT-X-BYTERANGE:1@0\n#EXTINF:6,\na",
        ["0/0 a 6 10@5", "1/0 a 6 20@15", "2/0 a 6 1@0"]
    ),
    (
        "a date belongs to one segment",
        "#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05+01:00\n#EXTINF:6,\na\n#EXTINF:6,\nb",
        ["0/0 a 6 2026-01-02T02:04:05.000Z", "1/0 b 6"]
    ),
    (
        "an invalid date is ignored", "#EXT-X-PROGRAM-DATE-TIME:soon\n#EXTINF:6,\na",
        ["0/0 a 6 #EXT-X-PROGRAM-DATE-TIME:soon"]
    ),
    (
        "a key is in effect until the next of its format",
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
        "a map keeps the keys of its line",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:6,\na\n#EXTINF:6,\nb",
        ["0/0 a 6 i.mp4 under k", "1/0 b 6 i.mp4 under k"]
    ),
    (
        "cue tags, before and after EXTINF",
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
    ("an EXTINF whose URI is not written yet", "#EXTINF:6,\na\n#EXTINF:6,", ["0/0 a 6"]),
    ("a malformed tag of the other kind", "#EXT-X-MEDIA:TYPE=AUDIO\n#EXTINF:6,\na", ["0/0 a 6"]),
]

@Test(arguments: segmentRows)
func parsesSegments(when: String, text: String, segments: [String]) throws {
    #expect(try playlist(text).segments.map(summary) == segments, "\(when)")
}

@Test func everyTagOfTheHeadThatIsReadHasItsField() throws {
    let read = try playlist(
        "#EXT-X-VERSION:10", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES",
        "#EXT-X-TARGETDURATION:6", "#EXT-X-PART-INF:PART-TARGET=1.002", "#EXT-X-PLAYLIST-TYPE:EVENT",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=36,HOLD-BACK=18,PART-HOLD-BACK=3.3",
        "#EXT-X-I-FRAMES-ONLY", "#EXT-X-MEDIA-SEQUENCE:18446744073", "#EXT-X-DISCONTINUITY-SEQUENCE:2",
        "#EXT-X-ALLOW-CACHE:NO", "#EXT-X-SKIP:SKIPPED-SEGMENTS=3,RECENTLY-REMOVED-DATERANGES=\"a\tb\"",
        "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2026-01-02T03:04:05Z\",X-COM=\"1,2\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p3\"", "#EXT-X-RENDITION-REPORT:URI=\"../a\",LAST-MSN=5", "#EXT-X-ENDLIST")
    var expected = MediaPlaylist(targetDuration: .seconds(6), mediaSequence: 18_446_744_076)
    expected.hasIndependentSegments = true
    expected.playlistType = .event
    expected.canBlockReload = true
    expected.discontinuitySequence = 2
    expected.unknownTags = ["#EXT-X-ALLOW-CACHE:NO"]
    expected.dateRanges = [
        DateRange(
            id: "ad",
            attributes: try AttributeList(
                parsing: "ID=\"ad\",START-DATE=\"2026-01-02T03:04:05Z\",X-COM=\"1,2\"", line: 1, tag: ""))
    ]
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
    ("twice with the same value", "#EXT-X-TARGETDURATION:6\n#EXT-X-TARGETDURATION:6", .seconds(6)),
]

@Test(arguments: targetRows)
func targetDurations(when: String, text: String, target: Duration) throws {
    #expect(try playlist(text).targetDuration == target, "\(when)")
}

@Test func initializationVectorIsNumber() throws {
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

@Test func tagsOfTheNextSegmentDoNotBelongToTheLast() throws {
    let read = try playlist(
        "#EXTINF:4,", "a", "#EXT-X-DISCONTINUITY", "#EXT-X-CUE-IN", "#EXT-X-PART:DURATION=1,URI=\"p\"", "# note",
        "#EXTINF:4,")
    #expect(read.segments.map(summary) == ["0/0 a 4"])
}

@Test func byteOrderMarkIsSkipped() throws {
    let read = try MediaPlaylistParser.parse([0xEF, 0xBB, 0xBF] + Array("\n#EXTM3U x=1\r\n#EXTINF:6,\r\na\r\n".utf8))
    #expect(read.segments.map { $0.uri } == ["a"])
    #expect(read.unknownTags.isEmpty)
}

@Test func lineHasNumber() {
    let lines = Array(PlaylistLines(Array("#EXTM3U\r\n\r\n#EXT-X-ENDLIST\n".utf8)))
    #expect(lines.map { $0.number } == [1, 2, 3])
    #expect(lines.map { $0.text } == ["#EXTM3U", "", "#EXT-X-ENDLIST"])
}

/// A playlist may list hours (3600 entries). Numbers and inherited tags are right to the end.
@Test func longPlaylistIsReadCompletely() throws {
    let entries = (0..<5000).map { "#EXTINF:6.006,\nseg-\($0).ts" }.joined(separator: "\n")
    let read = try playlist("#EXT-X-MEDIA-SEQUENCE:100", "#EXT-X-MAP:URI=\"i\"", entries)
    #expect(read.segments.count == 5000)
    #expect(read.segments.last.map(summary) == "5099/0 seg-4999.ts 6.006 i")
}
