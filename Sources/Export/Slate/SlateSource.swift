import Demux
package import Media
package import Splice
package import Support

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
    package func reloaded() throws(SlateError) -> SlateSource? { file.hasChanged ? try SlateSource(path) : nil }

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
    package var noVideo: SlateError {
        SlateError(.media(MediaError(.noVideo, section: "ISO/IEC 14496-12 §8.6.2")), path: path)
    }

    package func splice(_ input: SpliceInput, in engine: inout SpliceEngine) throws(SlateError) -> [SplicedSegment] {
        do { return try engine.handle(input) } catch { throw SlateError(.media(error), path: path) }
    }

    /// Cuts the movie at sync samples.
    /// - Parameter longest: the longest duration of a chunk, where the distance of sync samples permits it.
    /// - Returns: at least one chunk.
    package func chunks(longest: Ticks) throws(SlateError) -> [SlateSegment] {
        do { return try movie.segments(longest: longest) } catch { throw SlateError(.media(error), path: path) }
    }

    /// Reads one chunk as input of a splice engine.
    /// - Parameters:
    ///   - number: how many chunks the engine got before this one.
    ///   - iteration: how many times the engine got the whole movie before.
    package func segment(
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
