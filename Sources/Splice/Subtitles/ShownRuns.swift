/// The last stretches of picture that were shown, each on one clock, and what the upstream said of them.
struct ShownRuns: Equatable, Sendable {
    /// Seams and segments that are remembered. Subtitles are minutes late at most.
    static let mostRuns = 64
    static let mostSpans = 512
    /// Runs whose clocks agree as well as this are one clock: only their configuration differs.
    private static let sameClock = Ticks.milliseconds(2)

    /// One unbroken clock: a run, or several of them between which the clock went on.
    struct Run: Equatable, Sendable {
        /// `SourceSpan.run` of the runs it holds.
        var numbers: ClosedRange<Int>
        var discontinuities: ClosedRange<UInt64>
        /// On the source's clock.
        var start: Ticks
        var end: Ticks
        /// Added to the source's times it gives the channel's.
        var offset: Ticks
        /// Another one follows.
        var isOver = false

        /// On the channel's timeline.
        var shown: Range<Ticks> { start + offset..<max(start, end) + offset }
    }

    private(set) var runs: [Run] = []
    private(set) var spans: [SourceSpan] = []

    /// On the channel's timeline, where the newest picture ends.
    var end: Ticks? { runs.last?.shown.upperBound }

    mutating func note(_ span: SourceSpan) {
        spans.append(span)
        if spans.count > Self.mostSpans { spans.removeFirst(spans.count - Self.mostSpans / 2) }
        if var run = runs.last, isOneClock(run, span) {
            run.numbers = run.numbers.lowerBound...max(run.numbers.upperBound, span.run)
            let (low, high) = (run.discontinuities.lowerBound, run.discontinuities.upperBound)
            run.discontinuities = min(low, span.discontinuitySequence)...max(high, span.discontinuitySequence)
            run.end = max(run.end, span.outputEnd - run.offset)
            runs[runs.count - 1] = run
        } else {
            endRun()
            runs.append(
                Run(
                    numbers: span.run...span.run,
                    discontinuities: span.discontinuitySequence...span.discontinuitySequence, start: span.start,
                    end: span.end, offset: span.offset))
            if runs.count > Self.mostRuns { runs.removeFirst() }
        }
    }

    /// Nothing is added to the newest run any more.
    mutating func endRun() {
        if !runs.isEmpty { runs[runs.count - 1].isOver = true }
    }

    private func isOneClock(_ run: Run, _ span: SourceSpan) -> Bool {
        if run.numbers.contains(span.run) { return true }
        let difference = span.offset - run.offset
        return !run.isOver && max(difference, .zero - difference) <= Self.sameClock
    }

    /// The run of that number, if it is remembered.
    func run(numbered number: Int) -> Run? { runs.last { $0.numbers.contains(number) } }
}
