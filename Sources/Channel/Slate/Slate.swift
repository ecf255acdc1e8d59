import Demux
package import Fetch
package import Media
package import Splice
import Support

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

/// One version of a slate file: opened, with its sample tables read and its first chunk validated.
///
/// After the file changes, `reloaded()` reads the new version.
package struct SlateSource: Sendable {
    /// Longest duration of the chunk that is validated. Published chunks are cut by the channel's own limit.
    private static let longestValidatedChunk = Ticks.seconds(6)

    private let file: LocalFile
    package let movie: SlateMovie

    package var path: String { file.path }

    /// - Throws: `SlateError` if the file cannot be read or published.
    package init(_ path: String) throws(SlateError) {
        do throws(LocalFileError) { file = try LocalFile(path) } catch {
            throw SlateError(.file(error.reason), path: path)
        }
        movie = try Self.movie(of: file)
        try validate()
    }

    /// Reads the file again if it has changed.
    /// - Returns: the new version; nil if the file is unchanged.
    /// - Throws: `SlateError` if the new version is incomplete or cannot be published.
    func reloaded() throws(SlateError) -> SlateSource? { file.hasChanged ? try SlateSource(path) : nil }

    private static func movie(of file: LocalFile) throws(SlateError) -> SlateMovie {
        var locator = MoovLocator(byteCount: file.byteCount)
        while let range = locator.neededRange {
            let bytes = try file.bytes(in: [range])
            do { try locator.append(bytes) } catch { throw SlateError(.media(error), path: file.path) }
        }
        do {
            return try SlateMovie(moov: locator.moov, fileSize: file.byteCount)
        } catch { throw SlateError(.media(error), path: file.path) }
    }

    /// Splices the first chunk: sample tables alone do not show whether there is video that can be described.
    private func validate() throws(SlateError) {
        let chunk = try chunks(longest: Self.longestValidatedChunk)[0]
        let segment = try segment(chunk, number: 0, iteration: 0, isFirstOfIteration: false)
        var engine = SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: false, longestSegment: Self.longestValidatedChunk, wallClock: 0)
        )
        let segments = try splice(.segment(segment), in: &engine) + splice(.ended(.main), in: &engine)
        guard segments.isEmpty else { return }
        throw engine.refusal.map { SlateError(.media($0), path: path) } ?? noVideo
    }

    /// The error of a slate of which nothing can be published.
    var noVideo: SlateError {
        SlateError(.media(MediaError(.noVideo, section: "ISO/IEC 14496-12 §8.6.2")), path: path)
    }

    func splice(_ input: SpliceInput, in engine: inout SpliceEngine) throws(SlateError) -> [SplicedSegment] {
        do { return try engine.handle(input) } catch { throw SlateError(.media(error), path: path) }
    }

    /// Cuts the movie at sync samples.
    /// - Parameter longest: the longest duration of a chunk, where the distance of sync samples permits it.
    /// - Returns: at least one chunk.
    func chunks(longest: Ticks) throws(SlateError) -> [SlateSegment] {
        do { return try movie.segments(longest: longest) } catch { throw SlateError(.media(error), path: path) }
    }

    /// Reads one chunk as input of a splice engine.
    /// - Parameters:
    ///   - number: how many chunks the engine got before this one.
    ///   - iteration: how many times the engine got the whole movie before.
    func segment(
        _ chunk: SlateSegment, number: UInt64, iteration: UInt64, isFirstOfIteration: Bool
    ) throws(SlateError) -> SegmentInput {
        SegmentInput(
            rendition: .main, mediaSequence: number, discontinuitySequence: iteration,
            isDiscontinuous: isFirstOfIteration && iteration > 0, initialization: movie.initialization,
            bytes: try file.bytes(in: chunk.ranges), ranges: chunk.ranges)
    }
}

extension LocalFile {
    fileprivate func bytes(in ranges: [Range<UInt64>]) throws(SlateError) -> [UInt8] {
        do throws(LocalFileError) { return try read(ranges) } catch {
            throw SlateError(.file(error.reason), path: path)
        }
    }
}

/// The reason why a file cannot be published as a slate.
package struct SlateError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case file(LocalFileError.Reason)
        case media(MediaError)
    }

    package let reason: Reason
    package let path: String

    package init(_ reason: Reason, path: String) {
        self.reason = reason
        self.path = path
    }
}
