import Testing

@testable import Playlist

private typealias Row = (when: String, line: String, meaning: CueTag.Meaning, section: [UInt8]?)

private let cueRows: [Row] = [
    ("a break with its length", "#EXT-X-CUE-OUT:30.5", .out(duration: .milliseconds(30_500)), nil),
    ("a break of unknown length", "#EXT-X-CUE-OUT", .out(duration: nil), nil),
    ("the length as an attribute", "#EXT-X-CUE-OUT:DURATION=60,ID=7", .out(duration: .seconds(60)), nil),
    ("the length and then an ID", "#EXT-X-CUE-OUT:60,ID=7", .out(duration: .seconds(60)), nil),
    ("an unreadable length", "#EXT-X-CUE-OUT:soon", .out(duration: nil), nil),
    (
        "elapsed and whole duration", "#EXT-X-CUE-OUT-CONT:8.308/30",
        .continues(elapsed: .milliseconds(8308), duration: .seconds(30)), nil
    ),
    ("elapsed duration", "#EXT-X-CUE-OUT-CONT:8", .continues(elapsed: .seconds(8), duration: nil), nil),
    (
        "elapsed and whole duration as attributes", "#EXT-X-CUE-OUT-CONT:ElapsedTime=5.9,Duration=201.4,SCTE35=/DA=",
        .continues(elapsed: .milliseconds(5900), duration: .milliseconds(201_400)), nil
    ),
    ("the break is over", "#EXT-X-CUE-IN", .in, nil),
    ("a section in base64", "#EXT-OATCLS-SCTE35:/DAB", .other, [0xFC, 0x30, 0x01]),
    ("a section in hexadecimal", "#EXT-OATCLS-SCTE35:0xfc3001", .other, [0xFC, 0x30, 0x01]),
    ("an invalid section", "#EXT-OATCLS-SCTE35:!", .other, nil),
    ("a splice point", "#EXT-X-SPLICEPOINT-SCTE35:/DAB", .other, [0xFC, 0x30, 0x01]),
    (
        "one tag for all, out", "#EXT-X-SCTE35:TYPE=0x34,CUE=\"/DAB\",CUE-OUT=YES,DURATION=15",
        .out(duration: .seconds(15)), [0xFC, 0x30, 0x01]
    ),
    (
        "one tag for all, inside", "#EXT-X-SCTE35:CUE=\"/DAB\",CUE-OUT=CONT,ELAPSED=5,DURATION=15",
        .continues(elapsed: .seconds(5), duration: .seconds(15)), [0xFC, 0x30, 0x01]
    ),
    ("one tag for all, in", "#EXT-X-SCTE35:CUE=\"/DAB\",CUE-IN=YES", .in, [0xFC, 0x30, 0x01]),
    ("by its type", "#EXT-X-CUE:TYPE=\"SpliceOut\",DURATION=9", .out(duration: .seconds(9)), nil),
    ("an asset", "#EXT-X-ASSET:CAID=0x1", .other, nil),
    ("attributes that do not close their quotes", "#EXT-X-SCTE35:CUE=\"/DAB", .other, nil),
]

@Test(arguments: cueRows.indices)
func parsesCueTags(_ index: Int) throws {
    let row = cueRows[index]
    let cueTag = try #require(CueTag(row.line), "\(row.when)")
    #expect(cueTag.meaning == row.meaning && cueTag.section == row.section && cueTag.line == row.line, "\(row.when)")
}

@Test(arguments: ["#EXT-X-OURS:1", "# by hand", "#EXTINF:6,", "EXT-X-CUE-OUT", ""])
func otherLinesAreNoCueTags(line: String) { #expect(CueTag(line) == nil) }

@Test func findsCueTagsOfSegment() throws {
    let text = "#EXTM3U\n#EXT-X-OURS\n#EXT-X-CUE-OUT:30\n#EXTINF:6,\n# x\n#EXT-X-DATERANGE:ID=\"a\"\na\n#EXT-X-CUE-IN\n"
    let segment = try #require(try MediaPlaylistParser.parse(Array(text.utf8)).segments.first)
    #expect(segment.cueTags.map(\.line) == ["#EXT-X-CUE-OUT:30"])
    #expect(segment.dateRanges.map(\.id) == ["a"])
}

/// A date range belongs to the head before the first tag of a segment, and to the next segment after it.
@Test func positionOfDateRange() throws {
    let text = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-DATERANGE:ID="head"
        #EXTINF:6,
        #EXT-X-DATERANGE:ID="first"
        a
        #EXT-X-DATERANGE:ID="second"
        #EXTINF:6,
        b
        #EXT-X-DATERANGE:ID="trailing"
        """
    let playlist = try MediaPlaylistParser.parse(Array(text.utf8))
    #expect(playlist.dateRanges.map(\.id) == ["head"])
    #expect(playlist.segments.map { $0.dateRanges.map(\.id) } == [["first"], ["second"]])
    #expect(playlist.trailingDateRanges.map(\.id) == ["trailing"])
}
