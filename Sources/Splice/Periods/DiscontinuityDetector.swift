import Demux
import Media
import Mux
import Transcode

/// Decides for each video access unit whether it goes on with the current run or begins another one.
///
/// A run is the longest stretch with one clock and one configuration. It begins at the first random access (IDR, or
/// HEVC CRA) at or after the signal that the old one is over; what lies between belongs to nobody.
struct DiscontinuityDetector: Equatable, Sendable {
    /// Why a run begins.
    enum Signal: Equatable, Sendable {
        /// The first run of the channel.
        case joined
        /// EXT-X-DISCONTINUITY where the clock or the programme really changed.
        case tagged
        /// Segments before it were lost.
        case loss
        /// Other parameter sets, or another elementary stream.
        case configuration
        /// The clock went back, or forward farther than a gap would.
        case clock
        /// The sound's configuration changed; the picture's did not.
        case audioConfiguration
    }

    /// What was said of the segment border just before an access unit.
    enum Boundary: Equatable, Sendable { case none, plain, tagged, loss }

    enum Verdict: Equatable, Sendable {
        case continues
        case beginsPeriod(Signal)
        case dropped(DropReason)
    }

    enum DropReason: Equatable, Sendable {
        /// Between a signal and the first random access after it.
        case beforeSync
        /// An open GOP's leading picture, shown before the picture its run begins with.
        case leading
    }

    private enum State: Equatable, Sendable {
        case awaitingSync(Signal)
        case following(Signature)
    }

    private struct Signature: Equatable, Sendable {
        var pid: UInt16
        var configuration: VideoConfiguration
        var firstPresented: Ticks
        /// From the first picture's decode time to its presentation.
        var reordering: Ticks
        var last: Ticks
        var frameDuration: Ticks
    }

    /// A step back of the decode time by more than this many half frames is another clock.
    static let halfFramesBack: Int64 = 3
    /// A step forward by more is another clock, wherever it happens.
    static let longestGap = Ticks.seconds(10)
    /// At a segment's border a step by more, either way, is another clock.
    static let longestBoundaryGap = Ticks.milliseconds(500)

    /// A change of the time from decoding to presentation by more than this, and by more frames than pictures may be
    /// reordered by (both standards), is another clock.
    static let longestCompositionChange = Ticks.seconds(1)
    private static let deepestReordering: Int64 = 16

    private var state = State.awaitingSync(.joined)
    /// Between pictures that are of one clock for all that the upstream said.
    private(set) var timestampGaps = TimestampGaps()
    private let longestGap: Ticks

    /// - Parameter longestGap: no gap that is longer can be published, whatever its cause.
    init(longestGap: Ticks = Self.longestGap) { self.longestGap = min(longestGap, Self.longestGap) }

    mutating func handle(_ unit: TimedVideo, border: Boundary) -> Verdict {
        switch state {
        case .awaitingSync(let signal):
            return begin(with: unit, signal: border == .loss ? .loss : signal)
        case .following(let signature):
            let signal = signal(of: unit, after: signature, border: border)
            recordStep(to: unit, after: signature, boundary: border, signal: signal)
            guard let signal else { return follow(unit, signature) }
            timestampGaps.endPeriod()
            return begin(with: unit, signal: signal)
        }
    }

    /// Nothing follows.
    mutating func finish() { timestampGaps.endPeriod() }

    private mutating func begin(with unit: TimedVideo, signal: Signal) -> Verdict {
        guard unit.packet.sync.isRandomAccess else {
            state = .awaitingSync(signal)
            return .dropped(.beforeSync)
        }
        var frame = VideoTimestampUnwrapper.assumedFrameDuration
        if case .following(let old) = state { frame = old.frameDuration }
        state = .following(
            Signature(
                pid: unit.packet.pid, configuration: unit.packet.configuration, firstPresented: unit.pts,
                reordering: unit.pts - unit.dts, last: unit.dts, frameDuration: frame))
        return .beginsPeriod(signal)
    }

    private mutating func follow(_ unit: TimedVideo, _ signature: Signature) -> Verdict {
        var next = signature
        let step = unit.dts - signature.last
        if step > .zero, step <= VideoTimestampUnwrapper.longestFrame { next.frameDuration = step }
        next.last = max(unit.dts, signature.last)
        state = .following(next)
        return unit.pts < signature.firstPresented ? .dropped(.leading) : .continues
    }

    /// A step forward may be too far for the run to go on, and is a hole all the same.
    private mutating func recordStep(to unit: TimedVideo, after old: Signature, boundary: Boundary, signal: Signal?) {
        let isAnnounced = boundary == .tagged || (signal != nil && signal != .clock)
        guard !isAnnounced, !Self.changesCompositionOffset(unit, after: old) else { return }
        timestampGaps.recordVideoStep(unit.dts - old.last)
    }

    private func signal(of unit: TimedVideo, after old: Signature, border: Boundary) -> Signal? {
        if border == .loss { return .loss }
        let isOther = unit.packet.pid != old.pid || unit.packet.configuration != old.configuration
        if isOther { return border == .tagged ? .tagged : .configuration }
        let step = unit.dts - old.last
        guard
            step > longestGap || Self.isClockChange(step, frame: old.frameDuration, atBoundary: border != .none)
                || Self.changesCompositionOffset(unit, after: old)
        else { return nil }
        return border == .tagged ? .tagged : .clock
    }

    /// Two clocks may meet in their decode times alone. In all of a run the time from decoding to presentation is much
    /// the same; the time of a damaged picture says nothing.
    private static func changesCompositionOffset(_ unit: TimedVideo, after old: Signature) -> Bool {
        guard !unit.packet.isDamaged else { return false }
        let deepest = old.frameDuration.count * deepestReordering
        return abs((unit.pts - unit.dts - old.reordering).count) > max(longestCompositionChange.count, deepest)
    }

    /// Whether a `step` from one picture or frame to the next leads to another clock.
    /// - Parameter frame: what the earlier one lasts.
    static func isClockChange(_ step: Ticks, frame: Ticks, atBoundary: Bool) -> Bool {
        let departure = step - frame
        if step.count * 2 < -frame.count * halfFramesBack { return true }
        if step > longestGap { return true }
        return atBoundary && (departure > longestBoundaryGap || departure < .zero - longestBoundaryGap)
    }
}
