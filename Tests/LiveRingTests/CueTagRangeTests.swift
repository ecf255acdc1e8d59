import Playlist
import Support
import TestSupport
import Testing

@testable import LiveRing

struct CueTagRangeTests {
    /// The cue tags before segments 0, 1, 2 … and the resulting date ranges of each segment.
    static let rows: [(when: String, lines: [String], ranges: [Int: [String]], unpaired: Int)] = [
        ("none", ["", ""], [:], 0),
        (
            "a break", ["", cueOut, "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN"],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30"#],
                3: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=12"#],
            ], 0
        ),
        (
            "a break with its section",
            ["", "#EXT-OATCLS-SCTE35:/DAl\n" + cueOut, "#EXT-X-CUE-IN\n#EXT-OATCLS-SCTE35:/DAm"],
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
            "a break after a break, without an end between them", ["", cueOut, cueOut],
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
            "two ends", ["", cueOut, "#EXT-X-CUE-IN", "#EXT-X-CUE-IN"],
            [
                1: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30"#],
                2: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=6"#],
            ], 1
        ),
        (
            "a break that a date range announces too",
            [
                "",
                "\(cueOut)\n#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"\(time(6))\",PLANNED-DURATION=30,SCTE35-OUT=0xFC",
                "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN",
            ], [1: [#"ID="ad",START-DATE="\#(time(6))",PLANNED-DURATION=30,SCTE35-OUT=0xFC"#]], 0
        ),
        ("a section without a cue tag", ["", "#EXT-OATCLS-SCTE35:/DAl"], [:], 0),
    ]

    @Test(arguments: rows.indices)
    func cueTagsBecomeDateRanges(_ index: Int) throws {
        let row = Self.rows[index]
        var channel = AdMarkerChannel()
        for lines in row.lines { try channel.publish(lines) }
        #expect(channel.tags == row.ranges, "\(row.when)")
        #expect(channel.timeline.counts[.unpairedBreakEnds] == row.unpaired, "\(row.when)")
        for (number, lines) in row.lines.enumerated() {
            let cues = lines.split(separator: "\n").map(String.init).filter { CueTag($0) != nil }
            #expect(channel.cues[number] ?? [] == cues, "\(row.when): as written, in their places")
        }
    }

    /// The published segments are 10 s long, and an upstream segment begins in the middle of one.
    @Test func cueTagInsideSegmentPrecedesNextSegment() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 10))
        let cue = try #require(CueTag(cueOut))
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

    @Test func breakBeforeRestartIsNotPublishedAgain() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        let range = DateRange.numbered(1, from: at(6))
        timeline.append(
            UpstreamAdMarkers(mediaSequence: 7, cueTags: [try #require(CueTag(cueOut))], dateRanges: [range]))
        timeline.append(UpstreamAdMarkers(mediaSequence: 8, cueTags: [try #require(CueTag("#EXT-X-CUE-IN"))]))
        timeline.withdrawCueTags(of: 7)
        let markers = timeline.dequeueMarkers(
            for: AdMarkerTarget(date: at(6), placements: [AdMarkerPlacement(mediaSequence: 8, date: at(6))]))
        #expect(markers.cueTags.map(\.line) == ["#EXT-X-CUE-IN"])
        #expect(markers.dateRanges.map(\.id) == [range.id], "the range is new")
    }

    @Test func segmentWithoutFramesPassesMarkersOn() throws {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        timeline.append(UpstreamAdMarkers(mediaSequence: 7, cueTags: [try #require(CueTag(cueOut))], otherTags: 2))
        timeline.append(UpstreamAdMarkers(mediaSequence: 8))
        let markers = timeline.dequeueMarkers(
            for: AdMarkerTarget(date: at(6), placements: [AdMarkerPlacement(mediaSequence: 8, date: at(6))]))
        #expect(markers.cueTags.map(\.line) == [cueOut] && markers.dateRanges.map(\.id) == [cueID])
        #expect(timeline.counts[.otherTags] == 2 && timeline.counts[.cueTags] == 1)
        for number in 0..<300 {
            timeline.append(UpstreamAdMarkers(mediaSequence: 100 + UInt64(number), cueTags: markers.cueTags))
        }
        #expect(timeline.counts[.unplaced] == 44)
    }
}
