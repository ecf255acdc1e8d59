import Media

/// Time that an upstream segment covers by its EXTINF and by its own audio, whatever video frames it has.
///
/// EXTINF is believed while the audio agrees to a second: multiplexers send audio up to that long after its video.
struct SegmentExtent: Equatable, Sendable {
    /// Audio of the segment: presentation time of its first frame, 33 bits, and the time from there to the end of its
    /// last frame.
    fileprivate struct AudioExtent: Equatable, Sendable {
        let start: Ticks
        let duration: Ticks
    }

    private static let longestDuration = Ticks.seconds(3600)
    fileprivate static let longestAudio = Ticks.seconds(60)
    /// Longest time between audio and video of the same time, as they are multiplexed.
    static let tolerance = Ticks.seconds(1)
    /// Longest audio that is received while a video frame is.
    private static let longestWait = Ticks.longestFrame + tolerance

    private let duration: Ticks?
    private let audio: AudioExtent?

    /// - Parameter audio: audio of the segment, in stream order; empty if a companion carries it.
    init(_ segment: SegmentInput, audio: [AudioPacket]) {
        duration = segment.duration.flatMap { $0 <= Self.longestDuration ? $0 : nil }
        self.audio = AudioExtent(audio)
    }

    var isAnnounced: Bool { duration != nil }

    /// Whether the audio proves that no video frame was due at `start`: it is on that clock, and goes on for so long that
    /// the frame is neither a part of the next segment nor multiplexed after its audio.
    /// - Parameter longestLead: longest time from `start` to the first audio frame.
    func hasAudioAlone(from start: Ticks, longestLead: Ticks) -> Bool {
        let end = audio?.end(near: start, longestLead: longestLead)
        return end.map { $0 > start + Self.longestWait } ?? false
    }

    /// Whether there is so much audio that a video frame would have come with it.
    var hasAudioAlone: Bool { audio.map { $0.duration > Self.longestWait } ?? false }

    /// Returns the presentation time at which the segment ends; nil if nothing tells.
    /// - Parameter start: presentation time at which it begins, or of its first frame.
    func end(from start: Ticks, longestLead: Ticks = Self.tolerance) -> Ticks? {
        let announced = duration.map { start + $0 }
        guard let audioEnd = audio?.end(near: start, longestLead: longestLead) else { return announced }
        guard let announced, abs((announced - audioEnd).count) <= Self.tolerance.count else {
            return audioEnd
        }
        return announced
    }
}

extension SegmentExtent.AudioExtent {
    /// - Returns: nil without a time, and if the times are not those of one clock.
    fileprivate init?(_ packets: [AudioPacket]) {
        guard let start = packets.first(where: { $0.pts != nil })?.pts,
            let last = packets.lastIndex(where: { $0.pts != nil }), let lastTime = packets[last].pts
        else { return nil }
        let untimed = packets[last...].reduce(Ticks.zero) { $0 + $1.configuration.frameDuration }
        let duration = Ticks(wire: lastTime, near: start) - start + untimed
        guard duration > .zero, duration <= SegmentExtent.longestAudio else { return nil }
        self.init(start: start, duration: duration)
    }

    fileprivate func end(near start: Ticks, longestLead: Ticks) -> Ticks? {
        let first = Ticks(wire: self.start, near: start)
        return first <= start + longestLead && first + duration > start ? first + duration : nil
    }
}

struct SegmentOrigin: Equatable, Sendable {
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    let lostBefore: Ticks
    let missingBefore: UInt64
    /// Whether the segment has no audio and declares none.
    let hasNoAudio: Bool
    /// Decode time at which the segment ends by its extent, on the clock of its first frame; nil if that is not known.
    private(set) var announcedEnd: Ticks?
    /// Nil for frames left over from segments before this one.
    private let extent: SegmentExtent?
    var isCutMidGOP = false
    /// Whether the next part is the first of this segment and not left over from segments before it.
    private(set) var isAtStart: Bool
    /// Date of the frame recorded last, in milliseconds since 1970; nil if the upstream gave none.
    var date: Int64? { firstDate.map { $0 + elapsed.count * 1000 / Ticks.perSecond } }
    /// Earliest frame dropped before the next part.
    var clockStart: Ticks?
    private let firstDate: Int64?
    /// Time of the segment's beginning on the clock of the frame recorded last, and that frame.
    private var clockZero: Ticks?
    private var last = Ticks.zero
    /// Playing time before the frame recorded last.
    private var playedDuration = Ticks.zero

    /// Largest step on one clock, in either direction. A larger step takes no playing time.
    private static let longestStep = Ticks.seconds(1)

    private var elapsed: Ticks { last - (clockZero ?? last) }

    init(_ segment: SegmentInput, extent: SegmentExtent, isAtStart: Bool, hasNoAudio: Bool = false) {
        self.isAtStart = isAtStart
        self.extent = isAtStart ? extent : nil
        self.hasNoAudio = hasNoAudio
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        lostBefore = segment.lostBefore
        missingBefore = segment.missingBefore
        firstDate = segment.programDateTime
    }

    /// Begins a part: frames dropped before it do not count for the next part.
    mutating func beginPart() {
        isCutMidGOP = false
        isAtStart = false
        clockStart = nil
    }

    /// Advances the date to `unit`. The segment's date is that of its first frame, which may precede the first part.
    /// After a change of clock the date continues by playing time.
    mutating func advance(to unit: TimedVideo, frameDuration: Ticks) {
        if clockZero == nil {
            clockZero = unit.pts
            let lead = unit.isRepeated ? DiscontinuityDetector.longestGap : SegmentExtent.tolerance
            // Audio alone tells nothing of a frame that came: it may be sent ahead of its video.
            let extent = extent.flatMap { unit.isRepeated || $0.isAnnounced ? $0 : nil }
            announcedEnd = extent?.end(from: unit.pts, longestLead: lead).map { $0 - (unit.pts - unit.dts) }
        } else if abs((unit.pts - last).count) > Self.longestStep.count {
            clockZero = unit.pts - playedDuration - frameDuration
        }
        last = unit.pts
        playedDuration = max(playedDuration, elapsed)
    }
}
