import Foundation
import LiveRing
import Media
import TestSupport
import Testing

/// The table of ranges in docs/limits.md says what the code does.
@Suite struct RangesDocumentTests {
    private static let text =
        (try? String(contentsOf: PackageRoot.url.appending(path: "docs/limits.md"), encoding: .utf8)) ?? ""

    private static let rows: [(name: String, range: ClosedRange<Int64>)] = [
        ("SampleRate", Int64(SampleRate.range.lowerBound)...Int64(SampleRate.range.upperBound)),
        ("Timescale", Int64(Timescale.range.lowerBound)...Int64(Timescale.range.upperBound)),
        ("channelCounts", range(AudioConfiguration.channelCounts)),
        ("frameLengths", range(AudioConfiguration.frameLengths)), ("timeline", Ticks.timeline),
        ("targetDuration", RingRanges.targetDuration), ("duration", RingRanges.duration), ("ticks", RingRanges.ticks),
        ("audioTicks", RingRanges.audioTicks), ("fragments", RingRanges.fragments),
        ("sequenceNumbers", RingRanges.sequenceNumbers), ("sizes", RingRanges.sizes), ("pixels", RingRanges.pixels),
        ("sourceIndices", RingRanges.sourceIndices), ("dates", RingRanges.dates),
    ]

    private static func range(_ range: ClosedRange<Int>) -> ClosedRange<Int64> {
        Int64(range.lowerBound)...Int64(range.upperBound)
    }

    @Test func everyRangeIsDocumented() throws {
        let section = try #require(Self.text.split(separator: "## Ranges").dropFirst().first)
        let found = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = Self.rows.map { "| `\($0.name)` | \($0.range.lowerBound) … \($0.range.upperBound) |" }
        #expect(expected.filter { row in !found.contains { $0.hasPrefix(row) } } == [])
    }

    /// What the journal may hold is what the timeline bears, with a margin for what is published after it.
    @Test func journalHoldsNoMoreThanTheTimeline() {
        #expect(RingRanges.ticks == Ticks.timeline)
        let audio = Ticks.timeline.upperBound.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
        #expect(RingRanges.audioTicks.contains(audio) && RingRanges.audioTicks.upperBound < .max / 4)
        #expect(RingRanges.duration.upperBound <= Int64(UInt32.max))
        #expect(Ticks.timeline.upperBound <= .max / 1000, "milliseconds of a date")
    }
}
