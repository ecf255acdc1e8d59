import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// What a restart and a playlist of the rewind cost grows with the number of segments, and not faster. Steps are
/// elements that are read or copied.
struct RewindCostTests {
    private static let sizes = [250, 500, 1000]

    /// A ring whose segments have a date range each, and whose dates go back once in a while.
    private static func index(_ size: Int, rewind: Duration? = nil) -> RingIndex {
        var index = RingIndex(policy: RetentionPolicy(rewind: rewind, freeReserve: 0), targetDuration: 6)
        for n in 0..<size {
            var segment = NewSegment.numbered(n)
            segment.adMarkers.dateRanges = [.numbered(n, from: at(6 * Int64(n)), lasting: .seconds(30))]
            if n.isMultiple(of: 10) { segment.programDateTime = at(6 * Int64(n) - 7) }
            index.publish(segment)
        }
        return index
    }

    private func expectLinear(_ when: String, _ steps: [Int]) {
        for (few, many) in zip(steps, steps.dropFirst()) { #expect(many <= few * 2 + few / 5, "\(when): \(steps)") }
        #expect(steps.allSatisfy { $0 > 0 }, "\(when)")
    }

    @Test(arguments: [nil, 3])
    func journalOfTwiceAsManySegmentsIsReplayedInTwiceAsManySteps(secondsKept: Int?) {
        expectLinear(
            "\(secondsKept ?? 0)",
            Self.sizes.map { size in
                let full = Self.index(size, rewind: secondsKept.map { .seconds($0 * size) })
                let (entries, counter) = (full.entries, StepCounter())
                StepCounter.$current.withValue(counter) {
                    var index = RingIndex(policy: full.policy, targetDuration: 6)
                    for entry in entries { index.replay(entry) }
                }
                return counter.steps
            })
    }

    private static let ranges: [(when: String, range: @Sendable (Int) -> RewindRange)] = [
        ("all of it", { _ in .whole }), ("the newest half", { .last(milliseconds: 3000 * Int64($0)) }),
        ("a delay", { .delayed(milliseconds: 3000 * Int64($0)) }),
        ("from a date", { .between(start: at(3 * Int64($0)), end: nil) }),
        ("between two dates", { .between(start: at(2 * Int64($0)), end: at(4 * Int64($0))) }),
    ]

    @Test(arguments: ranges.indices)
    func playlistOfTwiceAsManySegmentsTakesTwiceAsManySteps(row: Int) {
        let (when, range) = Self.ranges[row]
        expectLinear(
            when,
            Self.sizes.map { size in
                let (index, counter) = (Self.index(size), StepCounter())
                StepCounter.$current.withValue(counter) {
                    let playlist = PublishedPlaylist(index: index, hasEnded: false).rewind(range(size))
                    #expect(playlist != nil, "\(when)")
                }
                return counter.steps
            })
    }
}
