import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A restarted process does not contradict the published ranges.
struct AdMarkerRecoveryTests {
    private func resumed(_ channel: AdMarkerChannel) throws -> AdMarkerChannel {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in 0..<4 {
            var segment = NewSegment.numbered(n)
            segment.adMarkers.dateRanges = try (channel.tags[n] ?? []).map { text in
                let attributes = try AttributeList(parsing: text, line: 1, tag: "")
                return DateRange(id: attributes["ID"] ?? "", attributes: attributes)
            }
            index.publish(segment)
        }
        var later = channel
        // The test sections have two bytes. A second byte of 9 means an automatic return.
        later.timeline = AdMarkerTimeline(resuming: index) { $0.last == 9 }
        (later.tags, later.splices) = ([:], [:])
        return later
    }

    @Test func cueBreakEndsAfterRestart() throws {
        var channel = AdMarkerChannel()
        for lines in ["", cueOut, "#EXT-X-CUE-OUT-CONT:6/30"] { try channel.publish(lines) }
        var later = try resumed(channel)
        try later.publish("#EXT-X-CUE-OUT-CONT:12/30")
        try later.publish("#EXT-X-CUE-IN")
        #expect(
            later.tags == [4: [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=30,DURATION=18"#]])
    }

    @Test func listedRangeIsNotPublishedAgain() throws {
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
    func autoReturnBreakEndsAfterRestart(_ row: (section: UInt8, ends: Bool)) throws {
        var channel = AdMarkerChannel()
        try channel.publish("", splices: [splice(.out(autoReturn: true), at: 3, lasting: 12, row.section)])
        var later = try resumed(channel)
        for _ in 0..<4 { try later.publish("") }
        let range = #"ID="scte35-7-1767355203000",START-DATE="\#(time(3))",PLANNED-DURATION=12,SCTE35-OUT=0xFC"#
        #expect(channel.tags == [0: [range + "0\(row.section)"]])
        #expect(later.tags == (row.ends ? [3: [range + "09,DURATION=12"]] : [:]))
    }

    @Test func spliceBreakEndsAfterRestart() throws {
        var channel = AdMarkerChannel()
        try channel.publish("", splices: [splice(.out(autoReturn: false), at: 6)])
        var later = try resumed(channel)
        try later.publish("", splices: [splice(.out(autoReturn: false), at: 6)])
        try later.publish("", splices: [splice(.in(endsAnyEvent: false), at: 12, 2)])
        #expect(later.tags.count == 1 && later.splices == [2: ["0:IN"]])
        #expect(later.tags[2]?.first?.hasSuffix("DURATION=6,SCTE35-IN=0xFC02") == true)
    }
}
