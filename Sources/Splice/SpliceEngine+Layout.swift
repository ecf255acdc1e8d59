import Demux
import Media

extension SpliceEngine {
    /// Carrier of a channel's audio.
    enum Layout: Sendable {
        /// A companion was announced, and no main segment has decided yet whether it is needed.
        case undecided(companion: RenditionDemuxer)
        /// The main rendition carries all media.
        case muxed
        /// The main rendition carries video, and the companion its audio.
        case demuxed(companion: RenditionDemuxer)

        /// The companion audio rendition; nil if the main rendition carries the audio.
        var companion: RenditionDemuxer? {
            switch self {
            case .undecided(let companion), .demuxed(let companion): companion
            case .muxed: nil
            }
        }

        /// Calls `update` with the companion in place.
        /// - Returns: nil if there is no companion.
        /// - Throws: the error of `update`; the companion is kept as `update` left it.
        @discardableResult mutating func updateCompanion<Result, Failure: Error>(
            _ update: (inout RenditionDemuxer) throws(Failure) -> Result
        ) throws(Failure) -> Result? {
            // The companion is moved out while it is updated: a second owner would make it copy its buffers.
            switch self {
            case .undecided(var companion):
                self = .muxed
                defer { self = .undecided(companion: companion) }
                return try update(&companion)
            case .demuxed(var companion):
                self = .muxed
                defer { self = .demuxed(companion: companion) }
                return try update(&companion)
            case .muxed: return nil
            }
        }
    }
}
