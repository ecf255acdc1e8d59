@testable import Support
import Playlist
import TestSupport
import Testing

@testable import LiveRing

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
        #expect(index.retired.map(\.entry.mediaSequence) == Array(0..<4), "\(when)")
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        let next = try DVRRing.open(copy, policy: policy)
        #expect(next.snapshot.index.listed == index.listed && next.resumePoint == .after(13), "\(when)")
        try await publish(14..<20, to: next)
        #expect(next.snapshot.index.listed.map(\.mediaSequence) == Array(10..<20), "\(when)")
        #expect(brokenRules(in: text(next.snapshot.dvrPlaylist(.whole))).isEmpty, "\(when)")
    }
}
