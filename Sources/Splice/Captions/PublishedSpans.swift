import Media

/// Recently published video spans, grouped by clock, with their upstream numbers and dates.
struct PublishedSpans: Equatable, Sendable {
    /// Numbers of clock spans and source spans that are kept. Subtitles are late by minutes at most.
    private static let maxClockSpans = 64
    private static let maxSourceSpans = 512
    /// Periods whose clock offsets differ by at most this time are on one clock: only their configurations differ.
    private static let clockTolerance = Ticks.milliseconds(2)

    /// A span of video on one continuous clock: one period, or several periods between which the clock continues.
    struct ClockSpan: Equatable, Sendable {
        /// Indices of its periods (`SourceSpan.period`).
        var periods: ClosedRange<Int>
        var discontinuities: ClosedRange<UInt64>
        var start: Ticks
        var end: Ticks
        var offset: Ticks
        var isComplete = false

        var outputRange: Range<Ticks> { start + offset..<max(start, end) + offset }
    }

    private(set) var clockSpans: [ClockSpan] = []
    private(set) var sourceSpans: [SourceSpan] = []

    var end: Ticks? { clockSpans.last?.outputRange.upperBound }

    mutating func append(_ span: SourceSpan) {
        sourceSpans.append(span)
        if sourceSpans.count > Self.maxSourceSpans {
            sourceSpans.removeFirst(sourceSpans.count - Self.maxSourceSpans / 2)
        }
        if var clockSpan = clockSpans.last, sharesClock(clockSpan, span) {
            clockSpan.periods = clockSpan.periods.lowerBound...max(clockSpan.periods.upperBound, span.period)
            let (low, high) = (clockSpan.discontinuities.lowerBound, clockSpan.discontinuities.upperBound)
            clockSpan.discontinuities = min(low, span.discontinuitySequence)...max(high, span.discontinuitySequence)
            clockSpan.end = max(clockSpan.end, span.outputEnd - clockSpan.offset)
            clockSpans[clockSpans.count - 1] = clockSpan
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

    mutating func endClockSpan() {
        if !clockSpans.isEmpty { clockSpans[clockSpans.count - 1].isComplete = true }
    }

    private func sharesClock(_ clockSpan: ClockSpan, _ span: SourceSpan) -> Bool {
        if clockSpan.periods.contains(span.period) { return true }
        let difference = span.offset - clockSpan.offset
        return !clockSpan.isComplete && max(difference, .zero - difference) <= Self.clockTolerance
    }

    func clockSpan(ofPeriod index: Int) -> ClockSpan? { clockSpans.last { $0.periods.contains(index) } }

    /// How long after the start of a dated span its date is used, milliseconds.
    private static let longestDatedDistance: Int64 = 120_000
    /// How long before the start of a dated span its date is used, milliseconds.
    private static let datePrecision: Int64 = 500

    /// Returns the presentation times of an upstream subtitle segment, by its date, its number, or the end of the
    /// segment before; nil if nothing tells.
    ///
    /// Lost video takes no time: the range of its subtitles is empty, at the video after it. After the published end,
    /// the range is a guess that nothing will be lost.
    /// - Parameter usesNumbers: whether the subtitle playlist counts segments like the video's playlist.
    func outputRange(
        of input: SubtitleInput, after previous: ReceivedSubtitleSegment?, usesNumbers: Bool
    ) -> Range<Ticks>? {
        let duration = max(.zero, input.duration)
        if let date = input.programDateTime, let start = time(of: date, near: input) {
            let end = time(of: date + duration.roundedMilliseconds, near: input) ?? start + duration
            return start..<max(start, end)
        }
        if usesNumbers, let range = range(numberedAs: input, lasting: duration) { return range }
        guard let previous, !input.isAfterDiscontinuity, previous.input.mediaSequence &+ 1 == input.mediaSequence else {
            return nil
        }
        let number = input.discontinuitySequence
        let start =
            previous.input.discontinuitySequence == number
            ? previous.outputRange?.upperBound : sourceSpans.first { $0.discontinuitySequence == number }?.outputStart
        return start.map { $0..<$0 + (usesNumbers && isLost(input.mediaSequence) ? .zero : duration) }
    }

    /// Presentation time of an upstream date, by the newest span that is dated before it.
    private func time(of date: Int64, near input: SubtitleInput) -> Ticks? {
        let dated = sourceSpans.indices.filter { index in
            guard let start = sourceSpans[index].programDateTime else { return false }
            let (distance, overflows) = date.subtractingReportingOverflow(start)
            return !overflows && (-Self.datePrecision...Self.longestDatedDistance).contains(distance)
        }
        let signaled = dated.last { sourceSpans[$0].discontinuitySequence == input.discontinuitySequence }
        guard let index = signaled ?? dated.last, let start = sourceSpans[index].programDateTime else { return nil }
        let time = sourceSpans[index].outputStart + .milliseconds(date - start)
        let next = sourceSpans[index...].dropFirst().first { $0.programDateTime.map { $0 > date } ?? false }
        return next.map { min(time, $0.outputStart) } ?? time
    }

    private func range(numberedAs input: SubtitleInput, lasting duration: Ticks) -> Range<Ticks>? {
        let isSame = { (span: SourceSpan) in
            span.mediaSequence == input.mediaSequence && span.discontinuitySequence == input.discontinuitySequence
        }
        guard let last = sourceSpans.lastIndex(where: isSame) else { return nil }
        let first = sourceSpans[..<last].lastIndex { !isSame($0) }.map { $0 + 1 } ?? sourceSpans.startIndex
        let start = sourceSpans[first].outputStart
        let next = sourceSpans[last...].dropFirst().first?.outputStart
        return start..<max(start, next.map { min(start + duration, $0) } ?? start + duration)
    }

    /// Whether video was published from before and from after a number, and none with it.
    private func isLost(_ number: UInt64) -> Bool {
        zip(sourceSpans, sourceSpans.dropFirst()).contains { $0.mediaSequence < number && number < $1.mediaSequence }
    }
}
