import Demux
package import Media
import Mux
package import Transcode

extension SpliceEngine {
    /// How one channel is spliced.
    package struct Configuration: Sendable {
        /// The sound is in a rendition of its own: what the main rendition carries is ignored.
        package var hasAudioRendition: Bool
        /// What becomes of the sound.
        package var audio: AudioPolicy
        /// Silence stands where the source has no sound.
        package var fillsAudioGaps: Bool
        /// No segment is longer if a sync sample permits it.
        package var maxSegmentDuration: Ticks
        /// Where an earlier process of this channel stopped.
        package var position: TimelinePosition
        /// Wall time of the first picture, milliseconds since 1970, for an upstream without PROGRAM-DATE-TIME.
        package var wallClock: Int64
        /// Where the dates of what an earlier process published end, milliseconds since 1970: none goes back before it.
        package var datedUntil: Int64?
        /// What an earlier process published: what comes of it again is left out.
        package var published: PublishedMedia?

        package init(
            hasAudioRendition: Bool, audio: AudioPolicy = .copy, fillsSilence: Bool = true, longestSegment: Ticks,
            position: TimelinePosition = .beginning, wallClock: Int64, datedUntil: Int64? = nil,
            published: PublishedMedia? = nil
        ) {
            self.audio = audio
            self.fillsAudioGaps = fillsSilence
            self.datedUntil = datedUntil
            self.published = published
            self.hasAudioRendition = hasAudioRendition
            self.maxSegmentDuration = longestSegment
            self.position = position
            self.wallClock = wallClock
        }
    }
}
