package import Support

/// A media playlist (RFC 8216 §4.3.3) as values: what the relay reads of an upstream's playlist, or writes.
package struct MediaPlaylist: Equatable, Sendable {
    package enum PlaylistType: String, Sendable {
        case vod = "VOD"
        case event = "EVENT"
    }

    package var targetDuration: Duration
    package var mediaSequence: UInt64
    /// EXT-X-DISCONTINUITY-SEQUENCE as written; nil if the tag is absent (counting then starts at 0).
    package var discontinuitySequence: UInt64?
    package var playlistType: PlaylistType?
    package var hasEndList = false
    package var hasIndependentSegments = false
    /// Whether each segment is one I-frame (§4.3.3.6). Only written.
    package var hasIFramesOnly = false
    /// Whether EXT-X-START (§4.3.5.2) tells players to begin with the first segment. It is written, and not read.
    package var startsAtBeginning = false
    /// Whether EXT-X-SERVER-CONTROL offers blocking reloads (draft-pantos-hls-rfc8216bis §4.4.3.8).
    package var canBlockReload = false
    /// The distance in seconds from the end of the playlist beyond which a delta update may skip segments; nil: no
    /// delta updates are offered. It is written, and not read.
    package var canSkipUntil: Int?
    /// The number of segments at the beginning that a delta update does not list (EXT-X-SKIP, §4.4.5.2). It is only
    /// written: when a playlist is read, the skipped segments are counted into `mediaSequence`.
    package var skippedSegments = 0
    package var segments: [MediaSegment]
    /// EXT-X-DATERANGE in the head. Date ranges before a segment are in that segment.
    package var dateRanges: [DateRange] = []
    /// EXT-X-DATERANGE after the last segment.
    package var trailingDateRanges: [DateRange] = []
    /// Lines of the head that no field holds, verbatim without line end, in order.
    ///
    /// They are tags that the draft does not define, comments, and malformed tags that do not govern media. The head
    /// ends at the first tag of a segment.
    package var unknownTags: [String] = []
    /// Errors that did not stop the parser, in order: malformed tags, kept verbatim, and tags that a later one replaces.
    package var irregularities: [PlaylistError] = []
    /// The number of units dropped by each limit of the parser.
    package var dropped: [PlaylistLimit: Int] = [:]

    package init(targetDuration: Duration, mediaSequence: UInt64 = 0, segments: [MediaSegment] = []) {
        self.targetDuration = targetDuration
        self.mediaSequence = mediaSequence
        self.segments = segments
    }
}

/// One media segment with every tag that applies to it, including the inherited tags (RFC 8216 §4.3.2).
package struct MediaSegment: Equatable, Sendable {
    /// The URI as written. `URIReference` resolves it against the URL of the playlist.
    package var uri: String
    /// The exact EXTINF duration.
    package var duration: Duration
    package var mediaSequence: UInt64
    /// The discontinuity sequence number of this segment (§6.2.1): that of the playlist plus the tags up to here.
    package var discontinuitySequence: UInt64
    /// Whether EXT-X-DISCONTINUITY precedes this segment.
    package var isDiscontinuous = false
    package var byteRange: ByteRange?
    /// The keys in effect, one per KEYFORMAT; empty after METHOD=NONE.
    package var keys: [SegmentKey] = []
    package var map: MediaInitialization?
    /// EXT-X-PROGRAM-DATE-TIME written before this very segment; never derived from another segment.
    package var programDateTime: ProgramDateTime?
    package var isGap = false
    /// Lines before this segment that no field holds, verbatim without line end, in order: cue tags (EXT-X-CUE-OUT,
    /// CUE-OUT-CONT, CUE-IN, EXT-OATCLS-SCTE35), other tags that the draft does not define, and comments.
    package var unknownTags: [String] = []
    /// EXT-X-DATERANGE lines before this segment. Their dates say where they apply, their position when they were added.
    package var dateRanges: [DateRange] = []

    package init(uri: String, duration: Duration, mediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0) {
        self.uri = uri
        self.duration = duration
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
    }
}

/// EXT-X-MAP (§4.3.2.5) and the keys in effect at its line.
package struct MediaInitialization: Hashable, Sendable {
    package var uri: String
    package var byteRange: ByteRange?
    package var keys: [SegmentKey]

    package init(uri: String, byteRange: ByteRange? = nil, keys: [SegmentKey] = []) {
        self.uri = uri
        self.byteRange = byteRange
        self.keys = keys
    }
}
