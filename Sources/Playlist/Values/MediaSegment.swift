/// One media segment with every tag that applies to it, inherited ones resolved (RFC 8216 §4.3.2).
package struct MediaSegment: Equatable, Sendable {
    /// As written, not resolved: `URIReference` does that against the address the playlist came from.
    package var uri: String
    /// EXTINF, exact.
    package var duration: Duration
    package var title: String
    package var mediaSequence: UInt64
    /// Discontinuity sequence number of this segment (§6.2.1): the playlist's own plus the tags up to here.
    package var discontinuitySequence: UInt64
    /// EXT-X-DISCONTINUITY stands before this segment.
    package var isDiscontinuous: Bool
    package var byteRange: ByteRange?
    /// Keys in force, one per KEYFORMAT; empty after METHOD=NONE.
    package var keys: [SegmentKey]
    package var map: MediaInitialization?
    /// EXT-X-PROGRAM-DATE-TIME written before this very segment; never derived.
    package var programDateTime: ProgramDateTime?
    package var isGap: Bool
    /// EXT-X-BITRATE in force, kbit/s.
    package var bitrate: Int?
    package var parts: [PartialSegment]
    /// Lines before this segment that are not read into a field: cue marks (EXT-X-CUE-OUT, CUE-OUT-CONT, CUE-IN,
    /// EXT-OATCLS-SCTE35), tags the draft does not have, comments. Verbatim without line end, in order.
    package var unknownTags: [String]
    /// EXT-X-DATERANGE lines before this segment. Their dates place them; where they stand says when they came.
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

/// EXT-X-BYTERANGE with its offset resolved (§4.3.2.2); bytes `offset ..< offset + length`.
package struct ByteRange: Hashable, Sendable {
    package var offset: UInt64
    package var length: UInt64

    package init(offset: UInt64, length: UInt64) {
        self.offset = offset
        self.length = length
    }
}

/// EXT-X-MAP (§4.3.2.5) and the keys in force where it was written.
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
