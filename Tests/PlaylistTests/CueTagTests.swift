import Testing

@testable import Playlist

private typealias Row = (when: String, line: String, meaning: CueTag.Meaning, section: [UInt8]?)

private let cueRows: [Row] = [
    ("a break with its length", "#EXT-X-CUE-OUT:30.5", .out(duration: .milliseconds(30_500)), nil),
    ("a break of unknown length", "#EXT-X-CUE-OUT", .out(duration: nil), nil),
    ("the length as an attribute", "#EXT-X-CUE-OUT:DURATION=60,ID=7", .out(duration: .seconds(60)), nil),
    ("the length and an ID behind it", "#EXT-X-CUE-OUT:60,ID=7", .out(duration: .seconds(60)), nil),
    ("a length nobody can read", "#EXT-X-CUE-OUT:soon", .out(duration: nil), nil),
    (
        "so far of so much", "#EXT-X-CUE-OUT-CONT:8.308/30",
        .continues(elapsed: .milliseconds(8308), duration: .seconds(30)), nil
    ),
    ("so far", "#EXT-X-CUE-OUT-CONT:8", .continues(elapsed: .seconds(8), duration: nil), nil),
    (
        "so far, as attributes", "#EXT-X-CUE-OUT-CONT:ElapsedTime=5.9,Duration=201.4,SCTE35=/DA=",
        .continues(elapsed: .milliseconds(5900), duration: .milliseconds(201_400)), nil
    ),
    ("the break is over", "#EXT-X-CUE-IN", .in, nil),
    ("a section in base64", "#EXT-OATCLS-SCTE35:/DAB", .other, [0xFC, 0x30, 0x01]),
    ("a section in hexadecimal", "#EXT-OATCLS-SCTE35:0xfc3001", .other, [0xFC, 0x30, 0x01]),
    ("a section that is none", "#EXT-OATCLS-SCTE35:!", .other, nil),
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
    ("what is shown", "#EXT-X-ASSET:CAID=0x1", .other, nil),
    ("attributes that do not close their quotes", "#EXT-X-SCTE35:CUE=\"/DAB", .other, nil),
]

@Test(arguments: cueRows.indices)
func whatACueTagSays(_ index: Int) throws {
    let row = cueRows[index]
    let mark = try #require(CueTag(row.line), "\(row.when)")
    #expect(mark.meaning == row.meaning && mark.section == row.section && mark.line == row.line, "\(row.when)")
}

@Test(arguments: ["#EXT-X-OURS:1", "# by hand", "#EXTINF:6,", "EXT-X-CUE-OUT", ""])
func whatIsNoCueTag(line: String) { #expect(CueTag(line) == nil) }

@Test func findsCueTagsOfSegment() throws {
    let text = "#EXTM3U\n#EXT-X-OURS\n#EXT-X-CUE-OUT:30\n#EXTINF:6,\n# x\n#EXT-X-DATERANGE:ID=\"a\"\na\n#EXT-X-CUE-IN\n"
    let segment = try #require(try MediaPlaylistParser.parse(Array(text.utf8)).segments.first)
    #expect(segment.cueTags.map(\.line) == ["#EXT-X-CUE-OUT:30"])
    #expect(segment.dateRanges.map(\.id) == ["a"])
}

/// A date range is the head's until something of a segment came, then the next segment's.
@Test func whereADateRangeStood() throws {
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
        #EXT-X-DATERANGE:ID="behind"
        """
    let list = try MediaPlaylistParser.parse(Array(text.utf8))
    #expect(list.dateRanges.map(\.id) == ["head"])
    #expect(list.segments.map { $0.dateRanges.map(\.id) } == [["first"], ["second"]])
    #expect(list.trailingDateRanges.map(\.id) == ["behind"])
}
