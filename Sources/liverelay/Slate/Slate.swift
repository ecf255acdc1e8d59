import Media
import Splice

/// What viewers get while the upstream is away: a file, looped, on the channel's own timeline.
///
/// Each outage has an engine of its own, which goes on from where the channel stands; within one outage the pieces follow
/// each other as segments of a channel do, and each round begins a run. So does a file that changed on disk: its tables are
/// read anew and it is shown from its beginning, by an engine of its own.
struct Slate: Sendable {
    private struct Playback: Sendable {
        var engine: SpliceEngine
        /// Pieces that it was handed.
        var chunkCount = 0
        /// Written, and not given yet: a segment may be held until it is known how the next begins.
        var queued: ArraySlice<SplicedSegment> = []
        /// Where the timeline stands after what was given.
        var position: TimelinePosition
    }

    private(set) var source: SlateSource
    private var chunks: [SlateSegment]
    private let longestSegment: Ticks
    private let audio: AudioSettings
    private var playback: Playback?
    /// Segments given, over all outages.
    private(set) var segments = 0
    /// It was read anew, and nobody was told.
    private var hasUnreportedReload = false

    /// - Parameter longestSegment: of the channel; no segment is longer.
    init(_ source: SlateSource, longestSegment: Ticks, sound: AudioSettings) throws(RelayError) {
        self.source = source
        self.longestSegment = longestSegment
        self.audio = sound
        chunks = try source.chunks(longest: longestSegment)
    }

    /// What was left out and put in since the outage began, or the file changed; nil before.
    var counts: SpliceCounts? { playback?.engine.counts }

    /// The next segment. It says nothing of upstream segments, whose place it takes.
    /// - Parameters:
    ///   - position: where the channel's timeline stands. One that is not where this ended the last time is another
    ///     outage: the slate begins anew.
    ///   - date: milliseconds since 1970 at `position`; matters where the slate begins.
    /// - Throws: when the file cannot be read any more, or changed and is no slate; the next call goes on behind the piece
    ///   that was not to be had, or with what is there by then.
    mutating func next(at position: TimelinePosition, date: Int64) throws(RelayError) -> SplicedSegment {
        try reloadIfChanged()
        var showing = self.playback.flatMap { $0.position == position ? $0 : nil } ?? begin(at: position, date: date)
        // A second owner would make the engine copy what it holds.
        self.playback = nil
        defer { self.playback = showing }
        // Out of one round comes something, or nothing ever will.
        for _ in 0...chunks.count where showing.queued.isEmpty { try spliceNextChunk(&showing) }
        guard var segment = showing.queued.popFirst() else {
            throw RelayError(
                slate: source.path, .media(MediaError(.noVideo, section: "ISO/IEC 14496-12 §8.6.2")))
        }
        (segment.spans, segment.placements, segment.spliceCommands) = ([], [], [])
        showing.position = segment.position
        segments += 1
        return segment
    }

    /// What was read of the file as it was and is not given yet is given up: it is not what was meant to be seen.
    private mutating func reloadIfChanged() throws(RelayError) {
        guard let renewed = try source.reloaded() else { return }
        chunks = try renewed.chunks(longest: longestSegment)
        (source, playback) = (renewed, nil)
        hasUnreportedReload = true
    }

    /// What is to be said of the sound where the file was read anew; nil when it was not since this was asked last.
    mutating func dequeueReload() -> SlateMovie.AudioTrackUse? {
        defer { hasUnreportedReload = false }
        return hasUnreportedReload ? source.movie.audioTrackUse : nil
    }

    private func begin(at position: TimelinePosition, date: Int64) -> Playback {
        let configuration = SpliceEngine.Configuration(
            hasAudioRendition: false, audio: audio.policy, fillsSilence: audio.fillsSilence,
            longestSegment: longestSegment, position: position, wallClock: date, datedUntil: date)
        return Playback(engine: SpliceEngine(configuration), position: position)
    }

    private func spliceNextChunk(_ showing: inout Playback) throws(RelayError) {
        let (round, place) = showing.chunkCount.quotientAndRemainder(dividingBy: chunks.count)
        showing.chunkCount += 1
        do throws(RelayError) {
            let segment = try source.segment(
                chunks[place], number: UInt64(showing.chunkCount - 1), round: UInt64(round), isFirstOfRound: place == 0)
            showing.queued += try handle(.segment(segment), showing: &showing)
        } catch {
            showing.queued += try handle(.lost(.main), showing: &showing)
            throw error
        }
    }

    private func handle(_ input: SpliceInput, showing: inout Playback) throws(RelayError) -> [SplicedSegment] {
        do { return try showing.engine.handle(input) } catch {
            throw RelayError(slate: source.path, .media(error))
        }
    }
}
