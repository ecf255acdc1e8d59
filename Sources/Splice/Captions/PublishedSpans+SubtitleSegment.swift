import Media

extension PublishedSpans {
    /// How long after the start of a dated span its date is used, milliseconds.
    private static let longestDatedDistance: Int64 = 120_000
    /// How long before the start of a dated span its date is used, milliseconds.
    private static let datePrecision: Int64 = 500

    /// Returns the presentation time at which an upstream subtitle segment starts, by its date, its number, or the end of
    /// the segment before.
    /// - Parameters:
    ///   - previous: the subtitle segment received before, if any.
    ///   - usesNumbers: whether the subtitle playlist counts segments like the video's playlist.
    func outputStart(
        of input: SubtitleInput, after previous: ReceivedSubtitleSegment?, usesNumbers: Bool
    ) -> Ticks? {
        if let date = input.programDateTime, let start = time(of: date, near: input) { return start }
        if usesNumbers, let span = span(numberedAs: input) { return span.outputStart }
        guard let previous, !input.isAfterDiscontinuity, previous.input.mediaSequence &+ 1 == input.mediaSequence else {
            return nil
        }
        let number = input.discontinuitySequence
        if previous.input.discontinuitySequence == number { return previous.outputRange?.upperBound }
        return sourceSpans.first { $0.discontinuitySequence == number }?.outputStart
    }

    /// Presentation time of an upstream date, by the newest span that is dated before it.
    private func time(of date: Int64, near input: SubtitleInput) -> Ticks? {
        let dated = sourceSpans.filter { span in
            guard let start = span.programDateTime else { return false }
            let (distance, overflows) = date.subtractingReportingOverflow(start)
            return !overflows && (-Self.datePrecision...Self.longestDatedDistance).contains(distance)
        }
        let signaled = dated.last { $0.discontinuitySequence == input.discontinuitySequence }
        guard let span = signaled ?? dated.last, let start = span.programDateTime else { return nil }
        return span.outputStart + .milliseconds(date - start)
    }

    private func span(numberedAs input: SubtitleInput) -> SourceSpan? {
        sourceSpans.last {
            $0.mediaSequence == input.mediaSequence && $0.discontinuitySequence == input.discontinuitySequence
        }
    }
}
