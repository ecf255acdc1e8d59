import Media

/// Counts gaps in the upstream's timestamps that the upstream did not signal.
///
/// Causes are a response without a length that was cut between two packets, packets lost before the packager, and
/// frames that an encoder dropped.
///
/// A gap is a step between decode times that exceeds two and a half times the longest step before it. The reference is
/// the last 32 steps that can be a frame rate, and the very last step whatever its size. So one dropped frame is no
/// gap, nor is a change between 60 and 24 frames per second, nor a variable frame rate. Two fields count as one frame,
/// and a clock that wraps to 0 continues.
///
/// A gap stands alone: after it the steps shrink again by half at least, or the period ends. Otherwise the frame rate
/// fell. Audio alone is measured the same way; its steps are the durations of its frames. A step of more than ten
/// seconds leads to another clock.
struct TimestampGaps: Equatable, Sendable {
    private static let maxSteps = 32

    /// Counts of gaps, and the time missing in them: each step less a regular one.
    private(set) var counts = SpliceCounts()
    private var steps: [Ticks] = []
    private var last: Ticks?
    private var lastRegularStep = Ticks.zero
    /// The last step, until the next one tells whether it is a gap or a lower frame rate.
    private var possibleGap: Ticks?

    /// Ends a period: its steps are no reference for the next one.
    mutating func endPeriod() {
        resolvePossibleGap(isGap: true)
        (steps, last) = ([], nil)
    }

    /// - Parameter step: time between the decode times of two frames on one clock, without a signal between them.
    mutating func recordVideoStep(_ step: Ticks) {
        guard step > .zero, step <= DiscontinuityDetector.longestGap else { return }
        if let possibleGap { resolvePossibleGap(isGap: step.count * 2 < possibleGap.count) }
        if let last, Self.isGap(step, longest: steps.reduce(last, max)) {
            possibleGap = step
        } else {
            lastRegularStep = step
        }
        last = step
        guard step <= Ticks.longestFrame else { return }
        steps.append(step)
        if steps.count > Self.maxSteps { steps.removeFirst() }
    }

    /// - Parameter lead: time from the end of the frame before to the start of this frame.
    mutating func recordAudioLead(_ lead: Ticks, after frame: Ticks) {
        guard lead <= DiscontinuityDetector.longestGap, Self.isGap(frame + lead, longest: frame) else { return }
        add(lead)
    }

    private static func isGap(_ step: Ticks, longest: Ticks) -> Bool { step.count * 2 > longest.count * 5 }

    private mutating func resolvePossibleGap(isGap: Bool) {
        if let possibleGap, isGap { add(possibleGap - lastRegularStep) }
        possibleGap = nil
    }

    private mutating func add(_ gap: Ticks) {
        counts[.timestampGaps] += 1
        counts[.timestampGapTicks] += Int(gap.count)
    }
}
