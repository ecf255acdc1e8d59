import Media
import Support

/// Video frames of one period from one upstream segment, in decoding order.
struct PeriodPart: Equatable, Sendable {
    var signal: DiscontinuityDetector.Signal?
    private(set) var units: [TimedVideo]
    /// Leading pictures of a period's first frame, until a frame that is presented after it.
    private var leading = LeadingPictures()
    /// Whether the upstream segment has no audio and declares none; later audio belongs to another program.
    let hasNoAudio: Bool
    private(set) var frameDuration: Ticks
    let isCutMidGOP: Bool
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Presentation time of the first frame since the signal, even if that frame was dropped.
    private(set) var clockStart: Ticks
    /// Date of the frame presented first in milliseconds since 1970; nil if the upstream gave none.
    private(set) var programDateTime: Int64?
    let lostBefore: Ticks
    let missingBefore: UInt64
    private(set) var opensSegment: Bool
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
        lostBefore = origin.lostBefore
        missingBefore = origin.missingBefore
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

    var playingDuration: Ticks {
        guard let first = units.first, let last = units.last else { return .zero }
        return last.dts - first.dts + frameDuration
    }

    /// Sets the frame duration of a part with a single frame, once the next frame is known.
    mutating func update(frameDuration: Ticks) { self.frameDuration = frameDuration }

    /// Extends the last frame if each frame of the part stands for longer than a frame rate explains, as slides do: for as
    /// long as each frame before it, or to the end of the segment. After a repeated key frame only the last two frames count.
    /// - Parameter end: decode time at which the segment ends by its extent; nil if that is not known.
    /// - Returns: the duration of the last frame; nil if it does not stand.
    mutating func extendStandingFrame(until end: Ticks?, longest: Ticks) -> Ticks? {
        let isContinued = units.first?.isRepeated ?? false
        let frames = isContinued ? units.suffix(2) : units[...]
        let steps = zip(frames, frames.dropFirst()).filter { !$0.0.isRepeated }.map { $1.dts - $0.dts }
        let shortest = Ticks.longestFrame
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

    /// Whether leading pictures may follow: this part is the first frame of a period.
    var awaitsLeadingPictures: Bool { signal != nil && units.count == 1 }

    /// Whether leading pictures may come with the next segment: the first frame is presented later than decoded.
    var mayFollowLeadingFrames: Bool { awaitsLeadingPictures && units[0].pts != units[0].dts }

    mutating func appendLeading(_ unit: TimedVideo, frameDuration: Ticks) {
        clockStart = min(clockStart, unit.pts)
        leading.append(unit)
        self.frameDuration = frameDuration
    }

    /// Ends the leading pictures: a frame follows that is presented after the first one, or none.
    ///
    /// They are dropped unless frames after them need one; then all of them stay. In the first period of a source they keep
    /// their times.
    /// - Returns: the number of leading pictures that are dropped.
    mutating func endLeadingPictures() -> Int {
        defer { leading = LeadingPictures() }
        guard leading.isNeeded else {
            for unit in leading.units { takePlace(of: unit) }
            return leading.units.count
        }
        let dated = units[0].pts
        if signal != .joined { leading.conceal(after: &units[0]) }
        units += leading.units
        let earlier = dated - (units.presentationStart ?? dated)
        programDateTime = programDateTime.map { $0 - earlier.count * 1000 / Ticks.perSecond }
        return 0
    }

    /// Decodes the first frame in the place of a dropped leading picture, so that decode times have no gap where
    /// presentation times have none.
    private mutating func takePlace(of unit: TimedVideo) {
        let step = unit.dts - units[0].dts
        if step > .zero, step <= Ticks.longestFrame { units[0].dts = unit.dts }
    }

    /// Splits off the frames presented at or after `time`, from the first random access point there on, as another
    /// period.
    ///
    /// All frames of a part that continues a period may be split off. A part that begins a period keeps its first
    /// frame, so that splitting ends.
    /// - Returns: the period, and the number of its leading pictures that are dropped; nil if no random access point
    ///   follows.
    mutating func split(at time: Ticks) -> (part: PeriodPart, leadingPictures: Int)? {
        let candidates = units.indices.dropFirst(signal == nil ? 0 : 1)
        guard let cut = candidates.first(where: { units[$0].randomAccess != nil && units[$0].pts >= time }) else {
            return nil
        }
        StepCounter.add(units.count)
        var rest = self
        var first = units[cut]
        first.beginsPeriod = first.packet.randomAccess != .instantaneousRefresh
        rest.signal = .audioConfiguration
        rest.units = [first]
        if let date = programDateTime {
            rest.programDateTime = date + (first.pts - units[0].pts).count * 1000 / Ticks.perSecond
        }
        for unit in units[(cut + 1)...] where unit.pts < first.pts { rest.leading.append(unit) }
        let dropped = rest.endLeadingPictures()
        rest.units += units[(cut + 1)...].filter { $0.pts >= first.pts }
        if cut > 0 {
            rest.opensSegment = false
            rest.metadata = []
        }
        units.removeSubrange(cut...)
        return (rest, dropped)
    }
}

/// Leading pictures of a period's first frame: decoded after it, presented before it, and predicted from frames that were
/// never sent or belong to another period.
struct LeadingPictures: Equatable, Sendable {
    /// Longest time for which they decode before the period is presented: the composition delay of the channel.
    static let longestDecoding = Ticks.milliseconds(200)

    private(set) var units: [TimedVideo] = []

    mutating func append(_ unit: TimedVideo) { units.append(unit) }

    /// Whether frames after them may not be decodable without them: one is a reference picture.
    ///
    /// Without it the decoder's buffer of reference pictures differs, whether the frames after it refer to that picture or
    /// not (ISO/IEC 14496-10 §8.2.5.2). A picture that is no reference changes nothing.
    var isNeeded: Bool { units.contains(where: \.packet.isReference) }

    /// Presents each picture for a tick, where the earliest was to be presented, and `first` from then on.
    ///
    /// A decoder that begins with `first` knows that it cannot show the others. A decoder that goes on from another period
    /// does not, and would show its errors.
    mutating func conceal(after first: inout TimedVideo) {
        guard let start = units.map(\.pts).min(), let last = units.last else { return }
        let length = last.dts - first.dts
        for (rank, index) in units.indices.sorted(by: { units[$0].pts < units[$1].pts }).enumerated() {
            units[index].pts = start + Ticks(Int64(rank))
            guard length > Self.longestDecoding else { continue }
            // Decoded in the time that is left before the period is presented.
            let delay = (units[index].dts - first.dts).count * Self.longestDecoding.count / length.count
            units[index].dts = first.dts + Ticks(delay)
        }
        first.pts = start + Ticks(Int64(units.count))
    }
}
