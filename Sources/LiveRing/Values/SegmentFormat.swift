package import Playlist

/// The properties of a segment's media that a master playlist lists (RFC 8216 §4.3.4.2).
package struct SegmentFormat: Hashable, Sendable {
    /// The RFC 6381 name, for example "avc1.640028"; nil without video.
    package var videoCodec: String?
    /// The RFC 6381 name, for example "mp4a.40.2"; nil without audio.
    package var audioCodec: String?
    /// The displayed frame size; nil without video.
    package var resolution: Variant.Resolution?
    /// Frames per second with at most three decimals, for example "29.970"; nil if unknown.
    package var frameRate: String?
    /// "SDR", "HLG" or "PQ" (draft-pantos-hls-rfc8216bis §4.4.6.2); nil if unknown.
    package var videoRange: String?
    /// The SUPPLEMENTAL-CODECS entry, for example "dvh1.08.07/db4h"; nil if there is none.
    package var supplementalCodec: String?

    package var isAudioOnly: Bool { videoCodec == nil && audioCodec != nil }

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

/// The files that a media playlist lists.
package enum PlaylistContent: Hashable, Sendable {
    /// Segments as they are stored.
    case fragmentedMP4
    /// The same segments as MPEG-TS, without init sections.
    case transportStream
    /// The video, or the audio, of the segments in one track: 0 is the leading track, and n is track n − 1 beside it.
    /// Only a channel with several tracks has such playlists.
    case video(Int)
    case audio(Int)
    /// The first frame of each segment, for fast forward.
    case iFrames
    /// The subtitles of the segments, by the number of the rendition.
    case subtitles(Int)
}

/// How a changing playlist is sent to players that reload it (draft-pantos-hls-rfc8216bis §6.2.5).
package enum PlaylistForm: Hashable, Sendable {
    /// Without EXT-X-SERVER-CONTROL: a file, or a playlist that no player waits for.
    case unannounced
    /// Whole, with EXT-X-SERVER-CONTROL.
    case whole
    /// Without the segments that a player already has if it loaded the playlist recently (EXT-X-SKIP).
    case delta
}
