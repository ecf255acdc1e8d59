import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A byte of a file of many segments is found as if all extents were added up.
struct TransportStreamSumsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// Changes entry `n`.
        let change: @Sendable (inout RingEntry, Int, inout SeededGenerator) -> Void
        var testDescription: String { when }
    }

    private static let rows: [Row] = [
        Row(when: "segments only") { _, _, _ in },
        Row(when: "gaps, the first of them") { entry, n, _ in
            guard n % 7 < 2 else { return }
            entry.isGap = true
            entry.transportStream?.extent = nil
        },
        Row(when: "clock packets and shifts") { entry, n, random in
            entry.transportStream?.extent?.leadByteCount = 188 * .random(in: 0...4, using: &random)
            entry.transportStream?.extent?.shift = .random(in: -9000...9000, using: &random)
        },
        Row(when: "segments that were not measured") { entry, n, _ in
            if n.isMultiple(of: 50) { entry.transportStream?.extent = nil }
        },
        Row(when: "another init section every few segments") { entry, n, _ in
            entry.initialization = SpoolFile(name: "init-\(n / 9 % 2).mp4", byteCount: 500)
        },
    ]

    @Test(arguments: rows) func sumsAreThoseOfAllExtents(row: Row) throws {
        var (random, entries, sums) = (SeededGenerator(seed: 1), RingEntries(), TransportStreamSums())
        var expected: [TransportStreamSums.Sum] = []
        for (n, entry) in RingIndex.filled(1000, policy: RetentionPolicy(rewind: nil)).listed.enumerated() {
            var entry = entry
            entry.transportStream = TransportStreamPoint(
                parameters: "p", discontinuitySequence: 0, isDiscontinuous: false,
                extent: TransportStreamExtent(byteCount: 188 * .random(in: 1...9, using: &random)))
            row.change(&entry, n, &random)
            var sum = expected.last ?? TransportStreamSums.Sum()
            if let extent = entry.transportStream?.extent {
                sum.bytes += UInt64(extent.leadByteCount + extent.byteCount)
                sum.shift += extent.shift
            } else if !entry.isGap {
                sum.unmeasured += 1
            }
            expected.append(sum)
            entries.append(entry)
            sums.append(entry)
        }
        for removed in [0, 1, 200, 128] {
            entries.removeFirst(removed)
            sums.removeFirst(removed)
            for index in entries.indices { #expect(sums.sum(at: index, of: entries) == expected[index], "\(row.when)") }
            for _ in 0..<50 {
                let start = Int.random(in: entries.indices, using: &random)
                let range = start..<Int.random(in: start + 1...entries.endIndex, using: &random)
                let bytes = UInt64.random(in: 0...expected[range.upperBound - 1].bytes, using: &random)
                let found = sums.first(in: range, above: bytes, of: entries)
                let first = range.first { expected[$0].bytes > bytes }
                #expect(found?.index == first && found?.sum == first.map { expected[$0] }, "\(row.when), \(range)")
            }
        }
    }

    /// A byte of a whole archive is found in as many steps as one of a short one.
    @Test func stepsDoNotGrow() {
        let steps = [1000, 4000].map { count in
            var index = RingIndex(policy: RetentionPolicy(rewind: nil), targetDuration: 6)
            for n in 0..<count {
                var segment = NewSegment.numbered(n)
                segment.transportStream = TransportStreamPoint(
                    parameters: "p", discontinuitySequence: 0, isDiscontinuous: false,
                    extent: TransportStreamExtent(byteCount: 188))
                index.publish(segment)
            }
            let (entries, sums, counter) = (index.entries, index.transportStreamSums, StepCounter())
            StepCounter.$current.withValue(counter) {
                for n in stride(from: 1, to: count, by: count / 10) {
                    #expect(sums.first(in: 0..<count, above: UInt64(188 * n), of: entries)?.index == n)
                }
            }
            return counter.steps / 10
        }
        #expect(steps[0] > 0 && steps[1] < steps[0] * 2, "\(steps)")
    }
}
