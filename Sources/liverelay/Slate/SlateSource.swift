import Media
import Splice

/// A file that can be shown as a slate: opened, its tables read, its first piece tried out. All of it is of one state of
/// the file; once that is another, `renewed` reads it anew.
struct SlateSource: Sendable {
    /// Of the first piece in the trial; what is shown is cut by the channel's own measure.
    private static let validationChunk = Ticks.seconds(6)

    private let file: SlateFile
    let movie: SlateMovie

    var path: String { file.path }

    /// - Throws: `.badSlate` for a file that cannot be read, or not be shown.
    init(_ path: String) throws(RelayError) {
        file = try SlateFile(path)
        movie = try Self.movie(of: file)
        try validate()
    }

    /// The file as it is now.
    /// - Returns: nil as long as that is the file whose tables were read.
    /// - Throws: `.badSlate` where it is half-written, or no slate.
    func reloaded() throws(RelayError) -> SlateSource? { file.hasChanged ? try SlateSource(path) : nil }

    private static func movie(of file: SlateFile) throws(RelayError) -> SlateMovie {
        var index = MoovLocator(byteCount: file.byteCount)
        while let wanted = index.neededRange {
            let bytes = try file.read([wanted])
            do { try index.append(bytes) } catch { throw RelayError(slate: file.path, .media(error)) }
        }
        do {
            return try SlateMovie(moov: index.moov, fileSize: file.byteCount)
        } catch { throw RelayError(slate: file.path, .media(error)) }
    }

    /// Tables say nothing of what samples hold: that there is a picture, and that it can be described, shows in the splice.
    private func validate() throws(RelayError) {
        let piece = try chunks(longest: Self.validationChunk)[0]
        let segment = try segment(piece, number: 0, round: 0, isFirstOfRound: false)
        var engine = SpliceEngine(
            SpliceEngine.Configuration(hasAudioRendition: false, longestSegment: Self.validationChunk, wallClock: 0))
        do throws(MediaError) {
            let written = try engine.handle(.segment(segment)) + engine.handle(.ended(.main))
            guard written.isEmpty else { return }
            throw engine.refusal ?? MediaError(.noVideo, section: "ISO/IEC 14496-12 §8.6.2")
        } catch { throw RelayError(slate: path, .media(error)) }
    }

    /// - Parameter longest: no piece lasts longer if the file permits it.
    /// - Returns: at least one.
    func chunks(longest: Ticks) throws(RelayError) -> [SlateSegment] {
        do { return try movie.segments(longest: longest) } catch { throw RelayError(slate: path, .media(error)) }
    }

    /// - Parameters: `number`: of pieces shown before it; `round`: of times that all were.
    func segment(
        _ piece: SlateSegment, number: UInt64, round: UInt64, isFirstOfRound: Bool
    ) throws(RelayError) -> SegmentInput {
        let bytes = try file.read(piece.ranges)
        do {
            return SegmentInput(
                rendition: .main, mediaSequence: number, discontinuitySequence: round,
                isDiscontinuous: isFirstOfRound && round > 0, initialization: movie.initialization,
                bytes: try movie.mediaSegment(piece, bytes: bytes))
        } catch { throw RelayError(slate: path, .media(error)) }
    }
}
