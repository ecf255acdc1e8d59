package import Media

/// The clock of one client's endless stream. It runs on where media is missing: at a gap of the channel, and where a client
/// that was late is moved forward.
///
/// discontinuity_indicator is never set, so a step of PCR would be a fault (ETSI TR 101 290 §5.2.2, 2.3b), and players that
/// keep to PCR would wait for as long. What follows the step is therefore sent with earlier times.
package struct ClientClock: Equatable, Sendable {
    /// How a chunk is sent.
    package struct Placement: Equatable, Sendable {
        /// Times of the client before the chunk at which only PCR is sent; empty where no media is missing.
        package let pause: Range<Ticks>
        /// The chunk's times are earlier by this.
        package let shift: Ticks
    }

    /// The longest step between two chunks that is as good as none: that between two PCRs.
    private static let longestStep = Ticks.milliseconds(40)
    /// The longest time without media. PTS come every 0.7 s (ISO/IEC 13818-1 §2.7.4).
    private static let longestPause = Ticks.milliseconds(400)
    /// The rest of a longer gap, because audio may reach into it from both sides.
    private static let pause = Ticks.milliseconds(200)

    private var shift = Ticks.zero
    /// The client's time at which the last chunk ends; nil before the first.
    package private(set) var end: Ticks?

    package init() {}

    /// Continues a stream whose last chunk was earlier by `shift` and ended at `end`.
    package init(after end: Ticks, shift: Ticks) { (self.end, self.shift) = (end, shift) }

    /// Whether a chunk that begins at `start` follows the last one without a step.
    func isContinued(at start: Ticks) -> Bool { end.map { Self.pause(for: start - shift - $0) == nil } ?? false }

    package mutating func append(from start: Ticks, lasting duration: Ticks) -> Placement {
        let last = end ?? start
        var pause = Ticks.zero
        if let end, let rest = Self.pause(for: start - shift - end) {
            pause = rest
            shift = start - end - rest
        }
        end = start - shift + duration
        return Placement(pause: last..<last + pause, shift: shift)
    }

    /// The time without media that is left of a step between two chunks; nil if there is none to speak of.
    static func pause(for step: Ticks) -> Ticks? {
        if abs(step.count) <= longestStep.count { return nil }
        return (Ticks.zero...longestPause).contains(step) ? step : pause
    }
}
