import Playlist
import Support
import TestSupport
import Testing

@testable import LiveRing

/// A channel with more ad markers than any channel has: what is published with one segment is bounded, and nothing is
/// published again.
struct AdMarkerLimitsTests {
    private static func range(_ n: Int, bytes: Int = 0) -> String {
        let more = bytes > 0 ? ",X-A=\"\(String(repeating: "a", count: bytes))\"" : ""
        return "#EXT-X-DATERANGE:ID=\"r\(n)\",START-DATE=\"\(time(0))\",DURATION=86400\(more)"
    }

    private static let rows: [(when: String, listed: @Sendable (Int) -> [String], published: Int, excess: Int)] = [
        ("as many at once as are known", { _ in (0..<512).map { range($0) } }, 512, 0),
        ("more at once than are known", { _ in (0..<600).map { range($0) } }, 512, 88),
        ("one more", { _ in (0..<513).map { range($0) } }, 512, 1),
        ("a list that slides", { n in (n * 20..<n * 20 + 300).map { range($0) } }, 300 + 39 * 20, 0),
        (
            "a list that slides, of more than are known", { n in (n * 5..<n * 5 + 520).map { range($0) } },
            512 + 39 * 5, 8
        ),
        ("ranges of 30 kB", { _ in (0..<20).map { range($0, bytes: 30_000) } }, 20, 0),
        ("a range of 200 kB", { _ in (0..<3).map { range($0, bytes: 200_000) } }, 3, 0),
    ]

    @Test(arguments: rows.indices)
    func dateRangesArePublishedOnce(row: Int) throws {
        let (when, listed, published, excess) = Self.rows[row]
        var channel = AdMarkerChannel()
        for n in 0..<40 { try channel.publish(listed(n).joined(separator: "\n")) }
        let tags = channel.tags.values
        #expect(tags.allSatisfy { $0.count <= AdMarkerLimits.dateRanges }, "\(when)")
        let sizes = tags.map { $0.reduce(0) { $0 + $1.utf8.count } }
        let longest = tags.joined().map(\.utf8.count).max() ?? 0
        #expect(sizes.allSatisfy { $0 <= max(longest, AdMarkerLimits.dateRangeBytes) }, "\(when): \(sizes)")
        let all = tags.flatMap { $0 }
        #expect(Set(all).count == all.count, "\(when): nothing is published again")
        // Where more are listed than are known, which of them are published depends on their order.
        if excess <= 1 || published == 512 { #expect(all.count == published, "\(when)") }
        #expect(
            channel.timeline.counts[.excess] >= excess
                && (excess > 0) == (channel.timeline.counts[.excess] > 0), "\(when)")
    }

    /// Each segment lists ranges that no other one listed, so that the oldest ones are forgotten.
    @Test func forgottenRangesCostNoMoreTheMoreAreKnown() throws {
        let steps = try [128, 256, 512].map { count in
            var channel = AdMarkerChannel()
            for n in 0..<4 { try channel.publish((0..<count).map { Self.range(n * 512 + $0) }.joined(separator: "\n")) }
            let counter = StepCounter()
            try StepCounter.$current.withValue(counter) {
                for n in 4..<8 {
                    try channel.publish((0..<count).map { Self.range(n * 512 + $0) }.joined(separator: "\n"))
                }
            }
            return counter.steps
        }
        for (few, many) in zip(steps, steps.dropFirst()) { #expect(many <= few * 2 + few / 10, "\(steps)") }
    }

    @Test func cueTagsOfASegmentAreBounded() throws {
        var channel = AdMarkerChannel()
        let lines = ["#EXT-X-CUE-OUT:30"] + (0..<50_000).map { "#EXT-X-CUE-OUT-CONT:\($0)/50000" } + ["#EXT-X-CUE-IN"]
        try channel.publish(lines.joined(separator: "\n"))
        let cues = try #require(channel.cues[0])
        #expect(cues.count == AdMarkerLimits.cueTags && cues.first == lines.first && cues.last == lines.last)
        #expect(channel.timeline.counts[.excess] == lines.count - AdMarkerLimits.cueTags)
        try channel.publish("#EXT-X-CUE-OUT:\(String(repeating: "0", count: 20_000))30", "#EXT-X-CUE-IN")
        #expect((channel.cues[1] ?? []).reduce(0) { $0 + $1.utf8.count } <= AdMarkerLimits.cueTagBytes)
        try channel.publish(cueOut, "#EXT-X-CUE-IN")
        #expect(channel.cues[2]?.count == 2, "a channel as any other is not affected")
    }

    @Test func spliceCommandsOfASegmentAreBounded() throws {
        var channel = AdMarkerChannel()
        let splices = (0..<5000).map { splice(.out(autoReturn: false), event: UInt32($0), at: 0, lasting: 30) }
        try channel.publish("", splices: splices)
        #expect(channel.tags[0]?.count == AdMarkerLimits.dateRanges)
        #expect(channel.timeline.counts[.excess] == 5000 - AdMarkerLimits.spliceCommands)
    }
}
