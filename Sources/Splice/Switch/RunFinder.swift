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
        var date = segment.programDateTime
        for packet in packets {
            let unit = clock.unfold(packet)
            switch detector.handle(unit, border: border) {
            case .begins(let signal):
                pieces.append(RunPiece(signal: signal, first: unit, clock: clock, segment: segment, date: date))
            case .goesOn where pieces.isEmpty:
                pieces.append(RunPiece(signal: nil, first: unit, clock: clock, segment: segment, date: date))
            case .goesOn:
                pieces[pieces.count - 1].append(unit, lasting: clock.frameDuration)
            case .dropped(.beforeSync): picturesBeforeSync += 1
            case .dropped(.leading): leadingPictures += 1
            }
            if !pieces.isEmpty { date = nil }
            border = .none
        }
        return pieces
    }
}
