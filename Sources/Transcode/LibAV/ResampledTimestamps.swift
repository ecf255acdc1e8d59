import Media

/// Maps output sample positions of transcoded audio to times on the source's clock.
///
/// The source's times are neither smoothed nor checked: an output frame has the time that the source gave its first
/// sample. Timestamp gaps and wrong timestamps are handled after transcoding, by the rules for copied audio. Rounding
/// errors do not accumulate.
struct ResampledTimestamps: Equatable, Sendable {
    private struct SourceTime: Equatable, Sendable {
        /// Source samples since the span began.
        let position: Int64
        let time: Ticks
    }

    /// Source and output sample rates, Hz.
    private let sourceRate: Int64
    private let outputRate: Int64
    private var sourceTimes: [SourceTime] = []

    init(sourceRate: SampleRate, outputRate: SampleRate) {
        self.sourceRate = Int64(sourceRate.hertz)
        self.outputRate = Int64(outputRate.hertz)
    }

    /// Records the time of the source sample at `position`. Positions must increase.
    mutating func addSourceTime(_ time: Ticks, at position: Int64) {
        sourceTimes.append(SourceTime(position: position, time: time))
    }

    /// Time of the output sample at `position`, to the nearest tick.
    ///
    /// Positions must increase; a negative position is before the first sample.
    /// - Returns: nil before any source time was added.
    mutating func time(of position: Int64) -> Ticks? {
        // In units of 1 / (sourceRate * outputRate) seconds both sides are integers.
        while sourceTimes.count > 1, sourceTimes[1].position * outputRate <= position * sourceRate {
            sourceTimes.removeFirst()
        }
        guard let reference = sourceTimes.first else { return nil }
        let distance = position * sourceRate - reference.position * outputRate
        return reference.time + Ticks(distance.rescaled(Ticks.perSecond, over: sourceRate * outputRate))
    }
}
