import Media

/// Which time on its source's clock a sample of re-coded sound has.
///
/// The source's times are neither smoothed nor judged: an output frame is due when the source said its first sample is.
/// So what is to be made of a hole or a wild time is decided behind the bridge, by the rules for copied sound, and no
/// rounding adds up.
struct ResampledTimestamps: Equatable, Sendable {
    private struct SourceTime: Equatable, Sendable {
        /// Samples of the source since the stretch began.
        let position: Int64
        let time: Ticks
    }

    /// Hz of the samples that are marked, and of those that are asked for.
    let source: Int64
    let output: Int64
    private var sourceTimes: [SourceTime] = []

    init(source: Int, output: Int) {
        self.source = Int64(max(1, source))
        self.output = Int64(max(1, output))
    }

    /// The sample of the source at `position` is due at `time`. Positions rise.
    mutating func addSourceTime(_ position: Int64, at time: Ticks) {
        sourceTimes.append(SourceTime(position: position, time: time))
    }

    /// Time, to the nearest tick, of the output's sample at `position`, below 0 for what comes before the first. Asked for
    /// in rising order; nil before anything was marked.
    mutating func time(of position: Int64) -> Ticks? {
        // In units of 1 / (source * output) seconds both sides are whole.
        while sourceTimes.count > 1, sourceTimes[1].position * output <= position * source { sourceTimes.removeFirst() }
        guard let mark = sourceTimes.first else { return nil }
        let distance = (position * source - mark.position * output) * Ticks.perSecond
        let unit = source * output
        let rounded = (2 * distance + (distance >= 0 ? unit : -unit)) / (2 * unit)
        return mark.time + Ticks(rounded)
    }
}
