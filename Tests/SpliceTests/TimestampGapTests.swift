import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Frames with the upstream's timestamps, and the gaps that nothing signaled.
private struct GapRow {
    let when: String
    var segments: [(boundary: SegmentBoundary, frames: [VideoPacket])]
    /// Duration of each gap in ticks.
    var gaps: [Int64] = []

    init(_ when: String, _ frames: [VideoPacket], gaps: [Int64] = []) {
        self.init(when, [(.plain, frames)], gaps: gaps)
    }

    init(
        _ when: String, _ segments: [(boundary: SegmentBoundary, frames: [VideoPacket])],
        gaps: [Int64] = []
    ) {
        (self.when, self.segments, self.gaps) = (when, segments, gaps)
    }
}

/// Returns frames whose decode times differ by `steps`.
private func frames(stepping steps: [Int64], from start: Int64 = 900_000) -> [VideoPacket] {
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
    // Between 20 and 50 frames per second, each step different.
    return (0..<2000).map { _ in Int64.random(in: 1800...4500, using: &generator) }
}()

private let rows: [GapRow] = [
    GapRow("regular frames", regular(0..<200)),
    GapRow("regular frames across a segment boundary", [(.plain, regular(0..<50)), (.plain, regular(50..<100))]),
    GapRow("one frame was dropped", regular(0..<50) + regular(51..<100)),
    GapRow("two frames were dropped", regular(0..<50) + regular(52..<100), gaps: [7200]),
    GapRow(
        "an encoder drops five frames of each fifty",
        regular(0..<45) + regular(50..<95) + regular(100..<145), gaps: [18_000, 18_000]),
    GapRow(
        "a segment ends early by less than half a second", [(.plain, regular(0..<40)), (.plain, regular(50..<100))],
        gaps: [36_000]),
    GapRow(
        "a segment ends early by more: the period ends, and the gap still counts",
        [(.plain, regular(0..<14)), (.plain, regular(50..<64)), (.plain, regular(100..<150))],
        gaps: [129_600, 129_600]),
    GapRow(
        "a segment ends early by more, and the next begins in the middle of a GOP",
        [(.plain, regular(0..<14)), (.plain, regular(60..<100))], gaps: [165_600]),
    GapRow(
        "a whole segment is missing, but no sequence number is",
        [(.plain, regular(0..<50)), (.plain, regular(100..<150))], gaps: [180_000]),
    GapRow("a gap of nine seconds inside a segment", regular(0..<25) + regular(250..<300), gaps: [810_000]),
    GapRow("a step of eleven seconds: another clock", regular(0..<25) + regular(300..<350)),
    GapRow("a clock that goes back", regular(0..<25) + regular(0..<25)),
    GapRow("lost segments are counted as such", [(.plain, regular(0..<50)), (.loss, regular(100..<150))]),
    GapRow("a tag signals the step", [(.plain, regular(0..<50)), (.tagged, regular(75..<100))]),
    GapRow(
        "other parameter sets",
        regular(0..<50)
            + SyntheticPackets.videoPackets(50, from: 1_200_000, configuration: SyntheticPackets.advertisement)),
    GapRow(
        "after other parameter sets, at half the rate and less",
        regular(0..<50, every: 1500)
            + SyntheticPackets.videoPackets(
                50, from: 1_200_000, every: 9000, configuration: SyntheticPackets.advertisement)),
    GapRow("the clock wraps to 0", regular(0..<100, from: (1 << 33) - 180_000)),
    GapRow(
        "the clock wraps to 0 in a gap",
        regular(0..<50, from: (1 << 33) - 180_000)
            + regular(60..<100, from: (1 << 33) - 180_000), gaps: [36_000]),
    GapRow(
        "24, 25, 30, 50 and 60 frames per second in turn",
        frames(stepping: steps((40, 3750), (40, 3600), (40, 3000), (40, 1500), (40, 3750), (40, 1800), (40, 3600)))),
    GapRow(
        "from 59.94 frames per second, rounded, to 23.976",
        frames(stepping: (0..<50).map { $0 % 2 == 0 ? 1501 : 1502 } + steps((50, 3754)))),
    GapRow("film pulldown, two fields and three", frames(stepping: (0..<100).map { $0 % 2 == 0 ? 3003 : 4505 })),
    GapRow("fields, alone and in pairs", frames(stepping: steps((50, 1800), (50, 3600), (50, 1800)))),
    GapRow("timestamps in milliseconds", frames(stepping: (0..<120).map { [1530, 1530, 1440][$0 % 3] })),
    GapRow("variable frame rate", frames(stepping: irregular)),
    GapRow(
        "now and then a frame lasts a third of a second",
        frames(stepping: (0..<200).map { $0 % 20 == 19 ? 30_000 : 3000 }), gaps: [27_000]),
    GapRow("one frame per second", frames(stepping: steps((30, 90_000)))),
    GapRow("the rate falls to a quarter once", frames(stepping: steps((50, 3000), (50, 12_000)))),
    GapRow(
        "the rate falls from 30 frames per second to 5 repeatedly",
        frames(stepping: steps((50, 3000), (20, 18_000), (50, 3000), (20, 18_000), (50, 3000)))),
    GapRow(
        "ten seconds at 30 frames per second, ten at one, repeatedly",
        frames(stepping: steps((300, 3000), (10, 90_000), (300, 3000), (10, 90_000), (300, 3000)))),
    GapRow(
        "a gap before a smaller fall of the rate",
        frames(stepping: steps((50, 3000), (1, 93_000), (20, 6000))), gaps: [90_000]),
    GapRow(
        "a gap at the end of the channel", frames(stepping: steps((50, 3000), (1, 93_000))), gaps: [90_000]),
    GapRow(
        "a gap at the end of a period",
        frames(stepping: steps((50, 3000), (1, 93_000)))
            + SyntheticPackets.videoPackets(50, from: 9_000_000, configuration: SyntheticPackets.advertisement),
        gaps: [90_000]),
    GapRow(
        "reordered frames",
        [0, 3, 1, 2, 6, 4, 5, 9, 7, 8].enumerated().map {
            SyntheticPackets.videoPacket(
                dts: Int64($0) * 3600, pts: Int64($1 + 2) * 3600, sync: $0 == 0 ? .instantaneousRefresh : .none)
        }),
    GapRow(
        "dropped leading pictures",
        [SyntheticPackets.videoPacket(dts: 0, pts: 21_600, sync: .instantaneousRefresh)]
            + (1..<6).map { SyntheticPackets.videoPacket(dts: $0 * 3600) }
            + (6..<20).map { SyntheticPackets.videoPacket(dts: $0 * 3600, pts: ($0 + 1) * 3600) }),
]

@Suite struct TimestampGapTests {
    @Test("unsignaled gaps between video frames are counted", arguments: rows.indices)
    func videoGaps(_ index: Int) {
        let row = rows[index]
        var splitter = PeriodSplitter()
        for segment in row.segments {
            _ = splitter.split(segment.frames, from: SyntheticPackets.segment(), boundary: segment.boundary)
        }
        _ = splitter.finish()
        #expect(splitter.counts[.timestampGaps] == row.gaps.count, "\(row.when)")
        #expect(Int64(splitter.counts[.timestampGapTicks]) == row.gaps.reduce(0, +), "\(row.when)")
    }

    /// A transport stream cut between two packets looks complete.
    @Test("media missing from a truncated response without a length is counted as a gap")
    func truncatedResponse() throws {
        let segments = try CaptureFixture.clean.bodies("clean")
        let whole = try publish(segments)
        #expect(whole.counts[.timestampGaps] == 0 && whole.counts[.timestampGapTicks] == 0 && whole.frames == 250)
        var short = segments
        short[1] = Array(segments[1].prefix(segments[1].count / 3 / 188 * 188))
        let cut = try publish(short)
        #expect(cut.counts[.timestampGaps] == 1 && cut.counts[.timestampGapTicks] > 90_000)
        #expect((whole.frames - cut.frames) * 3600 == cut.counts[.timestampGapTicks])
    }

    private func publish(_ segments: [[UInt8]]) throws -> (counts: SpliceCounts, frames: Int) {
        var engine = SpliceEngine(.init(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0))
        var written: [SplicedSegment] = []
        for (number, bytes) in segments.enumerated() {
            let segment = SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)
            written += try engine.handle(.segment(segment))
        }
        written += try engine.handle(.ended(.main))
        let tracks = try written.map { $0.fragment.header + $0.fragment.payloads.flatMap(\.self) }
            .flatMap { try MovieFragment.fragments(of: $0).flatMap(\.tracks) }
        let frames = tracks.filter { $0.trackID == TrackID.video }.reduce(0) { $0 + $1.samples.count }
        return (engine.counts, frames)
    }
}
