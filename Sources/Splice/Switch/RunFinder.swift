/// Takes the pictures of upstream segments apart into runs.
struct RunFinder: Equatable, Sendable {
    private var clock = VideoClock()
    private var detector = ProgramSwitchDetector()
    /// Pictures between a signal and the first IDR after it.
    private(set) var picturesBeforeSync = 0
    /// Leading pictures of an open GOP at the start of a run.
    private(set) var leadingPictures = 0

    /// Pictures that carried no time of their own.
    var timesFilled: Int { clock.filled }

    /// - Returns: the pieces of `packets`, each of one run, in order; none is empty.
    mutating func pieces(
        of packets: [VideoPacket], from segment: SegmentInput, border: ProgramSwitchDetector.Border
    ) -> [RunPiece] {
        var pieces: [RunPiece] = []
        var border = border
        var origin = SegmentOrigin(segment, isAtStart: border != .none)
        for packet in packets {
            let unit = clock.unfold(packet)
            origin.note(unit)
            switch detector.handle(unit, border: border) {
            case .begins(let signal):
                pieces.append(RunPiece(signal: signal, first: unit, lasting: clock.frameDuration, from: origin))
            case .goesOn where pieces.isEmpty:
                pieces.append(RunPiece(signal: nil, first: unit, lasting: clock.frameDuration, from: origin))
            case .goesOn:
                pieces[pieces.count - 1].append(unit, lasting: clock.frameDuration)
            case .dropped(.beforeSync):
                origin.isCutMidGroup = pieces.isEmpty
                picturesBeforeSync += 1
            case .dropped(.leading): leadingPictures += 1
            }
            if !pieces.isEmpty { origin.end() }
            border = .none
        }
        return pieces
    }
}

/// What an upstream segment says of the first piece in it.
struct SegmentOrigin: Equatable, Sendable {
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// It did not begin with a sync sample.
    var isCutMidGroup = false
    /// The next piece is the first one of the segment, not what those before it had left.
    private(set) var isAtStart: Bool
    /// Milliseconds since 1970 of the picture noted last; nil where the upstream did not say so.
    private(set) var date: Int64?
    private let firstDate: Int64?
    private var first: Ticks?

    init(_ segment: SegmentInput, isAtStart: Bool) {
        self.isAtStart = isAtStart
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        firstDate = segment.programDateTime
    }

    /// The date is that of the segment's first picture, which may come before its first piece.
    mutating func note(_ unit: TimedVideo) {
        let start = first ?? unit.pts
        first = start
        date = firstDate.map { $0 + (unit.pts - start).count * 1000 / Ticks.perSecond }
    }

    /// What follows the first piece is of another clock.
    mutating func end() {
        self = SegmentOrigin(mediaSequence: mediaSequence, discontinuitySequence: discontinuitySequence)
    }

    private init(mediaSequence: UInt64, discontinuitySequence: UInt64) {
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        firstDate = nil
        isAtStart = false
    }
}
