import Demux
import Media
import Mux
import Transcode

/// Takes the pictures of upstream segments apart into runs.
struct PeriodSplitter: Equatable, Sendable {
    private var clock = VideoTimestampUnwrapper()
    private var detector: DiscontinuityDetector
    /// Pictures between a signal and the first random access after it.
    private(set) var framesBeforeSync = 0
    /// Leading pictures of an open GOP at the start of a run.
    private(set) var leadingPictures = 0

    /// A run's first picture with which its upstream segment ended: pictures that lead it may follow, and then it is
    /// decoded in their place.
    private var heldPart: PeriodPart?

    /// A picture waits for the next segment.
    var isHolding: Bool { heldPart != nil }

    /// What was dropped since the signal, in this segment and in those before.
    private var droppedFrames: DroppedFrames?

    private struct DroppedFrames: Equatable, Sendable {
        /// Presentation time of the earliest on the clock of the last.
        var start: Ticks
        var last: Ticks
    }

    /// - Parameter longestGap: as the detector's.
    init(longestGap: Ticks = DiscontinuityDetector.longestGap) {
        detector = DiscontinuityDetector(longestGap: longestGap)
    }

    /// Pictures that carried no time of their own.
    var timestampsFilled: Int { clock.timestampsFilled }

    /// Where the upstream's own clock lacks time.
    var gaps: TimestampGaps { detector.timestampGaps }

    /// - Returns: the pieces of `packets` and of what was held, each of one run, in order; none is empty.
    mutating func split(
        _ packets: [VideoPacket], from segment: SegmentInput, boundary: DiscontinuityDetector.Boundary
    ) -> [PeriodPart] {
        var pieces = dequeueHeldPart()
        let earlier = pieces.count
        var border = boundary
        var origin = SegmentOrigin(segment, isAtStart: border != .none)
        origin.clockStart = droppedFrames?.start
        for packet in packets {
            var unit = clock.unwrap(packet)
            origin.advance(to: unit, frameDuration: clock.frameDuration)
            switch detector.handle(unit, border: border) {
            case .beginsPeriod(let signal):
                unit.beginsRun = true
                pieces.append(PeriodPart(signal: signal, first: unit, frameDuration: clock.frameDuration, from: origin))
                origin.beginPart()
                droppedFrames = nil
            case .continues where pieces.count == earlier:
                if earlier > 0 { pieces[0].update(frameDuration: clock.frameDuration) }
                pieces.append(PeriodPart(signal: nil, first: unit, frameDuration: clock.frameDuration, from: origin))
                origin.beginPart()
            case .continues:
                pieces[pieces.count - 1].append(unit, frameDuration: clock.frameDuration)
            case .dropped(.beforeSync):
                origin.clockStart = startOfDropped(with: unit, boundary: border)
                origin.isCutMidGroup = pieces.count == earlier
                framesBeforeSync += 1
            case .dropped(.leading):
                leadingPictures += 1
                if !pieces.isEmpty { pieces[pieces.count - 1].dropLeading(unit) }
            }
            border = .none
        }
        if let last = pieces.last, last.mayFollowLeadingFrames { heldPart = pieces.removeLast() }
        return pieces
    }

    /// A signal may come while the first picture of another run is still awaited.
    private mutating func startOfDropped(with unit: TimedVideo, boundary: DiscontinuityDetector.Boundary) -> Ticks {
        let isOther = boundary == .tagged || boundary == .loss
        if let droppedFrames, !isOther,
            abs((unit.pts - droppedFrames.last).count) <= DiscontinuityDetector.longestCompositionChange.count
        {
            self.droppedFrames = DroppedFrames(start: min(droppedFrames.start, unit.pts), last: unit.pts)
        } else {
            droppedFrames = DroppedFrames(start: unit.pts, last: unit.pts)
        }
        return droppedFrames?.start ?? unit.pts
    }

    /// Nothing follows what was held.
    mutating func finish() -> [PeriodPart] {
        detector.finish()
        return dequeueHeldPart()
    }

    private mutating func dequeueHeldPart() -> [PeriodPart] {
        defer { heldPart = nil }
        return heldPart.map { [$0] } ?? []
    }
}

/// What an upstream segment says of the pieces in it.
struct SegmentOrigin: Equatable, Sendable {
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// It did not begin with a sync sample.
    var isCutMidGroup = false
    /// The next piece is the first one of the segment, not what those before it had left.
    private(set) var isAtStart: Bool
    /// Milliseconds since 1970 of the picture noted last; nil where the upstream did not say so.
    var date: Int64? { firstDate.map { $0 + elapsed.count * 1000 / Ticks.perSecond } }
    /// The earliest picture dropped in front of the piece to come.
    var clockStart: Ticks?
    private let firstDate: Int64?
    /// Where the clock of the picture noted last has the segment's beginning, and that picture.
    private var clockZero: Ticks?
    private var last = Ticks.zero
    /// Playing time in front of what was shown last.
    private var playedDuration = Ticks.zero

    /// A step by more, either way, is another clock: it takes no time.
    private static let longestStep = Ticks.seconds(1)

    private var elapsed: Ticks { last - (clockZero ?? last) }

    init(_ segment: SegmentInput, isAtStart: Bool) {
        self.isAtStart = isAtStart
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        firstDate = segment.programDateTime
    }

    /// A piece has begun: what was dropped in front of it is not dropped in front of the next.
    mutating func beginPart() {
        isCutMidGroup = false
        isAtStart = false
        clockStart = nil
    }

    /// The date is that of the segment's first picture, which may come before its first piece; behind a change of clock
    /// it is counted on by what was played.
    mutating func advance(to unit: TimedVideo, frameDuration: Ticks) {
        if clockZero == nil {
            clockZero = unit.pts
        } else if abs((unit.pts - last).count) > Self.longestStep.count {
            clockZero = unit.pts - playedDuration - frameDuration
        }
        last = unit.pts
        playedDuration = max(playedDuration, elapsed)
    }
}
