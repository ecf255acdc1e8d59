import Media

/// Properties of an upstream segment that its parts inherit.
struct SegmentOrigin: Equatable, Sendable {
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Whether the segment has no audio and declares none.
    let hasNoAudio: Bool
    /// Decode time at which the segment ends by its extent, on the clock of its first frame; nil if that is not known.
    private(set) var announcedEnd: Ticks?
    /// Nil for frames left over from segments before this one.
    private let extent: SegmentExtent?
    /// Whether the segment began without a sync sample.
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
