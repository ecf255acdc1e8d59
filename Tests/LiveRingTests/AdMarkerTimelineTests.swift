import Playlist
import TestSupport
import Testing

@testable import LiveRing

/// A channel whose upstream segments of 6 s begin where ours do: what is listed goes in, what is published comes out.
private struct AdMarkerChannel {
    var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
    /// Milliseconds from the upstream's dates to ours; nil: it has none.
    var distance: Int64? = 0
    var tags: [Int: [String]] = [:]
    var cues: [Int: [String]] = [:]
    private var next = 0

    /// Lines as the upstream writes them before segment `next`.
    mutating func publish(_ lines: String..., splices: [PublishedSpliceCommand] = []) throws {
        let list = try MediaPlaylistParser.parse(Array("#EXTM3U\n#EXTINF:6,\n\(lines.joined(separator: "\n"))\na".utf8))
        try publish(list.segments[0], from: at(6 * Int64(next)), splices: splices)
    }

    private mutating func publish(
        _ segment: MediaSegment, from date: ProgramDateTime, splices: [PublishedSpliceCommand]
    ) throws {
        timeline.append(
            UpstreamAdMarkers(
                mediaSequence: UInt64(next), cueTags: segment.cueTags, dateRanges: segment.dateRanges,
                otherTags: segment.unknownTags.count - segment.cueTags.count))
        let placement = AdMarkerPlacement(
            mediaSequence: UInt64(next), date: date, upstreamDate: distance.map { date.advanced(byMilliseconds: -$0) })
        let marks = timeline.dequeueMarkers(for: AdMarkerTarget(date: date, placements: [placement], splices: splices))
        if !marks.dateRanges.isEmpty { tags[next] = marks.dateRanges.map(\.attributes.text) }
        if !marks.cueTags.isEmpty { cues[next] = marks.cueTags.map(\.line) }
        next += 1
    }
}

/// "12:00:30" of the day of the tests.
private func time(_ seconds: Int64) -> String { at(seconds).text }

private let out = "#EXT-X-CUE-OUT:30"
private let cueID = "cue-1767355206000"

struct CueTagRangeTests {
    /// Cue lines before segments 0, 1, 2 … and the date ranges that come of them at each.
    static let rows: [(when: String, lines: [String], ranges: [Int: [String]], unpaired: Int)] = [
        ("none", ["", ""], [:], 0),
        (
            "a break", ["", out, "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN"],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30"#],
                3: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=12"#],
            ], 0
        ),
        (
            "a break with its section",
            ["", "#EXT-OATCLS-SCTE35:/DAl\n" + out, "#EXT-X-CUE-IN\n#EXT-OATCLS-SCTE35:/DAm"],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,SCTE35-OUT=0xFC3025"#],
                2: [
                    #"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,SCTE35-OUT=0xFC3025,DURATION=6,SCTE35-IN=0xFC3026"#
                ],
            ], 0
        ),
        (
            "a break of unknown length", ["", "#EXT-X-CUE-OUT"],
            [1: [#"ID="\#(cueID)",START-DATE="\#(time(6))""#]], 0
        ),
        (
            "joined inside a break", ["#EXT-X-CUE-OUT-CONT:12/30", "#EXT-X-CUE-OUT-CONT:18/30", "#EXT-X-CUE-IN"],
            [
                0: [#"ID="cue-1767355188000",START-DATE="\#(time(-12))",PLANNED-DURATION=30"#],
                2: [#"ID="cue-1767355188000",START-DATE="\#(time(-12))",PLANNED-DURATION=30,DURATION=24"#],
            ], 0
        ),
        (
            "a break behind a break, without an end between them", ["", out, out],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30"#],
                2: [
                    #"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=6"#,
                    #"ID="cue-1767355212000",START-DATE="\#(time(12))",PLANNED-DURATION=30"#,
                ],
            ], 0
        ),
        ("an end without a break", ["", "#EXT-X-CUE-IN"], [:], 1),
        (
            "two ends", ["", out, "#EXT-X-CUE-IN", "#EXT-X-CUE-IN"],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30"#],
                2: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=6"#],
            ], 1
        ),
        (
            "a break that a date range tells of too",
            [
                "", "\(out)\n#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"\(time(6))\",PLANNED-DURATION=30,SCTE35-OUT=0xFC",
                "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN",
            ], [1: [#"ID="ad",START-DATE="\#(time(6))",PLANNED-DURATION=30,SCTE35-OUT=0xFC"#]], 0
        ),
        ("a section that says no more", ["", "#EXT-OATCLS-SCTE35:/DAl"], [:], 0),
    ]

    @Test(arguments: rows.indices)
    func cueTagsAreDateRangesToo(_ index: Int) throws {
        let row = Self.rows[index]
        var channel = AdMarkerChannel()
        for lines in row.lines { try channel.publish(lines) }
        #expect(channel.tags == row.ranges, "\(row.when)")
        #expect(channel.timeline.counts.unmatchedBreakEnds == row.unpaired, "\(row.when)")
        for (number, lines) in row.lines.enumerated() {
            let cues = lines.split(separator: "\n").map(String.init).filter { CueTag($0) != nil }
            #expect(channel.cues[number] ?? [] == cues, "\(row.when): as written, where they stood")
        }
    }

    /// Ours are 10 s: an upstream segment begins in the middle of one.
    @Test func aCueInsideASegmentIsSaidBeforeTheNext() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 10))
        let cue = try #require(CueTag(out))
        timeline.append(UpstreamAdMarkers(mediaSequence: 7))
        timeline.append(UpstreamAdMarkers(mediaSequence: 8, cueTags: [cue]))
        let placements = [(7 as UInt64, 0 as Int64), (8, 6)].map {
            AdMarkerPlacement(mediaSequence: $0.0, date: at($0.1))
        }
        let first = timeline.dequeueMarkers(for: AdMarkerTarget(date: at(0), placements: placements))
        #expect(first.cueTags.isEmpty && first.dateRanges.map(\.startDate) == [at(6)], "the date range is exact")
        let second = timeline.dequeueMarkers(for: AdMarkerTarget(date: at(10)))
        #expect(second.cueTags == [cue] && second.dateRanges.isEmpty)
    }

    @Test func whatBeganBeforeARestartIsNotCuedAgain() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        let range = DateRange.numbered(1, from: at(6))
        timeline.append(UpstreamAdMarkers(mediaSequence: 7, cueTags: [try #require(CueTag(out))], dateRanges: [range]))
        timeline.append(UpstreamAdMarkers(mediaSequence: 8, cueTags: [try #require(CueTag("#EXT-X-CUE-IN"))]))
        timeline.withdrawCueTags(of: 7)
        let marks = timeline.dequeueMarkers(
            for: AdMarkerTarget(date: at(6), placements: [AdMarkerPlacement(mediaSequence: 8, date: at(6))]))
        #expect(marks.cueTags.map(\.line) == ["#EXT-X-CUE-IN"])
        #expect(marks.dateRanges.map(\.id) == [range.id], "nobody told of the range yet")
    }

    @Test func aSegmentWithoutAPictureLeavesItsMarksToTheNext() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        timeline.append(UpstreamAdMarkers(mediaSequence: 7, cueTags: [try #require(CueTag(out))], otherTags: 2))
        timeline.append(UpstreamAdMarkers(mediaSequence: 8))
        let marks = timeline.dequeueMarkers(
            for: AdMarkerTarget(date: at(6), placements: [AdMarkerPlacement(mediaSequence: 8, date: at(6))]))
        #expect(marks.cueTags.map(\.line) == [out] && marks.dateRanges.map(\.id) == [cueID])
        #expect(timeline.counts.otherTags == 2 && timeline.counts.cueTags == 1)
        for number in 0..<300 {
            timeline.append(UpstreamAdMarkers(mediaSequence: 100 + UInt64(number), cueTags: marks.cueTags))
        }
        #expect(timeline.counts.unplacedMarkers == 44)
    }
}

struct UpstreamDateRangeTests {
    private typealias Row = (
        when: String, distance: Int64?, lines: [String], ranges: [Int: [String]], counts: (inout AdMarkerCounts) -> Void
    )

    private static func range(_ id: String, _ start: Int64, _ more: String = "") -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"\(time(start))\"\(more)"
    }

    private static func told(_ id: String, _ start: Int64, _ more: String = "") -> String {
        String(range(id, start, more).dropFirst("#EXT-X-DATERANGE:".count))
    }

    private static var rows: [Row] {
        [
            (
                "as it was written", 0,
                ["", #"#EXT-X-DATERANGE:X-B="1,2",ID="a",CLASS="c",START-DATE="2026-01-02T13:00:06+01:00""#],
                [1: [#"X-B="1,2",ID="a",CLASS="c",START-DATE="2026-01-02T13:00:06+01:00""#]], { _ in }
            ),
            (
                "with our dates", 5000, ["", range("a", 1, ",END-DATE=\"\(time(31))\"")],
                [1: [told("a", 6, ",END-DATE=\"\(time(36))\"")]], { _ in }
            ),
            (
                "an upstream without dates: where it stood", nil,
                ["", range("a", 5000, ",END-DATE=\"\(time(5030))\",DURATION=30")],
                [1: [told("a", 6, ",END-DATE=\"\(time(36))\",DURATION=30")]], { _ in }
            ),
            ("listed again", 0, [range("a", 6), range("a", 6)], [0: [told("a", 6)]], { _ in }),
            (
                "more of it", 0, [range("a", 0), range("a", 0, ",DURATION=5")],
                [0: [told("a", 0)], 1: [told("a", 0, ",DURATION=5")]], { _ in }
            ),
            (
                "more of it, without its beginning", 0,
                [range("a", 0), #"#EXT-X-DATERANGE:ID="a",DURATION=5,SCTE35-IN=0xFC"#],
                [0: [told("a", 0)], 1: [told("a", 0, ",DURATION=5,SCTE35-IN=0xFC")]], { _ in }
            ),
            (
                "told otherwise", 0, [range("a", 0, ",PLANNED-DURATION=5"), range("a", 0, ",PLANNED-DURATION=6")],
                [0: [told("a", 0, ",PLANNED-DURATION=5")]], { $0.attributesChanged = 1 }
            ),
            (
                "the ID for another break", 0, [range("a", 0, ",DURATION=5"), range("a", 6, ",DURATION=5")],
                [0: [told("a", 0, ",DURATION=5")], 1: [told("a-1767355206000", 6, ",DURATION=5")]], { _ in }
            ),
            (
                "more of that", 0, [range("a", 0, ",DURATION=5"), range("a", 6), range("a", 6, ",DURATION=5")],
                [
                    0: [told("a", 0, ",DURATION=5")], 1: [told("a-1767355206000", 6)],
                    2: [told("a-1767355206000", 6, ",DURATION=5")],
                ], { _ in }
            ),
            (
                "the beginning wavers", 0,
                [range("a", 6), #"#EXT-X-DATERANGE:ID="a",START-DATE="2026-01-02T12:00:06.040Z",DURATION=5"#],
                [0: [told("a", 6)], 1: [told("a", 6, ",DURATION=5")]], { _ in }
            ),
            ("over before the channel began", 0, [range("a", -60, ",DURATION=50")], [:], { $0.expiredRanges = 1 }),
            (
                "begun before the channel", 0, [range("a", -60, ",DURATION=90")],
                [0: [told("a", -60, ",DURATION=90")]], { _ in }
            ),
            ("a moment before the channel", 0, [range("a", -1)], [:], { $0.expiredRanges = 1 }),
            ("announced", 0, [range("a", 600)], [0: [told("a", 600)]], { _ in }),
            (
                "on clocks so far apart that it would begin before the year 0", -70_000_000_000_000,
                [range("a", 0, ",SCTE35-OUT=0xFC")],
                [0: [#"ID="a",START-DATE="0000-01-01T00:00:00.000Z",SCTE35-OUT=0xFC"#]], { _ in }
            ),
            ("no beginning", 0, [#"#EXT-X-DATERANGE:ID="a",DURATION=5"#], [:], { $0.unreadableRanges = 1 }),
        ]
    }

    @Test func rangesOfTheUpstream() throws {
        for row in Self.rows {
            var channel = AdMarkerChannel()
            channel.distance = row.distance
            for lines in row.lines { try channel.publish(lines) }
            #expect(channel.tags == row.ranges, "\(row.when)")
            var counts = AdMarkerCounts()
            row.counts(&counts)
            counts.dateRanges = row.ranges.values.reduce(0) { $0 + $1.count }
            #expect(channel.timeline.counts == counts, "\(row.when)")
        }
    }

    @Test func eachStretchOfTheUpstreamsDatesHasItsOwnDistance() {
        var dates = UpstreamDateMap()
        #expect(dates.published(at(0)) == nil)
        dates.record(at(100), as: at(100))
        dates.record(at(106), as: at(106))
        dates.record(at(50), as: at(112))
        dates.record(at(200), as: at(150))
        #expect(
            [at(0), at(60), at(101), at(199), at(201)].map(dates.published) == [
                at(0), at(122), at(163), at(261), at(151),
            ])
    }
}

struct AdMarkerEndTests {
    private func range(_ id: String, _ start: Int64, _ more: [String: String] = [:]) throws -> DateRange {
        let text = "ID=\"\(id)\",START-DATE=\"\(time(start))\"" + more.map { ",\($0)=\($1)" }.joined()
        return DateRange(id: id, attributes: try AttributeList(parsing: text, line: 1, tag: ""))
    }

    @Test func theEndTellsWhatNoSegmentDid() throws {
        var channel = AdMarkerChannel()
        try channel.publish("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(time(0))\"")
        channel.timeline.append(UpstreamAdMarkers(mediaSequence: 9, cueTags: [try #require(CueTag(out))]))
        channel.timeline.append(UpstreamAdMarkers(mediaSequence: 10, dateRanges: [try range("b", 4)]))
        let told = channel.timeline.finish([try range("a", 0, ["DURATION": "6"]), try range("b", 4)], at: at(6))
        #expect(
            told.map(\.attributes.text) == [
                #"ID="b",START-DATE="\#(time(4))""#, #"ID="a",START-DATE="\#(time(0))",DURATION=6"#,
            ])
        #expect(channel.timeline.counts.unplacedMarkers == 1 && channel.timeline.counts.dateRanges == 3)
        #expect(channel.timeline.finish([], at: at(6)).isEmpty)
    }
}

private func mark(
    _ kind: PublishedSpliceCommand.Kind, event: UInt32? = 7, at seconds: Int64, lasting duration: Int64? = nil,
    _ section: UInt8 = 1
) -> PublishedSpliceCommand {
    PublishedSpliceCommand(
        kind, eventID: event, date: at(seconds), duration: duration.map { .seconds($0) }, section: [0xFC, section])
}

struct SpliceCommandTests {
    private static let id = "scte35-7-1767355212000"

    /// Commands that stand in segments 0, 1, 2 …
    static let rows: [(when: String, splices: [[PublishedSpliceCommand]], ranges: [Int: [String]], unpaired: Int)] = [
        (
            "a break, announced and sent twice",
            [
                [mark(.out(autoReturn: false), at: 12, lasting: 30)],
                [mark(.out(autoReturn: false), at: 12, lasting: 30)],
            ],
            [0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=30,SCTE35-OUT=0xFC01"#]], 0
        ),
        (
            "a break and its end",
            [
                [mark(.out(autoReturn: false), at: 12)], [], [mark(.in(endsAnyEvent: true), at: 18, 2)],
                [mark(.in(endsAnyEvent: true), at: 18, 2)],
            ],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                2: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=6,SCTE35-IN=0xFC02"#],
            ], 0
        ),
        (
            "the way back has an event of its own",
            [[mark(.out(autoReturn: false), at: 12)], [], [mark(.in(endsAnyEvent: true), event: 8, at: 18, 2)]],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                2: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=6,SCTE35-IN=0xFC02"#],
            ], 0
        ),
        (
            "it returns by itself",
            [[mark(.out(autoReturn: true), at: 12, lasting: 6)], [], [], []],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=6,SCTE35-OUT=0xFC01"#],
                3: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=6,SCTE35-OUT=0xFC01,DURATION=6"#],
            ], 0
        ),
        (
            "cancelled", [[mark(.out(autoReturn: false), at: 12)], [mark(.canceled, at: 6)]],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                1: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=0"#],
            ], 0
        ),
        (
            "a programme begins", [[], [mark(.command, at: 12, lasting: 60)]],
            [1: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=60,SCTE35-CMD=0xFC01"#]], 0
        ),
        (
            "an end without a beginning", [[mark(.in(endsAnyEvent: false), at: 12)]],
            [0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-CMD=0xFC01"#]], 1
        ),
        (
            "the same event again, for another break",
            [
                [mark(.out(autoReturn: true), at: 12, lasting: 2)], [], [],
                [mark(.out(autoReturn: false), at: 30)],
            ],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=2,SCTE35-OUT=0xFC01"#],
                3: [
                    #"ID="scte35-7-1767355230000",START-DATE="\#(time(30))",SCTE35-OUT=0xFC01"#,
                    #"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=2,SCTE35-OUT=0xFC01,DURATION=2"#,
                ],
            ], 0
        ),
    ]

    @Test(arguments: rows.indices)
    func spliceCommandsAreDateRanges(_ index: Int) throws {
        let row = Self.rows[index]
        var channel = AdMarkerChannel()
        for splices in row.splices { try channel.publish("", splices: splices) }
        #expect(channel.tags == row.ranges, "\(row.when)")
        #expect(channel.timeline.counts.unmatchedBreakEnds == row.unpaired, "\(row.when)")
    }

    @Test func aCueTagAndACommandTellOfOneBreak() throws {
        var channel = AdMarkerChannel()
        try channel.publish("")
        try channel.publish("#EXT-X-CUE-OUT", splices: [mark(.out(autoReturn: false), at: 6, lasting: 12)])
        try channel.publish("#EXT-X-CUE-IN", splices: [mark(.in(endsAnyEvent: true), at: 12, 2)])
        #expect(channel.tags[1] == [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=12,SCTE35-OUT=0xFC01"#])
        #expect(channel.tags[2]?.first?.contains("DURATION=6") == true)
    }
}

/// What an earlier process told is not told otherwise by the next.
struct AdMarkerRecoveryTests {
    private func resumed(_ channel: AdMarkerChannel) throws -> AdMarkerChannel {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in 0..<4 {
            var segment = NewSegment.numbered(n)
            segment.adMarkers.dateRanges = try (channel.tags[n] ?? []).map { text in
                let list = try AttributeList(parsing: text, line: 1, tag: "")
                return DateRange(id: list["ID"] ?? "", attributes: list)
            }
            index.publish(segment)
        }
        var later = channel
        // Sections of the tests are two bytes: 9 stands for a break that is over by itself.
        later.timeline = AdMarkerTimeline(resuming: index) { $0.last == 9 }
        later.tags = [:]
        return later
    }

    @Test func aBreakIsEndedByTheNextProcess() throws {
        var channel = AdMarkerChannel()
        for lines in ["", out, "#EXT-X-CUE-OUT-CONT:6/30"] { try channel.publish(lines) }
        var later = try resumed(channel)
        try later.publish("#EXT-X-CUE-OUT-CONT:12/30")
        try later.publish("#EXT-X-CUE-IN")
        #expect(
            later.tags == [4: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=18"#]])
    }

    @Test func whatIsStillListedIsNotToldAgain() throws {
        var channel = AdMarkerChannel()
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(time(6))\""
        let again = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(time(12))\""
        for lines in ["", range, again] { try channel.publish(lines) }
        #expect(channel.tags.count == 2)
        var later = try resumed(channel)
        try later.publish(range + "\n" + again)
        #expect(later.tags.isEmpty)
        try later.publish(again + ",DURATION=5")
        #expect(later.tags == [4: [#"ID="a-1767355212000",START-DATE="\#(time(12))",DURATION=5"#]])
    }

    @Test(arguments: [(section: UInt8(9), ends: true), (1, false)])
    func aBreakThatReturnsByItselfDoesSoInTheNextProcess(_ row: (section: UInt8, ends: Bool)) throws {
        var channel = AdMarkerChannel()
        try channel.publish("", splices: [mark(.out(autoReturn: true), at: 3, lasting: 12, row.section)])
        var later = try resumed(channel)
        for _ in 0..<4 { try later.publish("") }
        let told = #"ID="scte35-7-1767355203000",START-DATE="\#(time(3))",PLANNED-DURATION=12,SCTE35-OUT=0xFC"#
        #expect(channel.tags == [0: [told + "0\(row.section)"]])
        #expect(later.tags == (row.ends ? [3: [told + "09,DURATION=12"]] : [:]))
    }

    @Test func aSpliceIsEndedByTheNextProcess() throws {
        var channel = AdMarkerChannel()
        try channel.publish("", splices: [mark(.out(autoReturn: false), at: 6)])
        var later = try resumed(channel)
        try later.publish("", splices: [mark(.out(autoReturn: false), at: 6)])
        try later.publish("", splices: [mark(.in(endsAnyEvent: false), at: 12, 2)])
        #expect(later.tags.count == 1)
        #expect(later.tags[2]?.first?.hasSuffix("DURATION=6,SCTE35-IN=0xFC02") == true)
    }
}

/// Whatever an upstream says, in whatever order: no list breaks a rule, and two runs give the same.
struct AdMarkerPropertyTests {
    private static let lines = [
        "", "", "", out, "#EXT-X-CUE-OUT", "#EXT-X-CUE-IN", "#EXT-X-CUE-OUT-CONT:3/30", "#EXT-OATCLS-SCTE35:/DAl",
    ]

    private func line(_ n: Int, _ random: inout SeededGenerator) -> String {
        guard Int.random(in: 0..<3, using: &random) == 0 else { return Self.lines.randomElement(using: &random) ?? "" }
        let start = 6 * Int64(n) + Int64.random(in: -30...30, using: &random)
        var text = "#EXT-X-DATERANGE:ID=\"\(["a", "b", "a-1767355206000"].randomElement(using: &random) ?? "")\""
        if Int.random(in: 0..<6, using: &random) > 0 { text += ",START-DATE=\"\(time(start))\"" }
        if Bool.random(using: &random) { text += ",DURATION=\(Int.random(in: 0...60, using: &random))" }
        if Bool.random(using: &random) { text += ",END-DATE=\"\(time(start + 20))\"" }
        if Bool.random(using: &random) { text += ",PLANNED-DURATION=\(Int.random(in: 0...60, using: &random))" }
        return text
    }

    private func splice(_ n: Int, _ random: inout SeededGenerator) -> [PublishedSpliceCommand] {
        let kinds: [PublishedSpliceCommand.Kind] = [
            .out(autoReturn: true), .out(autoReturn: false), .in(endsAnyEvent: true), .in(endsAnyEvent: false),
            .command, .canceled,
        ]
        guard Int.random(in: 0..<4, using: &random) == 0, let kind = kinds.randomElement(using: &random) else {
            return []
        }
        return [
            mark(
                kind, event: .random(in: 0...2, using: &random),
                at: 6 * Int64(n) + .random(in: -3...12, using: &random),
                lasting: Bool.random(using: &random) ? .random(in: 0...40, using: &random) : nil,
                .random(in: 0...255, using: &random))
        ]
    }

    private func versions(seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(120), freeReserve: 0), targetDuration: 6)
        let isDated = Bool.random(using: &random)
        var texts: [String] = []
        for n in 0..<120 {
            let listed = "#EXTM3U\n#EXTINF:6,\n\(line(n, &random))\n\(line(n, &random))\na"
            let segment = try MediaPlaylistParser.parse(Array(listed.utf8)).segments[0]
            timeline.append(
                UpstreamAdMarkers(mediaSequence: UInt64(n), cueTags: segment.cueTags, dateRanges: segment.dateRanges))
            if n % 37 == 36 { timeline = AdMarkerTimeline(resuming: index) }
            let date = at(6 * Int64(n))
            let inside = date.advanced(byMilliseconds: .random(in: 0...5000, using: &random))
            let placement = AdMarkerPlacement(
                mediaSequence: UInt64(n), date: inside, upstreamDate: isDated ? date : nil)
            var new = NewSegment.numbered(n)
            new.adMarkers = timeline.dequeueMarkers(
                for: AdMarkerTarget(date: date, placements: [placement], splices: splice(n, &random)))
            index.publish(new)
            texts.append(text(PublishedPlaylist(index: index, hasEnded: false).live))
        }
        return texts
    }

    @Test(arguments: UInt64(1)...12)
    func noListBreaksARule(seed: UInt64) throws {
        let texts = try versions(seed: seed)
        for (number, (old, new)) in zip(texts, texts.dropFirst()).enumerated() {
            let broken = brokenRules(in: new) + brokenRules(from: old, to: new)
            try #require(broken.isEmpty, "seed \(seed), segment \(number): \(broken)\n\(new)")
        }
        #expect(texts.count { $0.contains("#EXT-X-DATERANGE") } > 60)
        #expect(try versions(seed: seed) == texts)
    }
}
