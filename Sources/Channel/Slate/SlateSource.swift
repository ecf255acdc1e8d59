import Media
package import Splice

/// One version of a slate file: opened, with its sample tables read and its first chunk validated.
///
/// After the file changes, `reloaded()` reads the new version.
package struct SlateSource: Sendable {
    /// Longest duration of the chunk that is validated. Published chunks are cut by the channel's own limit.
    private static let longestValidatedChunk = Ticks.seconds(6)

    private let file: SlateFile
    package let movie: SlateMovie

    package var path: String { file.path }

    /// - Throws: `SlateError` if the file cannot be read or published.
    package init(_ path: String) throws(SlateError) {
        file = try SlateFile(path)
        movie = try Self.movie(of: file)
        try validate()
    }

    /// Reads the file again if it has changed.
    /// - Returns: the new version; nil if the file is unchanged.
    /// - Throws: `SlateError` if the new version is incomplete or cannot be published.
    func reloaded() throws(SlateError) -> SlateSource? { file.hasChanged ? try SlateSource(path) : nil }

    private static func movie(of file: SlateFile) throws(SlateError) -> SlateMovie {
        var locator = MoovLocator(byteCount: file.byteCount)
        while let range = locator.neededRange {
            let bytes = try file.read([range])
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
        do throws(MediaError) {
            let segments = try engine.handle(.segment(segment)) + engine.handle(.ended(.main))
            guard segments.isEmpty else { return }
            throw engine.refusal ?? MediaError(.noVideo, section: "ISO/IEC 14496-12 §8.6.2")
        } catch { throw SlateError(.media(error), path: path) }
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
        let bytes = try file.read(chunk.ranges)
        do {
            return SegmentInput(
                rendition: .main, mediaSequence: number, discontinuitySequence: iteration,
                isDiscontinuous: isFirstOfIteration && iteration > 0, initialization: movie.initialization,
                bytes: try movie.mediaSegment(chunk, bytes: bytes))
        } catch { throw SlateError(.media(error), path: path) }
    }
}
