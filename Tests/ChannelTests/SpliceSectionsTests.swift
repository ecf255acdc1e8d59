import Playlist
import Testing

@testable import Channel
@testable import LiveRing
@testable import Media
@testable import Mux
@testable import Support

/// Ad markers as splice_info_sections. The segment is presented at 100 s, and lasts 6 s.
@Suite struct SpliceSectionsTests {
    private static let noon = ProgramDateTime(millisecondsSince1970: 1_767_355_200_000)
    private static let start = Ticks.seconds(100)

    private static func range(
        _ id: String, from start: Int64, lasting duration: Duration? = nil, planned: Duration? = nil,
        _ sections: [DateRange.SpliceAttribute: [UInt8]] = [:]
    ) -> DateRange {
        var range = DateRange(id: id)
        range.startDate = noon.advanced(byMilliseconds: start)
        range.duration = duration
        range.plannedDuration = planned
        for (attribute, section) in sections { range[splice: attribute] = section }
        return range
    }

    private static func insert(isOut: Bool) -> [UInt8] {
        SpliceSectionWriter.spliceInsert(eventID: 9, isOut: isOut, at: .seconds(5), duration: nil)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let range: DateRange
        /// Splice times in seconds, with whether a break begins.
        let commands: [(time: Int64, isOut: Bool)]
    }

    static let rows = [
        Row(
            testDescription: "a splice command at the segment's beginning",
            range: range("scte35-9-0", from: 0, [.out: insert(isOut: true)]), commands: [(100, true)]),
        Row(
            testDescription: "a splice command ahead of time",
            range: range("a", from: 4000, [.out: insert(isOut: true)]), commands: [(104, true)]),
        Row(
            testDescription: "its end, in a tag that repeats the beginning",
            range: range(
                "a", from: -30_000, lasting: .seconds(32), [.out: insert(isOut: true), .in: insert(isOut: false)]),
            commands: [(102, false)]),
        Row(
            testDescription: "a command that is neither",
            range: range("a", from: 1000, [.command: insert(isOut: false)]), commands: [(101, false)]),
        Row(
            testDescription: "a cue tag of known length", range: range("cue-1", from: 0, planned: .seconds(30)),
            commands: [(100, true)]),
        Row(
            testDescription: "the end of a cue tag's break",
            range: range("cue-1", from: -30_000, lasting: .seconds(30)),
            commands: [(100, false)]),
        Row(
            testDescription: "a break announced late", range: range("cue-1", from: -8000, planned: .seconds(30)),
            commands: [(92, true)]),
        Row(
            testDescription: "a date range that is no ad break",
            range: range("program-7", from: 0, lasting: .seconds(3)),
            commands: []),
        Row(
            testDescription: "a section that cannot be read", range: range("a", from: 0, [.out: [0xFC, 1, 2]]),
            commands: []),
    ]

    @Test(arguments: rows) func commandsHaveTheChannelsTimes(_ row: Row) throws {
        let sections = SpliceSections(date: Self.noon, start: Self.start, duration: .seconds(6))
            .sections(of: SegmentAdMarkers(dateRanges: [row.range]))
        let read = try sections.map { try SpliceInfoSection($0) }
        #expect(read.map(\.spliceTime) == row.commands.map { .seconds($0.time) })
        let begins = read.map { section in
            section.cues.contains { if case .out = $0.kind { true } else { false } }
        }
        #expect(begins == row.commands.map(\.isOut))
    }
}
