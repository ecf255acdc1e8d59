package import Support

/// One media segment with every tag that applies to it, including the inherited tags (RFC 8216 §4.3.2).
package struct MediaSegment: Equatable, Sendable {
    /// The URI as written. `URIReference` resolves it against the URL of the playlist.
    package var uri: String
    /// The exact EXTINF duration.
    package var duration: Duration
    package var title: String
    package var mediaSequence: UInt64
    /// The discontinuity sequence number of this segment (§6.2.1): that of the playlist plus the tags up to here.
    package var discontinuitySequence: UInt64
    /// Whether EXT-X-DISCONTINUITY precedes this segment.
    package var isDiscontinuous: Bool
    package var byteRange: ByteRange?
    /// The keys in effect, one per KEYFORMAT; empty after METHOD=NONE.
    package var keys: [SegmentKey]
    package var map: MediaInitialization?
    /// EXT-X-PROGRAM-DATE-TIME written before this very segment; never derived from another segment.
    package var programDateTime: ProgramDateTime?
    package var isGap: Bool
    /// EXT-X-BITRATE in effect, kbit/s.
    package var bitrate: Int?
    package var parts: [PartialSegment]
    /// Lines before this segment that no field holds, verbatim without line end, in order: cue tags (EXT-X-CUE-OUT,
    /// CUE-OUT-CONT, CUE-IN, EXT-OATCLS-SCTE35), other tags that the draft does not define, and comments.
    package var unknownTags: [String]
    /// EXT-X-DATERANGE lines before this segment. Their dates say where they apply, their position when they were added.
    package var dateRanges: [DateRange]

    package init(uri: String, duration: Duration, mediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0) {
        self.uri = uri
        self.duration = duration
        self.title = ""
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = false
        self.byteRange = nil
        self.keys = []
        self.map = nil
        self.programDateTime = nil
        self.isGap = false
        self.bitrate = nil
        self.parts = []
        self.unknownTags = []
        self.dateRanges = []
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
