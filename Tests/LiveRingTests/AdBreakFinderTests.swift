import Playlist
import Testing

@testable import LiveRing
@testable import Support

/// Breaks that the entries of a ring tell.
struct AdBreakFinderTests {
    /// How an entry begins.
    enum Beginning { case plain, splice, restart }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The index of each segment that begins otherwise, of 30 segments of 6 s.
        let beginnings: [Int: Beginning]
        /// Seconds that are missing before a segment, by its index.
        var missing: [Int: Int64] = [:]
        /// The segments with other parameters.
        var ads: Range<Int> = 0..<0
        /// The segments of each break, and whether they are spliced or guessed.
        let breaks: [Range<Int>: AdBreak.Evidence]
    }

    static let rows: [Row] = [
        Row(testDescription: "no splice", beginnings: [:], breaks: [:]),
        Row(
            testDescription: "a short period between two splices", beginnings: [10: .splice, 12: .splice],
            breaks: [10..<12: .guessed]),
        Row(
            testDescription: "a pod of the program's parameters, whose longest ad is in its middle",
            beginnings: [11: .splice, 13: .splice, 17: .splice, 18: .splice], breaks: [11..<18: .guessed]),
        Row(testDescription: "a period as long as no ad", beginnings: [9: .splice, 20: .splice], breaks: [:]),
        Row(testDescription: "two restarts", beginnings: [10: .restart, 12: .restart], breaks: [:]),
        Row(testDescription: "a restart and a splice", beginnings: [10: .splice, 12: .restart], breaks: [:]),
        Row(
            testDescription: "a restart inside an ad of the program's parameters",
            beginnings: [10: .splice, 12: .restart, 14: .splice], breaks: [10..<14: .guessed]),
        Row(
            testDescription: "a restart inside a break", beginnings: [10: .splice, 12: .restart, 14: .splice],
            ads: 10..<14, breaks: [10..<14: .spliced]),
        Row(
            testDescription: "a restart at its first frame", beginnings: [10: .restart, 14: .splice], ads: 10..<14,
            breaks: [10..<14: .spliced]),
        Row(
            testDescription: "a restart after which media is missing",
            beginnings: [10: .splice, 12: .restart, 14: .splice], missing: [12: 30], breaks: [:]),
    ]

    @Test(arguments: rows) func breaks(_ row: Row) {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        var late: Int64 = 0
        for n in 0..<30 {
            late += row.missing[n] ?? 0
            var segment = NewSegment.numbered(
                n, isDiscontinuous: row.beginnings[n] == .splice,
                initialization: row.ads.contains(n) ? "init-b.mp4" : "init-a.mp4", at: at(6 * Int64(n) + late))
            segment.resumePoint.upstream = UpstreamPosition(sourceIndex: 0, mediaSequence: UInt64(n))
            index.publish(segment, afterInterruption: row.beginnings[n] == .restart)
        }
        let found = AdBreakFinder(index.listed, canGoOn: true).breaks
        #expect(found.map(\.evidence) == row.breaks.sorted { $0.key.lowerBound < $1.key.lowerBound }.map(\.value))
        #expect(found.map(\.start) == row.breaks.keys.map(\.lowerBound).sorted().map { at(6 * Int64($0)) })
        #expect(found.map(\.end) == row.breaks.keys.map(\.upperBound).sorted().map { at(6 * Int64($0)) })
    }
}
