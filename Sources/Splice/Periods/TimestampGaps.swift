import Demux
import Media
import Mux
import Transcode

/// Time that the upstream's own clock lacks where nobody said that anything is missing: an answer without a length that was
/// cut between two packets, packets lost on the way to the packager, pictures that an encoder dropped.
///
/// A hole is a step from one picture's decode time to the next one's that is more than two and a half times the longest
/// of the steps before it: the last 32, but for those that are no frame rate, and the very last whatever it is. So one
/// picture that is left out is no hole, nor is going from 60 pictures a second to 24 or back, nor are the times of a
/// stream whose rate always varies; two fields are one picture here, and a clock that returned to 0 has gone on. A hole
/// stands alone: behind it the pictures come faster again by half at least, or nothing of the run comes; where they do
/// not, the rate fell. Sound alone is measured the same: its steps are what its frames last. A step of more than ten
/// seconds leads to another clock.
struct TimestampGaps: Equatable, Sendable {
    private static let maxSteps = 32

    private(set) var count = 0
    /// What lacks in all of them: each step but for a usual one.
    private(set) var missing = Ticks.zero
    private var steps: [Ticks] = []
    private var last: Ticks?
    /// The last step that led over no hole.
    private var lastRegularStep = Ticks.zero
    /// The last step, while only the next one can tell a hole from a rate that fell.
    private var doubtedStep: Ticks?

    /// Steps of another run say nothing of this one's.
    mutating func endPeriod() {
        resolveDoubted(isGap: true)
        (steps, last) = ([], nil)
    }

    /// - Parameter step: between the decode times of two pictures of one clock, neither of them announced as anything else.
    mutating func recordVideoStep(_ step: Ticks) {
        guard step > .zero, step <= DiscontinuityDetector.longestGap else { return }
        if let doubtedStep { resolveDoubted(isGap: step.count * 2 < doubtedStep.count) }
        if let last, Self.isGap(step, longest: steps.reduce(last, max)) {
            doubtedStep = step
        } else {
            lastRegularStep = step
        }
        last = step
        guard step <= VideoTimestampUnwrapper.longestFrame else { return }
        steps.append(step)
        if steps.count > Self.maxSteps { steps.removeFirst() }
    }

    /// - Parameters: `lead`: of a frame's time before the end of the frame in front of it; `frame`: what that lasts.
    mutating func recordAudioLead(_ lead: Ticks, after frame: Ticks) {
        guard lead <= DiscontinuityDetector.longestGap, Self.isGap(frame + lead, longest: frame) else { return }
        add(lead)
    }

    private static func isGap(_ step: Ticks, longest: Ticks) -> Bool { step.count * 2 > longest.count * 5 }

    private mutating func resolveDoubted(isGap: Bool) {
        if let doubtedStep, isGap { add(doubtedStep - lastRegularStep) }
        doubtedStep = nil
    }

    private mutating func add(_ lacking: Ticks) {
        count += 1
        missing += lacking
    }
}
