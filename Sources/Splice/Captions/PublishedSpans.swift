import Demux
import Media
import Mux
import Transcode

/// The last stretches of picture that were shown, each on one clock, and what the upstream said of them.
struct PublishedSpans: Equatable, Sendable {
    /// Seams and segments that are remembered. Subtitles are minutes late at most.
    static let maxClockSpans = 64
    static let maxSourceSpans = 512
    /// Runs whose clocks agree as well as this are one clock: only their configuration differs.
    private static let sameClock = Ticks.milliseconds(2)

    /// One unbroken clock: a run, or several of them between which the clock went on.
    struct ClockSpan: Equatable, Sendable {
        /// `SourceSpan.run` of the runs it holds.
        var periods: ClosedRange<Int>
        var discontinuities: ClosedRange<UInt64>
        /// On the source's clock.
        var start: Ticks
        var end: Ticks
        /// Added to the source's times it gives the channel's.
        var offset: Ticks
        /// Another one follows.
        var isComplete = false

        /// On the channel's timeline.
        var outputRange: Range<Ticks> { start + offset..<max(start, end) + offset }
    }

    private(set) var clockSpans: [ClockSpan] = []
    private(set) var sourceSpans: [SourceSpan] = []

    /// On the channel's timeline, where the newest picture ends.
    var end: Ticks? { clockSpans.last?.outputRange.upperBound }

    mutating func append(_ span: SourceSpan) {
        sourceSpans.append(span)
        if sourceSpans.count > Self.maxSourceSpans {
            sourceSpans.removeFirst(sourceSpans.count - Self.maxSourceSpans / 2)
        }
        if var run = clockSpans.last, sharesClock(run, span) {
            run.periods = run.periods.lowerBound...max(run.periods.upperBound, span.period)
            let (low, high) = (run.discontinuities.lowerBound, run.discontinuities.upperBound)
            run.discontinuities = min(low, span.discontinuitySequence)...max(high, span.discontinuitySequence)
            run.end = max(run.end, span.outputEnd - run.offset)
            clockSpans[clockSpans.count - 1] = run
        } else {
            endClockSpan()
            clockSpans.append(
                ClockSpan(
                    periods: span.period...span.period,
                    discontinuities: span.discontinuitySequence...span.discontinuitySequence, start: span.start,
                    end: span.end, offset: span.offset))
            if clockSpans.count > Self.maxClockSpans { clockSpans.removeFirst() }
        }
    }

    /// Nothing is added to the newest run any more.
    mutating func endClockSpan() {
        if !clockSpans.isEmpty { clockSpans[clockSpans.count - 1].isComplete = true }
    }

    private func sharesClock(_ run: ClockSpan, _ span: SourceSpan) -> Bool {
        if run.periods.contains(span.period) { return true }
        let difference = span.offset - run.offset
        return !run.isComplete && max(difference, .zero - difference) <= Self.sameClock
    }

    /// The run of that number, if it is remembered.
    func clockSpan(ofPeriod number: Int) -> ClockSpan? { clockSpans.last { $0.periods.contains(number) } }
}
