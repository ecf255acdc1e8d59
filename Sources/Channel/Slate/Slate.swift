import Demux
import Export
import Media
import Splice
import Support
import Transcode

/// Segments made from a file that is published in a loop while no upstream delivers anything.
///
/// Each outage has a splice engine of its own, which starts at the channel's timeline position. Within an outage the
/// chunks of the file become consecutive segments, and each iteration of the file begins a period. If the file changes
/// on disk, its sample tables are read again and a new engine begins at the start of the new version.
struct Slate: Sendable {
    /// The state of one outage.
    private struct Playback: Sendable {
        @Boxed var engine: SpliceEngine
        /// Chunks passed to the engine.
        var chunkCount = 0
        /// Segments that were emitted and not returned yet. The engine may hold a segment until the next one begins.
        var queued: ArraySlice<SplicedSegment> = []
        /// The timeline position after the segment returned last.
        var position: TimelinePosition
    }

    private(set) var source: SlateSource
    private var chunks: [SlateSegment]
    private let longestSegment: Ticks
    private let audio: AudioSettings
    private var playback: Playback?
    /// Whether the file was reloaded since `dequeueReload` was called last.
    private var hasUnreportedReload = false

    /// - Parameter longestSegment: the longest segment of the channel, which no slate segment exceeds.
    init(_ source: SlateSource, longestSegment: Ticks, audio: AudioSettings) throws(SlateError) {
        self.source = source
        self.longestSegment = longestSegment
        self.audio = audio
        chunks = try source.chunks(longest: longestSegment)
    }

    /// The counts since the outage began or the file changed; nil before the first segment.
    var counts: SpliceCounts? { playback?.engine.counts }

    /// Returns the next segment, without references to upstream segments.
    /// - Parameters:
    ///   - position: the channel's timeline position. If it differs from the end of the segment returned last, another
    ///     outage has begun, and the slate starts from its beginning.
    ///   - date: milliseconds since 1970 at `position`; used only where the slate starts.
    ///   - isAAC: whether the channel's audio is AAC; nil if it is not known.
    /// - Throws: `SlateError` if the file cannot be read any more, or changed into a file that is no slate. The next call
    ///   continues after the unreadable chunk, or with the file as it is by then.
    mutating func next(
        at position: TimelinePosition, date: Int64, isAAC: Bool? = nil
    ) throws(SlateError) -> SplicedSegment {
        try reloadIfChanged()
        let known = playback.flatMap { $0.position == position ? $0 : nil }
        var current = known ?? begin(at: position, date: date, isAAC: isAAC)
        // A second owner would make the engine copy its buffers.
        playback = nil
        defer { playback = current }
        // If one whole iteration emits no segment, no later one will.
        for _ in 0...chunks.count where current.queued.isEmpty { try spliceNextChunk(of: &current) }
        guard var segment = current.queued.popFirst() else { throw source.noVideo }
        (segment.spans, segment.placements, segment.spliceCommands) = ([], [], [])
        current.position = segment.position
        return segment
    }

    /// Reloads a changed file and drops the segments that were made of the old version.
    private mutating func reloadIfChanged() throws(SlateError) {
        guard let reloaded = try source.reloaded() else { return }
        chunks = try reloaded.chunks(longest: longestSegment)
        (source, playback) = (reloaded, nil)
        hasUnreportedReload = true
    }

    /// Returns how the audio of a reloaded file is used; nil if the file was not reloaded since the last call.
    mutating func dequeueReload() -> SlateMovie.AudioTrackUse? {
        defer { hasUnreportedReload = false }
        return hasUnreportedReload ? source.movie.audioTrackUse : nil
    }

    private func begin(at position: TimelinePosition, date: Int64, isAAC: Bool?) -> Playback {
        let configuration = SpliceConfiguration(
            hasAudioRendition: false, audio: audio.policy, fillsSilence: audio.fillsSilence,
            longestSegment: longestSegment, position: position, wallClock: date, datedUntil: date)
        var engine = SpliceEngine(configuration)
        if let isAAC { engine.setChannelAAC(isAAC) }
        return Playback(engine: engine, position: position)
    }

    private func spliceNextChunk(of playback: inout Playback) throws(SlateError) {
        let (iteration, index) = playback.chunkCount.quotientAndRemainder(dividingBy: chunks.count)
        playback.chunkCount += 1
        do throws(SlateError) {
            let segment = try source.segment(
                chunks[index], number: UInt64(playback.chunkCount - 1), iteration: UInt64(iteration),
                isFirstOfIteration: index == 0)
            playback.queued += try source.splice(.segment(segment), in: &playback.engine)
        } catch {
            playback.queued += try source.splice(.lost(.main), in: &playback.engine)
            throw error
        }
    }
}
