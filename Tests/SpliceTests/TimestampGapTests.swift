import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Pictures as the upstream's clock has them, and the time that nobody said was missing.
private struct GapRow {
    let when: String
    var fed: [(border: DiscontinuityDetector.Boundary, pictures: [VideoPacket])]
    /// In ticks, one each.
    var gaps: [Int64] = []

    init(_ when: String, _ pictures: [VideoPacket], holes: [Int64] = []) {
        self.init(when, [(.plain, pictures)], holes: holes)
    }

    init(
        _ when: String, _ fed: [(border: DiscontinuityDetector.Boundary, pictures: [VideoPacket])], holes: [Int64] = []
    ) {
        (self.when, self.fed, self.gaps) = (when, fed, holes)
    }
}

/// Pictures that are decoded so many ticks after each other.
private func pictures(stepping steps: [Int64], from start: Int64 = 900_000) -> [VideoPacket] {
    steps.reduce(into: [start]) { times, step in times.append(times[times.count - 1] + step) }
        .enumerated().map { SyntheticPackets.videoPacket(dts: $1, sync: $0 % 25 == 0 ? .instantaneousRefresh : .none) }
}

private func steps(_ rates: (count: Int, step: Int64)...) -> [Int64] {
    rates.flatMap { Array(repeating: $0.step, count: $0.count) }
}

private func regular(_ range: Range<Int>, every frame: Int64 = 3600, from start: Int64 = 900_000) -> [VideoPacket] {
    Array(SyntheticPackets.videoPackets(range.upperBound, from: start, every: frame).dropFirst(range.lowerBound))
}

private let irregular: [Int64] = {
    var generator = SeededGenerator(seed: 8)
    // From 50 a second to 10, and none like the one before.
    return (0..<2000).map { _ in Int64.random(in: 1800...4500, using: &generator) }
}()

private let rows: [GapRow] = [
    GapRow("one picture after the other", regular(0..<200)),
    GapRow("over the border of a segment", [(.plain, regular(0..<50)), (.plain, regular(50..<100))]),
    GapRow("one picture was left out", regular(0..<50) + regular(51..<100)),
    GapRow("two pictures were left out", regular(0..<50) + regular(52..<100), holes: [7200]),
    GapRow(
        "an encoder drops five pictures of each fifty",
        regular(0..<45) + regular(50..<95) + regular(100..<145), holes: [18_000, 18_000]),
    GapRow(
        "a segment ends early by less than half a second", [(.plain, regular(0..<40)), (.plain, regular(50..<100))],
        holes: [36_000]),
    GapRow(
        "by more: the run does not go on, and the time is missing all the same",
        [(.plain, regular(0..<14)), (.plain, regular(50..<64)), (.plain, regular(100..<150))],
        holes: [129_600, 129_600]),
    GapRow(
        "the same, and the next begins in the middle of a group",
        [(.plain, regular(0..<14)), (.plain, regular(60..<100))], holes: [165_600]),
    GapRow(
        "a whole segment never came, and its number is another's",
        [(.plain, regular(0..<50)), (.plain, regular(100..<150))], holes: [180_000]),
    GapRow("nine seconds inside a segment", regular(0..<25) + regular(250..<300), holes: [810_000]),
    GapRow("eleven seconds: another clock", regular(0..<25) + regular(300..<350)),
    GapRow("a clock that goes back", regular(0..<25) + regular(0..<25)),
    GapRow("lost segments are counted as such", [(.plain, regular(0..<50)), (.loss, regular(100..<150))]),
    GapRow("a tag says that time may jump", [(.plain, regular(0..<50)), (.tagged, regular(75..<100))]),
    GapRow(
        "other parameter sets",
        regular(0..<50)
            + SyntheticPackets.videoPackets(50, from: 1_200_000, configuration: SyntheticPackets.advertisement)),
    GapRow(
        "behind other parameter sets, at half the rate and less",
        regular(0..<50, every: 1500)
            + SyntheticPackets.videoPackets(
                50, from: 1_200_000, every: 9000, configuration: SyntheticPackets.advertisement)),
    GapRow("the clock returns to 0", regular(0..<100, from: (1 << 33) - 180_000)),
    GapRow(
        "the clock returns to 0 in a hole",
        regular(0..<50, from: (1 << 33) - 180_000)
            + regular(60..<100, from: (1 << 33) - 180_000), holes: [36_000]),
    GapRow(
        "24, 25, 30, 50 and 60 pictures a second by turns",
        pictures(stepping: steps((40, 3750), (40, 3600), (40, 3000), (40, 1500), (40, 3750), (40, 1800), (40, 3600)))),
    GapRow(
        "59.94 a second, rounded, to 23.976",
        pictures(stepping: (0..<50).map { $0 % 2 == 0 ? 1501 : 1502 } + steps((50, 3754)))),
    GapRow("film, two fields and three", pictures(stepping: (0..<100).map { $0 % 2 == 0 ? 3003 : 4505 })),
    GapRow("fields, one by one and in pairs", pictures(stepping: steps((50, 1800), (50, 3600), (50, 1800)))),
    GapRow("in milliseconds", pictures(stepping: (0..<120).map { [1530, 1530, 1440][$0 % 3] })),
    GapRow("no two steps alike", pictures(stepping: irregular)),
    GapRow(
        "a picture that stays for a third of a second now and then",
        pictures(stepping: (0..<200).map { $0 % 20 == 19 ? 30_000 : 3000 }), holes: [27_000]),
    GapRow("one picture a second", pictures(stepping: steps((30, 90_000)))),
    GapRow("a rate that falls to a quarter, once", pictures(stepping: steps((50, 3000), (50, 12_000)))),
    GapRow(
        "a rate that falls from 30 pictures a second to 5, again and again",
        pictures(stepping: steps((50, 3000), (20, 18_000), (50, 3000), (20, 18_000), (50, 3000)))),
    GapRow(
        "ten seconds at 30 pictures a second, ten at one, and again",
        pictures(stepping: steps((300, 3000), (10, 90_000), (300, 3000), (10, 90_000), (300, 3000)))),
    GapRow(
        "a hole in front of a rate that fell not as far",
        pictures(stepping: steps((50, 3000), (1, 93_000), (20, 6000))), holes: [90_000]),
    GapRow(
        "a hole at the end of the channel", pictures(stepping: steps((50, 3000), (1, 93_000))), holes: [90_000]),
    GapRow(
        "a hole at the end of a run",
        pictures(stepping: steps((50, 3000), (1, 93_000)))
            + SyntheticPackets.videoPackets(50, from: 9_000_000, configuration: SyntheticPackets.advertisement),
        holes: [90_000]),
    GapRow(
        "pictures that are shown in another order",
        [0, 3, 1, 2, 6, 4, 5, 9, 7, 8].enumerated().map {
            SyntheticPackets.videoPacket(
                dts: Int64($0) * 3600, pts: Int64($1 + 2) * 3600, sync: $0 == 0 ? .instantaneousRefresh : .none)
        }),
    GapRow(
        "leading pictures that are not shown",
        [SyntheticPackets.videoPacket(dts: 0, pts: 21_600, sync: .instantaneousRefresh)]
            + (1..<6).map { SyntheticPackets.videoPacket(dts: $0 * 3600) }
            + (6..<20).map { SyntheticPackets.videoPacket(dts: $0 * 3600, pts: ($0 + 1) * 3600) }),
]

@Suite struct TimestampGapTests {
    @Test("time that is missing on the clock of the pictures", arguments: rows.indices)
    func pictures(_ index: Int) {
        let row = rows[index]
        var finder = PeriodSplitter()
        for fed in row.fed { _ = finder.split(fed.pictures, from: SyntheticPackets.segment(), boundary: fed.border) }
        _ = finder.finish()
        #expect(finder.gaps.count == row.gaps.count, "\(row.when)")
        #expect(finder.gaps.missing.count == row.gaps.reduce(0, +), "\(row.when)")
    }

    /// Transport streams that end between two packets are whole for all that they say.
    @Test("what an answer without a length lacks is missing in what is published, and counted")
    func answers() throws {
        let segments = try CaptureFixture.clean.bodies("clean")
        let whole = try publish(segments)
        #expect(whole.counts.timestampGaps == 0 && whole.counts.timestampGapTicks == 0 && whole.pictures == 250)
        var short = segments
        short[1] = Array(segments[1].prefix(segments[1].count / 3 / 188 * 188))
        let cut = try publish(short)
        #expect(cut.counts.timestampGaps == 1 && cut.counts.timestampGapTicks > 90_000)
        #expect((whole.pictures - cut.pictures) * 3600 == cut.counts.timestampGapTicks)
    }

    private func publish(_ segments: [[UInt8]]) throws -> (counts: SpliceCounts, pictures: Int) {
        var engine = SpliceEngine(.init(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0))
        var written: [SplicedSegment] = []
        for (number, bytes) in segments.enumerated() {
            let segment = SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)
            written += try engine.handle(.segment(segment))
        }
        written += try engine.handle(.ended(.main))
        let tracks = try written.map { $0.fragment.header + $0.fragment.payloads.flatMap(\.self) }
            .flatMap { try MovieFragment.fragments(of: $0).flatMap(\.tracks) }
        let pictures = tracks.filter { $0.trackID == TrackID.video }.reduce(0) { $0 + $1.samples.count }
        return (engine.counts, pictures)
    }
}
