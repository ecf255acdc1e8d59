/// Takes the pictures of upstream segments apart into runs.
struct RunFinder: Equatable, Sendable {
    private var clock = VideoClock()
    private var detector: ProgramSwitchDetector
    /// Pictures between a signal and the first random access after it.
    private(set) var picturesBeforeSync = 0
    /// Leading pictures of an open GOP at the start of a run.
    private(set) var leadingPictures = 0

    /// A run's first picture with which its upstream segment ended: pictures that lead it may follow, and then it is
    /// decoded in their place.
    private var held: RunPiece?

    /// A picture waits for the next segment.
    var isHolding: Bool { held != nil }

    /// What was dropped since the signal, in this segment and in those before.
    private var unshown: Unshown?

    private struct Unshown: Equatable, Sendable {
        /// Presentation time of the earliest on the clock of the last.
        var start: Ticks
        var last: Ticks
    }

    /// - Parameter longestGap: as the detector's.
    init(longestGap: Ticks = ProgramSwitchDetector.longestGap) {
        detector = ProgramSwitchDetector(longestGap: longestGap)
    }

    /// Pictures that carried no time of their own.
    var timesFilled: Int { clock.filled }

    /// Where the upstream's own clock lacks time.
    var holes: TimelineHoles { detector.holes }

    /// - Returns: the pieces of `packets` and of what was held, each of one run, in order; none is empty.
    mutating func pieces(
        of packets: [VideoPacket], from segment: SegmentInput, border: ProgramSwitchDetector.Border
    ) -> [RunPiece] {
        var pieces = takeHeld()
        let earlier = pieces.count
        var border = border
        var origin = SegmentOrigin(segment, isAtStart: border != .none)
        origin.clockStart = unshown?.start
        for packet in packets {
            var unit = clock.unfold(packet)
            origin.note(unit, lasting: clock.frameDuration)
            switch detector.handle(unit, border: border) {
            case .begins(let signal):
                unit.beginsRun = true
                pieces.append(RunPiece(signal: signal, first: unit, lasting: clock.frameDuration, from: origin))
                origin.endBeginning()
                unshown = nil
            case .goesOn where pieces.count == earlier:
                if earlier > 0 { pieces[0].learn(lasting: clock.frameDuration) }
                pieces.append(RunPiece(signal: nil, first: unit, lasting: clock.frameDuration, from: origin))
                origin.endBeginning()
            case .goesOn:
                pieces[pieces.count - 1].append(unit, lasting: clock.frameDuration)
            case .dropped(.beforeSync):
                origin.clockStart = startOfUnshown(with: unit, border: border)
                origin.isCutMidGroup = pieces.count == earlier
                picturesBeforeSync += 1
            case .dropped(.leading):
                leadingPictures += 1
                if !pieces.isEmpty { pieces[pieces.count - 1].leaveOut(leading: unit) }
            }
            border = .none
        }
        if let last = pieces.last, last.mayBeLed { held = pieces.removeLast() }
        return pieces
    }

    /// A signal may come while the first picture of another run is still awaited.
    private mutating func startOfUnshown(with unit: TimedVideo, border: ProgramSwitchDetector.Border) -> Ticks {
        let isOther = border == .tagged || border == .seam
        if let unshown, !isOther, abs((unit.pts - unshown.last).count) <= ProgramSwitchDetector.longestTurn.count {
            self.unshown = Unshown(start: min(unshown.start, unit.pts), last: unit.pts)
        } else {
            unshown = Unshown(start: unit.pts, last: unit.pts)
        }
        return unshown?.start ?? unit.pts
    }

    /// Nothing follows what was held.
    mutating func finish() -> [RunPiece] {
        detector.finish()
        return takeHeld()
    }

    private mutating func takeHeld() -> [RunPiece] {
        defer { held = nil }
        return held.map { [$0] } ?? []
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
    private var zero: Ticks?
    private var last = Ticks.zero
    /// Playing time in front of what was shown last.
    private var farthest = Ticks.zero

    /// A step by more, either way, is another clock: it takes no time.
    private static let longestStep = Ticks.seconds(1)

    private var elapsed: Ticks { last - (zero ?? last) }

    init(_ segment: SegmentInput, isAtStart: Bool) {
        self.isAtStart = isAtStart
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        firstDate = segment.programDateTime
    }

    /// A piece has begun: what was dropped in front of it is not dropped in front of the next.
    mutating func endBeginning() {
        isCutMidGroup = false
        isAtStart = false
        clockStart = nil
    }

    /// The date is that of the segment's first picture, which may come before its first piece; behind a change of clock
    /// it is counted on by what was played.
    mutating func note(_ unit: TimedVideo, lasting frameDuration: Ticks) {
        if zero == nil {
            zero = unit.pts
        } else if abs((unit.pts - last).count) > Self.longestStep.count {
            zero = unit.pts - farthest - frameDuration
        }
        last = unit.pts
        farthest = max(farthest, elapsed)
    }
}
