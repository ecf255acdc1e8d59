import Playlist
import Testing

@testable import Channel
@testable import Export
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
        Row(
            testDescription: "a break that was over before it was known",
            range: range("a", from: -30_000, lasting: .seconds(20), [.out: insert(isOut: true)]), commands: []),
        Row(
            testDescription: "a cue tag's break with its duration and its end",
            range: range("cue-1", from: 0, lasting: .seconds(5)), commands: [(100, true)]),
    ]

    @Test(arguments: rows) func commandsHaveTheChannelsTimes(_ row: Row) throws {
        let read = try Self.sections([row.range])
        #expect(read.map(\.spliceTime) == row.commands.map { .seconds($0.time) })
        let begins = read.map { section in
            section.cues.contains { if case .out = $0.kind { true } else { false } }
        }
        #expect(begins == row.commands.map(\.isOut))
    }

    /// The sections of a segment whose tags are the first of `ranges`.
    private static func sections(_ ranges: [DateRange]) throws -> [SpliceInfoSection] {
        var markers = SegmentAdMarkers(dateRanges: ranges)
        for (index, range) in ranges.enumerated() {
            var published = PublishedDateRange(range: range, start: try #require(range.startDate))
            markers.splices += published.announce(at: noon).map { AnnouncedSplice($0, ofRange: index) }
        }
        return try SpliceSections(date: noon, start: start).sections(of: markers).map { try SpliceInfoSection($0) }
    }

    private static func timeSignal(_ segmentations: [(event: UInt8, type: UInt8)]) -> [UInt8] {
        let descriptors = segmentations.flatMap { event, type -> [UInt8] in
            [2, 15] + Array("CUEI".utf8) + [0, 0, 0, event, 0x7F, 0x9F, 0, 0, type, 0, 0]
        }
        return section(type: 6, command: [0xFE, 0, 0, 3, 0x84], descriptors: descriptors)
    }

    private static let immediate = section(type: 5, command: [0, 0, 0, 7, 0x7F, 0xDF, 0, 0, 0, 0], descriptors: [])

    private static func section(type: UInt8, command: [UInt8], descriptors: [UInt8]) -> [UInt8] {
        let size = 11 + command.count + 2 + descriptors.count + 4
        let section =
            [0xFC, 0x30, UInt8(size), 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, UInt8(command.count), type] + command
            + [0, UInt8(descriptors.count)] + descriptors
        return section + SectionCRC.bytes(of: section)
    }

    /// The time at which a segment has a section, and its cues.
    struct Shared: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let ranges: [DateRange]
        let times: [Int64]
    }

    private static let twoOpen = timeSignal([(1, 0x30), (2, 0x34)])
    private static let endAndBegin = timeSignal([(1, 0x31), (2, 0x30)])
    static let shared = [
        Shared(
            testDescription: "an advertisement and a placement opportunity begin",
            ranges: [
                range("scte35-1-0", from: 4000, [.out: twoOpen]), range("scte35-2-0", from: 4000, [.out: twoOpen]),
            ],
            times: [104]),
        Shared(
            testDescription: "an advertisement ends and another begins",
            ranges: [
                range("scte35-1-0", from: -30_000, lasting: .seconds(34), [.out: twoOpen, .in: endAndBegin]),
                range("scte35-2-0", from: 4000, [.out: endAndBegin]),
            ], times: [104]),
        Shared(
            testDescription: "the one that ends was to end earlier",
            ranges: [
                range("scte35-1-0", from: -30_000, lasting: .seconds(31), [.out: twoOpen, .in: endAndBegin]),
                range("scte35-2-0", from: 4000, [.out: endAndBegin]),
            ], times: [104]),
        Shared(
            testDescription: "one is canceled in the command that announces another",
            ranges: [
                range("scte35-1-0", from: 2000, lasting: .zero, [.out: twoOpen, .command: endAndBegin]),
                range("scte35-2-0", from: 5000, [.out: endAndBegin]),
            ], times: [102, 105]),
        Shared(
            testDescription: "immediate commands of the same bytes",
            ranges: [0, 4000].map { range("ad-\($0)", from: $0, [.out: immediate]) },
            times: [100, 104]),
    ]

    /// A command is in the date range of each of its descriptors, and transport streams have it once.
    @Test(arguments: shared) func commandsAreSentOnce(_ row: Shared) throws {
        #expect(try Self.sections(row.ranges).map(\.spliceTime) == row.times.map { .seconds($0) })
    }

    /// What a tag repeats of a range is not sent again, for as long as the range is open.
    @Test func repeatedTagsAnnounceWhatIsNew() throws {
        let section = Self.insert(isOut: true)
        let steps: [(range: DateRange, new: [AnnouncedSplice.Command])] = [
            (Self.range("a", from: 9000, [.out: section]), [.out]),
            (Self.range("a", from: 9000, planned: .seconds(30), [.out: section]), []),
            (Self.range("a", from: 9000, lasting: .zero, [.out: section, .command: [1]]), [.command]),
            (Self.range("a", from: 9000, lasting: .zero, [.out: section, .command: [1]]), []),
        ]
        var published = PublishedDateRange(range: steps[0].range, start: Self.noon.advanced(byMilliseconds: 9000))
        for (index, step) in steps.enumerated() {
            published.range = step.range
            #expect(published.announce(at: Self.noon.advanced(byMilliseconds: 6000)) == step.new, "tag \(index)")
        }
    }

    @Test(arguments: [
        (range: range("cue-1", from: 0), last: [AnnouncedSplice.Command.end]),
        (range("cue-1", from: 0, [.out: [1]]), [.in]), (range("a", from: 0, [.out: [1]]), [.in]),
    ])
    func endBelongsToItsBeginning(_ row: (range: DateRange, last: [AnnouncedSplice.Command])) {
        var published = PublishedDateRange(range: row.range, start: Self.noon)
        #expect(published.announce(at: Self.noon).count == 1)
        // The section of the beginning comes late, if at all.
        published.range[splice: .out] = [1]
        published.range[splice: .in] = [2]
        published.range.duration = .seconds(60)
        #expect(published.announce(at: Self.noon.advanced(byMilliseconds: 60_000)) == row.last)
    }
}
