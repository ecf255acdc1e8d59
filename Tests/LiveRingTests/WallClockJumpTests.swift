import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Order, eviction and numbers do not depend on dates, which may jump with the upstream or the wall clock.
struct WallClockJumpTests {
    static let rows: [(when: String, hours: Int64)] = [
        ("no jump", 0), ("an hour forward", 1), ("an hour back", -1), ("ten years back", -87_600),
    ]

    @Test(arguments: rows.indices)
    func wallClockJumpChangesOnlyDates(row: Int) async throws {
        let (when, hours) = Self.rows[row]
        let directory = try ScratchDirectory()
        let policy = RetentionPolicy(rewind: .seconds(60), freeReserve: 0)
        func publish(_ range: Range<Int>, to ring: DVRRing) async throws {
            for n in range {
                let date = at(6 * Int64(n) + (n < 8 ? 0 : 3600 * hours))
                try await ring.publish(.numbered(n, isDiscontinuous: n == 8, at: date))
            }
        }
        let ring = try DVRRing.open(directory, policy: policy)
        try await publish(0..<14, to: ring)
        let index = ring.snapshot.index
        #expect(index.listed.map(\.mediaSequence) == Array(4..<14), "\(when): the age is in media time")
        #expect(index.retired.map(\.mediaSequence) == Array(0..<4), "\(when)")
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        let next = try DVRRing.open(copy, policy: policy)
        #expect(next.snapshot.index.listed == index.listed && next.resumePoint == .after(13), "\(when)")
        try await publish(14..<20, to: next)
        #expect(next.snapshot.index.listed.map(\.mediaSequence) == Array(10..<20), "\(when)")
        #expect(brokenRules(in: text(next.snapshot.dvrPlaylist(.whole))).isEmpty, "\(when)")
    }

    /// Segments 0 … 9 begin at noon, 10 … 19 half a minute earlier than 9 ends, 20 … 29 a minute after 19 ends.
    static let moments: [(when: String, start: Int64, end: Int64?, numbers: Range<UInt64>)] = [
        ("once", 6, 12, 1..<2), ("twice: the later one", 36, 42, 11..<12), ("the last of two", 59, 62, 14..<16),
        ("a range into the moments that are there twice", 24, 36, 4..<6),
        ("into the later ones", 24, 70, 4..<17), ("in a hole: the next", 91, 155, 20..<21),
        ("in the hole, up to its end", 91, 149, 20..<20), ("before all", -60, 6, 0..<1), ("open", 120, nil, 20..<30),
    ]

    @Test(arguments: moments) func momentsOfDatesThatJump(
        when: String, start: Int64, end: Int64?, numbers: Range<UInt64>
    ) {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in 0..<30 {
            _ = index.publish(.numbered(n, at: at(6 * Int64(n) + (n < 10 ? 0 : n < 20 ? -30 : 30))))
        }
        let range = index.indices(from: at(start), to: end.map(at))
        let first = index.listed.startIndex
        #expect(range.isEmpty == numbers.isEmpty, "\(when): \(range)")
        if !range.isEmpty {
            #expect(UInt64(range.lowerBound - first)..<UInt64(range.upperBound - first) == numbers, "\(when)")
        }
    }
}
