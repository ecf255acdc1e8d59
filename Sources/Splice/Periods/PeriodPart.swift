import Demux
import Media
import Mux
import Transcode

/// Video frames of one period from one upstream segment, in decoding order.
struct PeriodPart: Equatable, Sendable {
    /// Set if the first frame begins a period.
    var signal: DiscontinuityDetector.Signal?
    private(set) var units: [TimedVideo]
    /// Whether the upstream segment has no audio and declares none; later audio belongs to another program.
    let hasNoAudio: Bool
    /// Duration of one frame of this part.
    private(set) var frameDuration: Ticks
    /// Whether the upstream segment began without a sync sample.
    let isCutMidGOP: Bool
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Presentation time of the first frame since the signal, even if that frame was dropped.
    private(set) var clockStart: Ticks
    /// Date of the first frame in milliseconds since 1970; nil if the upstream gave none.
    private(set) var programDateTime: Int64?
    /// Whether this part begins its upstream segment.
    private(set) var opensSegment: Bool
    /// Timed metadata of the upstream segment, in order.
    var metadata: [TimedMetadata] = []

    init(
        signal: DiscontinuityDetector.Signal?, first: TimedVideo, frameDuration: Ticks,
        from origin: SegmentOrigin
    ) {
        self.signal = signal
        self.frameDuration = frameDuration
        units = [first]
        clockStart = origin.clockStart ?? first.pts
        isCutMidGOP = origin.isCutMidGOP
        hasNoAudio = origin.hasNoAudio
        mediaSequence = origin.mediaSequence
        discontinuitySequence = origin.discontinuitySequence
        programDateTime = origin.date
        opensSegment = origin.isAtStart
    }

    mutating func append(_ unit: TimedVideo, frameDuration: Ticks) {
        units.append(unit)
        self.frameDuration = frameDuration
    }

    /// Mean frame duration as a fraction, finer than one tick per frame.
    var meanFrameDuration: (ticks: Int64, frames: Int64) {
        guard units.count > 1 else { return (frameDuration.count, 1) }
        return ((playingDuration - frameDuration).count, Int64(units.count - 1))
    }

    /// Time from the decode time of the first frame to the end of the last.
    var playingDuration: Ticks {
        guard let first = units.first, let last = units.last else { return .zero }
        return last.dts - first.dts + frameDuration
    }

    /// Sets the frame duration of a part with a single frame, once the next frame is known.
    mutating func update(frameDuration: Ticks) { self.frameDuration = frameDuration }

    /// Extends the last frame if each frame of the part stands for longer than a frame rate explains, as slides do: for as
    /// long as each frame before it, or to the end of the segment. After a repeated key frame only the last two frames count.
    /// - Parameters:
    ///   - end: decode time at which the segment ends by its extent; nil if that is not known.
    ///   - longest: longest duration of a frame.
    /// - Returns: the duration of the last frame; nil if it does not stand.
    mutating func extendStandingFrame(until end: Ticks?, longest: Ticks) -> Ticks? {
        let isContinued = units.first?.isRepeated ?? false
        let frames = isContinued ? units.suffix(2) : units[...]
        let steps = zip(frames, frames.dropFirst()).filter { !$0.0.isRepeated }.map { $1.dts - $0.dts }
        let shortest = VideoTimestampUnwrapper.longestFrame
        guard let last = units.last, steps.allSatisfy({ $0 > shortest }) else { return nil }
        let spread = (steps.max() ?? .zero) - (steps.min() ?? .zero)
        var duration = end.map { $0 - last.dts } ?? .zero
        // The first frame may be the last of the segment before, which then is one step longer by EXTINF.
        if !isContinued, let step = steps.last, spread.count * 5 <= shortest.count,
            duration <= .zero || steps.count > 1
        {
            duration = duration > .zero ? min(step, duration) : step
        }
        // After another frame that stands, the last one may come shortly before the end of the segment.
        let least = isContinued || !steps.isEmpty ? Ticks.zero : shortest
        guard duration > least, isContinued || duration <= longest + DiscontinuityDetector.standingTolerance else {
            return nil
        }
        frameDuration = min(duration, longest)
        return frameDuration
    }

    /// Whether leading pictures may follow: this part is the first frame of a period, presented later than decoded.
    var mayFollowLeadingFrames: Bool { signal != nil && units.count == 1 && units[0].pts != units[0].dts }

    /// Records that a leading picture of the period's first frame was dropped. The first frame then decodes in its
    /// place, so that decode times have no gap where presentation times have none.
    mutating func dropLeading(_ unit: TimedVideo) {
        clockStart = min(clockStart, unit.pts)
        let step = unit.dts - units[0].dts
        guard units.count == 1, step > .zero, step <= VideoTimestampUnwrapper.longestFrame else { return }
        units[0].dts = unit.dts
    }

    /// Splits off the frames presented at or after `time`, from the first random access point there on, as another
    /// period.
    ///
    /// All frames of a part that continues a period may be split off. A part that begins a period keeps its first
    /// frame, so that splitting ends.
    /// - Returns: the period, and the number of its leading pictures, which are dropped; nil if no random access point
    ///   follows.
    mutating func split(at time: Ticks) -> (part: PeriodPart, leadingPictures: Int)? {
        let candidates = units.indices.dropFirst(signal == nil ? 0 : 1)
        guard let cut = candidates.first(where: { units[$0].randomAccess != nil && units[$0].pts >= time }) else {
            return nil
        }
        var rest = self
        var first = units[cut]
        first.beginsPeriod = first.packet.randomAccess != .instantaneousRefresh
        rest.units = [first] + units[(cut + 1)...].filter { $0.pts >= first.pts }
        rest.signal = .audioConfiguration
        if let date = programDateTime {
            rest.programDateTime = date + (first.pts - units[0].pts).count * 1000 / Ticks.perSecond
        }
        if cut > 0 {
            rest.opensSegment = false
            rest.metadata = []
        }
        let leading = units.count - cut - rest.units.count
        units.removeSubrange(cut...)
        return (rest, leading)
    }
}
