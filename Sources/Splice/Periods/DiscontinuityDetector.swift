import Media

/// Decides for each video access unit whether it continues the current period or begins another.
///
/// A period is the longest sequence of frames with one clock and one configuration. It begins at the first random
/// access point at or after the signal that ends the previous period: at an IDR or CRA picture, or at a recovery point
/// that is allowed (`RecoveryPointChoice`). Frames between the signal and that point are dropped.
struct DiscontinuityDetector: Equatable, Sendable {
    typealias Signal = PeriodCause

    enum Verdict: Equatable, Sendable {
        case continues
        case beginsPeriod(Signal)
        /// The frame is a leading picture, presented before the first frame of its period.
        case leads
        /// The frame lies between a signal and the first random access point after it.
        case dropped
    }

    private enum State: Equatable, Sendable {
        case awaitingSync(Signal)
        case following(Signature)
    }

    private struct Signature: Equatable, Sendable {
        var pid: UInt16
        var configuration: VideoConfiguration
        var firstPresented: Ticks
        /// Time from the decode time of the first frame to its presentation time.
        var reordering: Ticks
        var last: Ticks
        var frameDuration: Ticks
        var isRepeated = false
    }

    /// Half frames by which the decode time may step back; a larger step back means another clock.
    private static let halfFramesBack: Int64 = 3
    /// Largest step forward on one clock, at any place.
    static let longestGap = Ticks.seconds(10)
    /// A step at a segment boundary is shorter than this on one clock, in either direction: with it, the EXTINF of a segment
    /// of the target duration would round up.
    private static let longestBoundaryGap = Ticks.milliseconds(500)

    /// Largest change of the composition offset on one clock. The limit is also at least as long as `deepestReordering`
    /// frames, the reorder depth that both standards allow.
    static let longestCompositionChange = Ticks.seconds(1)
    private static let deepestReordering: Int64 = 16

    private var state = State.awaitingSync(.joined)
    /// Gaps between frames that nothing in the upstream declared to be on different clocks.
    private(set) var timestampGaps = TimestampGaps()
    private let longestGap: Ticks
    /// Duration of the last frame of the segment before, if it stands for longer than a frame rate explains, as slides
    /// do.
    var standingDuration: Ticks?
    /// Largest departure from that duration on one clock.
    static let standingTolerance = Ticks.milliseconds(400)

    /// Longest duration of a standing frame: a whole segment of the target duration. With the tolerance before it, its
    /// segment is no longer than with a gap before it.
    var longestStandingFrame: Ticks { longestGap + Self.longestBoundaryGap - Self.standingTolerance }

    /// - Parameter longestGap: longest gap that can be published, whatever its cause.
    init(longestGap: Ticks = Self.longestGap) { self.longestGap = min(longestGap, Self.longestGap) }

    /// Decode time at which the last frame of the period ends; nil if a random access point is awaited.
    var end: Ticks? {
        guard case .following(let signature) = state else { return nil }
        return signature.last + (standingDuration ?? signature.frameDuration)
    }

    var reordering: Ticks {
        if case .following(let signature) = state { signature.reordering } else { .zero }
    }

    func isFollowing(_ packet: VideoPacket) -> Bool {
        guard case .following(let signature) = state else { return false }
        return packet.pid == signature.pid && packet.configuration == signature.configuration
    }

    /// Whether a period begins with `unit`, or with the next random access point after it.
    func awaitsSync(at unit: TimedVideo, boundary: SegmentBoundary) -> Bool {
        switch state {
        case .awaitingSync: true
        case .following(let signature):
            signal(of: unit, after: signature, boundary: boundary) != nil
        }
    }

    /// - Parameter allowsRecoveryPoint: whether a period may begin with `unit` if that is a recovery point or a gradual
    ///   refresh.
    mutating func handle(
        _ unit: TimedVideo, boundary: SegmentBoundary, allowsRecoveryPoint: Bool = false
    ) -> Verdict {
        let isRandomAccess =
            unit.packet.randomAccess.map { $0.beginsPeriodAtOnce || allowsRecoveryPoint } ?? false
        switch state {
        case .awaitingSync(let signal):
            return begin(with: unit, isRandomAccess: isRandomAccess, signal: boundary == .loss ? .loss : signal)
        case .following(let signature):
            let signal = signal(of: unit, after: signature, boundary: boundary)
            recordStep(to: unit, after: signature, boundary: boundary, signal: signal)
            guard let signal else { return follow(unit, signature) }
            timestampGaps.endPeriod()
            return begin(with: unit, isRandomAccess: isRandomAccess, signal: signal)
        }
    }

    mutating func finish() { timestampGaps.endPeriod() }

    private mutating func begin(with unit: TimedVideo, isRandomAccess: Bool, signal: Signal) -> Verdict {
        guard isRandomAccess else {
            state = .awaitingSync(signal)
            return .dropped
        }
        var frame = VideoTimestampUnwrapper.assumedFrameDuration
        if case .following(let previous) = state { frame = previous.frameDuration }
        state = .following(
            Signature(
                pid: unit.packet.pid, configuration: unit.packet.configuration, firstPresented: unit.pts,
                reordering: unit.pts - unit.dts, last: unit.dts, frameDuration: frame))
        return .beginsPeriod(signal)
    }

    private mutating func follow(_ unit: TimedVideo, _ signature: Signature) -> Verdict {
        var next = signature
        let step = unit.dts - signature.last
        if step > .zero, step <= Ticks.longestFrame { next.frameDuration = step }
        next.last = max(unit.dts, signature.last)
        next.isRepeated = unit.isRepeated
        state = .following(next)
        return unit.pts < signature.firstPresented ? .leads : .continues
    }

    /// Records the step as a gap even where it is too long for the period to continue. Beside a repeated key frame it is
    /// known why there is no other.
    private mutating func recordStep(
        to unit: TimedVideo, after previous: Signature, boundary: SegmentBoundary, signal: Signal?
    ) {
        let isSignaled =
            boundary == .tagged || (signal != nil && signal != .clock) || unit.isRepeated || previous.isRepeated
        guard !isSignaled, !Self.changesCompositionOffset(unit, after: previous) else { return }
        timestampGaps.recordVideoStep(unit.dts - previous.last)
    }

    private func signal(
        of unit: TimedVideo, after previous: Signature, boundary: SegmentBoundary
    ) -> Signal? {
        if boundary == .loss { return .loss }
        let isOtherStream = unit.packet.pid != previous.pid || unit.packet.configuration != previous.configuration
        if isOtherStream { return boundary == .tagged ? .tagged : .configuration }
        let step = unit.dts - previous.last
        let isExpected =
            unit.isRepeated || (boundary == .none ? previous.isRepeated : followsStandingFrame(step))
        guard
            step > (isExpected ? longestStandingFrame : longestGap)
                || Self.isClockChange(
                    step, frame: previous.frameDuration, atBoundary: boundary != .none && !isExpected)
                || Self.changesCompositionOffset(unit, after: previous)
        else { return nil }
        return boundary == .tagged ? .tagged : .clock
    }

    /// Whether a step at a segment boundary ends a frame that stands for seconds, where that was published to end.
    private func followsStandingFrame(_ step: Ticks) -> Bool {
        standingDuration.map { abs((step - $0).count) <= Self.standingTolerance.count } ?? false
    }

    /// Whether the composition offset of `unit` departs from that of its period.
    ///
    /// Two clocks can coincide in their decode times alone. Within a period the composition offset hardly varies. Times
    /// of a damaged frame are ignored.
    private static func changesCompositionOffset(_ unit: TimedVideo, after previous: Signature) -> Bool {
        guard !unit.packet.isDamaged else { return false }
        let deepest = previous.frameDuration.count * deepestReordering
        return abs((unit.pts - unit.dts - previous.reordering).count) > max(longestCompositionChange.count, deepest)
    }

    /// Whether a `step` from one frame to the next leads to another clock.
    static func isClockChange(_ step: Ticks, frame: Ticks, atBoundary: Bool) -> Bool {
        let departure = step - frame
        if step.count * 2 < -frame.count * halfFramesBack { return true }
        if step > longestGap { return true }
        return atBoundary && (departure >= longestBoundaryGap || departure <= .zero - longestBoundaryGap)
    }
}

/// The reason why a period begins.
package enum PeriodCause: String, CaseIterable, Equatable, Sendable {
    case joined
    /// EXT-X-DISCONTINUITY where the clock or the program really changed.
    case tagged
    case loss
    /// Other parameter sets, or another elementary stream.
    case configuration
    /// The clock stepped back, or forward by more than a gap can explain.
    case clock
    /// The audio configuration changed while the video configuration did not.
    case audioConfiguration
    /// Media continues after an outage, or after another source.
    case resumed
}
