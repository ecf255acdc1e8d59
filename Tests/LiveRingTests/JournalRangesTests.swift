import LiveRing
import Media
import Testing

/// The ranges of a journal beside those of the timeline.
@Suite struct JournalRangesTests {
    /// What the journal may hold is what the timeline bears, with a margin for what is published after it.
    @Test func journalHoldsNoMoreThanTheTimeline() {
        #expect(RingRanges.ticks == Ticks.timeline)
        let audio = Ticks.timeline.upperBound.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
        #expect(RingRanges.audioTicks.contains(audio) && RingRanges.audioTicks.upperBound < .max / 4)
        #expect(RingRanges.duration.upperBound <= Int64(UInt32.max))
        #expect(Ticks.timeline.upperBound <= .max / 1000, "milliseconds of a date")
    }
}
