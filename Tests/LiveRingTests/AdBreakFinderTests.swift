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
        /// The number of segments, of 6 s each.
        var count = 30
        /// The index of each segment that begins otherwise.
        let beginnings: [Int: Beginning]
        /// Seconds that are missing before a segment, by its index.
        var missing: [Int: Int64] = [:]
        /// The segments with other parameters.
        var ads: [Range<Int>] = []
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
            ads: [10..<14], breaks: [10..<14: .spliced]),
        Row(
            testDescription: "a restart at its first frame", beginnings: [10: .restart, 14: .splice], ads: [10..<14],
            breaks: [10..<14: .spliced]),
        Row(
            testDescription: "a restart after which media is missing",
            beginnings: [10: .splice, 12: .restart, 14: .splice], missing: [12: 30], breaks: [:]),
        Row(
            testDescription: "two parts of the program between pods, longer than each ad",
            beginnings: splices(8, 9, 11, 15, 16), ads: [8..<9, 15..<16],
            breaks: [8..<9: .spliced, 15..<16: .spliced]),
        Row(
            testDescription: "a short part of the program between pods, longer than each ad",
            beginnings: splices(10, 12, 15, 17), ads: [10..<12, 15..<17],
            breaks: [10..<12: .spliced, 15..<17: .spliced]),
        Row(
            testDescription: "two equal parts of the program between pods, as long as an ad",
            beginnings: splices(10, 11, 12, 13, 14), ads: [10..<11, 13..<14],
            breaks: [10..<11: .spliced, 13..<14: .spliced]),
        Row(
            testDescription: "an ad of the program's parameters in a pod", beginnings: splices(10, 12, 14, 16),
            ads: [10..<12, 14..<16], breaks: [10..<16: .spliced]),
        Row(
            testDescription: "an ad of the program's parameters at the beginning of a pod",
            beginnings: splices(10, 11, 13), ads: [11..<13], breaks: [10..<13: .spliced]),
        Row(
            testDescription: "a mixed pod of more than ten minutes", count: 300, beginnings: splices(10..<120),
            ads: stride(from: 10, to: 120, by: 2).map { $0..<$0 + 1 },
            breaks: Dictionary(
                uniqueKeysWithValues: stride(from: 10, to: 120, by: 2).map { ($0..<$0 + 1, .spliced) })),
        Row(
            testDescription: "a pod of the program's parameters of more than ten minutes", count: 300,
            beginnings: splices(20..<130), breaks: [:]),
        Row(
            testDescription: "other parameters for more than ten minutes", count: 300, beginnings: splices(10, 120),
            ads: [10..<120], breaks: [:]),
    ]

    private static func splices(_ indices: Int...) -> [Int: Beginning] { splices(indices) }

    private static func splices(_ indices: some Sequence<Int>) -> [Int: Beginning] {
        Dictionary(uniqueKeysWithValues: indices.map { ($0, .splice) })
    }

    @Test(arguments: rows) func breaks(_ row: Row) {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        var late: Int64 = 0
        for n in 0..<row.count {
            late += row.missing[n] ?? 0
            var segment = NewSegment.numbered(
                n, isDiscontinuous: row.beginnings[n] == .splice,
                initialization: row.ads.contains { $0.contains(n) } ? "init-b.mp4" : "init-a.mp4",
                at: at(6 * Int64(n) + late))
            segment.resumePoint.upstream = UpstreamPosition(sourceIndex: 0, mediaSequence: UInt64(n))
            index.publish(segment, afterInterruption: row.beginnings[n] == .restart)
        }
        let found = AdBreakFinder(index.listed, canGoOn: true).breaks
        #expect(found.map(\.evidence) == row.breaks.sorted { $0.key.lowerBound < $1.key.lowerBound }.map(\.value))
        #expect(found.map(\.start) == row.breaks.keys.map(\.lowerBound).sorted().map { at(6 * Int64($0)) })
        #expect(found.map(\.end) == row.breaks.keys.map(\.upperBound).sorted().map { at(6 * Int64($0)) })
    }
}
