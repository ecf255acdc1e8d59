import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Numbers at the borders of what a ring counts with.
@Suite struct RingRangesTests {
    static let targetDurations: [(given: Int, published: Int)] = [
        (.min, 1), (0, 1), (1, 1), (6, 6), (36_000, 36_000), (36_001, 36_000), (9_999_999_999, 36_000), (.max, 36_000),
    ]

    @Test(arguments: targetDurations) func targetDurationHasARange(given: Int, published: Int) throws {
        var index = RingIndex(policy: plentiful, targetDuration: given)
        #expect(index.targetDuration == published)
        index.setParameters(policy: plentiful, targetDuration: given)
        #expect(index.targetDuration == published)
        let ring = try DVRRing.open(ScratchDirectory(), targetDuration: given)
        #expect(ring.targetDuration == published)
        #expect(RingRanges.duration.contains(ring.maximumSegmentDuration))
    }

    @Test func targetDurationOfAJournalHasTheSameRange() throws {
        var journal = RingJournal(.filled(3), hasEnded: false)
        journal.targetDuration = 9_999_999_999
        #expect(try RingJournal.read(Array(journal.text.utf8), path: "ring.m3u8")?.targetDuration == 36_000)
    }

    /// As many of the longest segments as a day of the shortest ones: the sums are far from 64 bits.
    @Test func longestSegmentsAddUp() {
        var index = RingIndex(policy: RetentionPolicy(rewind: nil, freeReserve: 0), targetDuration: 36_000)
        for n in 0..<2_000 { index.publish(.numbered(n, duration: RingRanges.duration.upperBound, at: noon)) }
        #expect(index.listedTicks == 2_000 * RingRanges.duration.upperBound)
        #expect(index.listedTicks < Int64.max / 1_000_000)
    }

    static let durations: [(duration: Duration, ticks: Int64)] = [
        (.zero, 0), (.seconds(6), 540_000), (.milliseconds(6006), 540_540),
        (Duration(secondsComponent: 102_481_911_520_608, attosecondsComponent: 0), 9_223_372_036_854_720_000),
        (Duration(secondsComponent: 102_481_911_520_609, attosecondsComponent: 0), .max), (.seconds(Int64.max), .max),
        (.seconds(Int64.min), .min),
    ]

    @Test(arguments: durations) func durationsOfPoliciesAreAsLongAsFits(duration: Duration, ticks: Int64) {
        #expect(PlaylistTicks.ticks(duration) == ticks)
    }

    /// A ring that continues numbers close to the last one.
    @Test func highestSequenceNumbersContinue() async throws {
        let directory = try ScratchDirectory()
        let first = UInt64(Int64.max) - UInt64(Int32.max) * 2
        do {
            let ring = try DVRRing.open(directory, firstMediaSequence: first)
            for n in 0..<3 { try await ring.publish(.numbered(n)) }
        }
        let next = try DVRRing.open(directory)
        try await next.publish(.numbered(3))
        #expect(next.snapshot.newest?.mediaSequence == first + 3 && next.snapshot.newest?.discontinuitySequence == 1)
    }

    @Test(arguments: ["9223372036854775807", "4294967296.5", "-1", "x", ""])
    func frameRatesOfAJournalAreRead(_ text: String) {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in 0..<2 {
            index.publish(.numbered(n, format: SegmentFormat(videoCodec: "avc1.640028", frameRate: text)))
        }
        #expect(index.variantAttributes != nil)
    }
}
