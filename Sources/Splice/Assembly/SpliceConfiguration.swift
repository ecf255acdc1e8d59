package import Media
package import Transcode

/// Settings of the splice engine of one channel.
package struct SpliceConfiguration: Sendable {
    /// Whether a companion rendition carries the audio; audio of the main rendition is then ignored.
    package var hasAudioRendition: Bool
    /// The audio tracks that the channel has beside the leading one.
    package var audioTracks = AudioTrackChoice.leading
    /// The audio tracks that come in renditions of their own, beside the companion.
    package var audioRenditions: [AudioTrackIdentity] = []
    /// The tracks that the variants beside the leading one fill; nil: a variant fills none.
    package var variants: [VideoTrackIdentity?] = []
    /// Whether those variants come only while somebody asks for them.
    package var hasVariantsOnDemand = false
    /// The variant that leads; nil: the source has no choice of them.
    package var leadingVariant: VideoTrackIdentity?
    /// The identity of the leading audio; nil if only its container says that.
    package var leadingTrack: AudioTrackIdentity?
    package var audio: AudioPolicy
    package var fillsSilence: Bool
    /// Longest output segment, where a sync sample permits it.
    package var longestSegment: Ticks
    /// The longest time by which the leading track is published behind another one, counted in its media.
    package var patience = Ticks.seconds(6)
    /// Whether the upstream is a finished playlist. The newest segment then waits for the next, because its last frame
    /// stays for the audio after it if none follows.
    package var isFinished = false
    /// Whether a segment that would be published without video is refused.
    package var requiresVideo = false
    /// Bytes of earlier segments of which media is held, beyond which it is written as it is; and bytes of the audio that
    /// waits for its video, in each of two places.
    package var heldBytes = 10 << 20
    package var heldAudioBytes = 3 << 20
    /// Bytes of the other variants that wait for the leading one.
    package var heldVariantBytes = 16 << 20
    /// Position at which an earlier process of this channel stopped.
    package var position: TimelinePosition
    /// Wall time of the first frame in milliseconds since 1970, for an upstream without PROGRAM-DATE-TIME.
    package var wallClock: Int64
    /// End of the dates that an earlier process published, in milliseconds since 1970; no date goes back before it.
    package var datedUntil: Int64?
    /// Media that an earlier process published.
    package var published: PublishedMedia?

    package init(
        hasAudioRendition: Bool, audio: AudioPolicy = .copy, fillsSilence: Bool = true, longestSegment: Ticks,
        position: TimelinePosition = .beginning, wallClock: Int64, datedUntil: Int64? = nil,
        published: PublishedMedia? = nil
    ) {
        self.audio = audio
        self.fillsSilence = fillsSilence
        self.datedUntil = datedUntil
        self.published = published
        self.hasAudioRendition = hasAudioRendition
        self.longestSegment = longestSegment
        self.position = position
        self.wallClock = wallClock
    }
}
