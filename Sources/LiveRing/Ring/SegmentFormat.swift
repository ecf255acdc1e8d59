package import Playlist

/// What a master playlist has to say about a segment's media (RFC 8216 §4.3.4.2).
package struct SegmentFormat: Hashable, Sendable {
    /// RFC 6381, for example "avc1.640028"; nil without video.
    package var videoCodec: String?
    /// RFC 6381, for example "mp4a.40.2"; nil without audio.
    package var audioCodec: String?
    /// As displayed; nil without video.
    package var resolution: Variant.Resolution?
    /// Frames per second with three decimals at most, for example "29.970"; nil when unknown.
    package var frameRate: String?
    /// "SDR", "HLG" or "PQ" (draft-pantos-hls-rfc8216bis §4.4.6.2); nil when unknown.
    package var videoRange: String?

    /// There is no picture in it.
    package var isSoundAlone: Bool { videoCodec == nil && audioCodec != nil }

    package init(
        videoCodec: String? = nil, audioCodec: String? = nil, resolution: Variant.Resolution? = nil,
        frameRate: String? = nil, videoRange: String? = nil
    ) {
        self.videoCodec = videoCodec
        self.audioCodec = audioCodec
        self.resolution = resolution
        self.frameRate = frameRate
        self.videoRange = videoRange
    }
}
