import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// What a publish costs does not depend on how much is listed. Steps are elements that are read or copied.
struct PublishCostTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// The rewind for a number of segments of 6 s; nil: a VOD, which lists all of them in its live playlist.
        let rewind: (@Sendable (Int) -> Duration)?
        /// Changes segment `n`.
        var change: @Sendable (inout NewSegment, Int) -> Void = { _, _ in }

        var testDescription: String { when }
    }

    private static let sizes = [250, 500, 1000, 2000, 4000]

    private static let rows: [Row] = [
        Row(when: "a VOD", rewind: nil),
        Row(when: "a rewind that grows", rewind: { .seconds(12 * $0) }),
        Row(when: "a full rewind, whose oldest segments are evicted", rewind: { .seconds(3 * $0) }),
        Row(
            when: "a date range with every segment", rewind: { .seconds(3 * $0) },
            change: { $0.adMarkers.dateRanges = [.numbered($1, from: at(6 * Int64($1)), lasting: .seconds(30))] }),
        Row(
            when: "another format every tenth segment", rewind: { .seconds(3 * $0) },
            change: { $0.format = $1 / 10 % 2 == 0 ? VariantAttributesTests.program : VariantAttributesTests.ad }),
        Row(
            when: "segments that fall in size", rewind: { .seconds(12 * $0) },
            change: { $0.payload = [[UInt8](repeating: 0, count: max(10, 5000 - $1))[...]] }),
        Row(
            when: "segments that cannot be decoded alone", rewind: { .seconds(3 * $0) },
            change: { $0.isIndependent = $1.isMultiple(of: 2) }),
    ]

    private func segment(_ n: Int, of row: Row) -> NewSegment {
        var segment = NewSegment.numbered(n)
        row.change(&segment, n)
        return segment
    }

    @Test(arguments: rows)
    func indexCostsTheSameAtEveryLength(row: Row) throws {
        var steps: [Int] = []
        for size in Self.sizes {
            var index = RingIndex(
                policy: RetentionPolicy(rewind: row.rewind?(size), freeReserve: 0), targetDuration: 6)
            if row.rewind == nil { index.stopSliding() }
            for n in 0..<size { index.publish(segment(n, of: row)) }
            let counter = StepCounter()
            StepCounter.$current.withValue(counter) {
                for n in size..<size + 40 {
                    // A reader holds each state.
                    let held = index
                    index.publish(segment(n, of: row))
                    #expect(held.nextMediaSequence < index.nextMediaSequence)
                }
            }
            steps.append(counter.steps / 40)
        }
        let first = try #require(steps.first)
        let last = try #require(steps.last)
        // The height of the tree grows by one node for 32 times as many elements.
        #expect(last <= first * 3 / 2 + 100, "\(row.when): \(steps)")
        #expect(last < 2500, "\(row.when): \(steps)")
    }

    @Test(arguments: [false, true])
    func ringCostsTheSameAtEveryLength(isVOD: Bool) async throws {
        var steps: [Int] = []
        var journalBytes: [Int] = []
        for size in [100, 200, 400, 800] {
            let directory = try ScratchDirectory()
            let rewind: Duration? = isVOD ? nil : .seconds(3 * size)
            let ring = try DVRRing(
                directory: directory.path, policy: RetentionPolicy(rewind: rewind, freeReserve: 0), targetDuration: 6,
                subtitles: .upstream([Rendition(type: .subtitles, groupID: "s", name: "A")], keepsMade: false))
            if isVOD { await ring.stopSliding() }
            func publish(_ numbers: Range<Int>) async throws {
                for n in numbers {
                    try await ring.publish(.numbered(n))
                    try await ring.publish(NewSubtitles(rendition: 0, mediaSequence: UInt64(n), bytes: [0x57]))
                }
            }
            try await publish(0..<size)
            let before = try directory.read("ring.m3u8").count
            let counter = StepCounter()
            try await StepCounter.$current.withValue(counter) { try await publish(size..<size + 10) }
            steps.append(counter.steps / 10)
            journalBytes.append(try directory.read("ring.m3u8").count - before)
        }
        let first = try #require(steps.first)
        let last = try #require(steps.last)
        #expect(last <= first * 3 / 2 + 100, "\(steps)")
        #expect(last < 5000, "\(steps)")
        #expect(journalBytes.allSatisfy { $0 < 10 * 1000 }, "records only: \(journalBytes)")
    }
}
