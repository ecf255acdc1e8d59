import Splice

/// What viewers get while the upstream is away: a file, looped, on the channel's own timeline.
///
/// Each outage has an engine of its own, which goes on from where the channel stands; within one outage the pieces follow
/// each other as segments of a channel do, and each round begins a run. So does a file that changed on disk: its tables are
/// read anew and it is shown from its beginning, by an engine of its own.
struct Slate: Sendable {
    private struct Showing: Sendable {
        var engine: SpliceEngine
        /// Pieces that it was handed.
        var pieces = 0
        /// Written, and not given yet: a segment may be held until it is known how the next begins.
        var written: ArraySlice<SplicedSegment> = []
        /// Where the timeline stands after what was given.
        var reached: TimelinePosition
    }

    private(set) var source: SlateSource
    private var pieces: [SlatePiece]
    private let longestSegment: Ticks
    private let sound: SoundConfiguration
    private var showing: Showing?
    /// Segments given, over all outages.
    private(set) var segments = 0
    /// It was read anew, and nobody was told.
    private var isRenewed = false

    /// - Parameter longestSegment: of the channel; no segment is longer.
    init(_ source: SlateSource, longestSegment: Ticks, sound: SoundConfiguration) throws(RelayError) {
        self.source = source
        self.longestSegment = longestSegment
        self.sound = sound
        pieces = try source.pieces(longest: longestSegment)
    }

    /// What was left out and put in since the outage began, or the file changed; nil before.
    var counts: SpliceCounts? { showing?.engine.counts }

    /// The next segment. It says nothing of upstream segments, whose place it takes.
    /// - Parameters:
    ///   - position: where the channel's timeline stands. One that is not where this ended the last time is another
    ///     outage: the slate begins anew.
    ///   - date: milliseconds since 1970 at `position`; matters where the slate begins.
    /// - Throws: when the file cannot be read any more, or changed and is no slate; the next call goes on behind the piece
    ///   that was not to be had, or with what is there by then.
    mutating func next(at position: TimelinePosition, date: Int64) throws(RelayError) -> SplicedSegment {
        try renew()
        var showing = self.showing.flatMap { $0.reached == position ? $0 : nil } ?? begin(at: position, date: date)
        // A second owner would make the engine copy what it holds.
        self.showing = nil
        defer { self.showing = showing }
        // Out of one round comes something, or nothing ever will.
        for _ in 0...pieces.count where showing.written.isEmpty { try feed(&showing) }
        guard var segment = showing.written.popFirst() else {
            throw RelayError(
                slate: source.path, .media(SpliceError(.noPicture, section: "ISO/IEC 14496-12 §8.6.2")))
        }
        (segment.spans, segment.placements, segment.splices) = ([], [], [])
        showing.reached = segment.position
        segments += 1
        return segment
    }

    /// What was read of the file as it was and is not given yet is given up: it is not what was meant to be seen.
    private mutating func renew() throws(RelayError) {
        guard let renewed = try source.renewed() else { return }
        pieces = try renewed.pieces(longest: longestSegment)
        (source, showing) = (renewed, nil)
        isRenewed = true
    }

    /// What is to be said of the sound where the file was read anew; nil when it was not since this was asked last.
    mutating func newsOfRenewal() -> SlateMovie.Sound? {
        defer { isRenewed = false }
        return isRenewed ? source.movie.sound : nil
    }

    private func begin(at position: TimelinePosition, date: Int64) -> Showing {
        let configuration = SpliceEngine.Configuration(
            hasAudioRendition: false, audio: sound.policy, fillsSilence: sound.fillsSilence,
            longestSegment: longestSegment, position: position, wallClock: date, datedUntil: date)
        return Showing(engine: SpliceEngine(configuration), reached: position)
    }

    private func feed(_ showing: inout Showing) throws(RelayError) {
        let (round, place) = showing.pieces.quotientAndRemainder(dividingBy: pieces.count)
        showing.pieces += 1
        do throws(RelayError) {
            let segment = try source.segment(
                pieces[place], number: UInt64(showing.pieces - 1), round: UInt64(round), isFirstOfRound: place == 0)
            showing.written += try handle(.segment(segment), showing: &showing)
        } catch {
            showing.written += try handle(.lost(.main), showing: &showing)
            throw error
        }
    }

    private func handle(_ input: SpliceInput, showing: inout Showing) throws(RelayError) -> [SplicedSegment] {
        do { return try showing.engine.handle(input) } catch {
            throw RelayError(slate: source.path, .media(error))
        }
    }
}
