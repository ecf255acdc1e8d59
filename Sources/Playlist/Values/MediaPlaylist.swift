package import Support

/// A media playlist (RFC 8216 §4.3.3) as values. Lines that no field holds are in `unknownTags`.
package struct MediaPlaylist: Equatable, Sendable {
    package enum PlaylistType: String, Sendable {
        case vod = "VOD"
        case event = "EVENT"
    }

    /// EXT-X-VERSION as read. The writer computes the version from the content of the playlist.
    package var version: Int?
    /// The resolved EXT-X-DEFINE variables. They are substituted in every value below.
    package var variables: [VariableDefinition] = []
    package var targetDuration: Duration
    /// The media sequence number of the first segment listed, or of the first segment that a delta update skips.
    package var mediaSequence: UInt64
    /// EXT-X-DISCONTINUITY-SEQUENCE as written; nil if the tag is absent (counting then starts at 0).
    package var discontinuitySequence: UInt64?
    package var playlistType: PlaylistType?
    package var hasEndList = false
    package var hasIndependentSegments = false
    package var isIFramesOnly = false
    package var start: StartOffset?
    package var serverControl: ServerControl?
    /// EXT-X-PART-INF:PART-TARGET.
    package var partTarget: Duration?
    /// EXT-X-SKIP:SKIPPED-SEGMENTS of a delta update, otherwise 0. `segments` begins after the skipped ones.
    package var skippedSegments = 0
    /// The IDs in EXT-X-SKIP:RECENTLY-REMOVED-DATERANGES.
    package var recentlyRemovedDateRanges: [String] = []
    package var segments: [MediaSegment]
    /// Parts of the segment that is not listed yet.
    package var trailingParts: [PartialSegment] = []
    /// Other lines that apply to the segment that is not listed yet (DISCONTINUITY, KEY, cue tags, comments …), verbatim
    /// without line end, in order.
    package var trailingLines: [String] = []
    /// EXT-X-DATERANGE in the head. Date ranges before a segment are in that segment.
    package var dateRanges: [DateRange] = []
    /// EXT-X-DATERANGE after the last segment.
    package var trailingDateRanges: [DateRange] = []
    package var preloadHints: [AttributeList] = []
    package var renditionReports: [AttributeList] = []
    /// Lines of the head that no field holds, verbatim without line end, in order.
    ///
    /// They are tags that the draft does not define, comments, and malformed tags that do not govern media. The head
    /// ends at the first tag of a segment.
    package var unknownTags: [String] = []
    /// What the parser read past, in order: malformed tags that it kept verbatim, and tags that a later one replaces.
    package var irregularities: [PlaylistError] = []
    /// What was dropped because it exceeds a limit of the parser.
    package var dropped: [PlaylistLimit: Int] = [:]

    package init(targetDuration: Duration, mediaSequence: UInt64 = 0, segments: [MediaSegment] = []) {
        self.targetDuration = targetDuration
        self.mediaSequence = mediaSequence
        self.segments = segments
    }
}

/// EXT-X-START (§4.3.5.2): an offset from the beginning, or from the end if it is negative.
package struct StartOffset: Equatable, Sendable {
    package var timeOffset: Duration
    package var isPrecise: Bool

    package init(timeOffset: Duration, isPrecise: Bool = false) {
        self.timeOffset = timeOffset
        self.isPrecise = isPrecise
    }
}

/// EXT-X-SERVER-CONTROL (draft-pantos-hls-rfc8216bis §4.4.3.8).
package struct ServerControl: Equatable, Sendable {
    package var canSkipUntil: Duration?
    package var canSkipDateRanges: Bool
    package var holdBack: Duration?
    package var partHoldBack: Duration?
    package var canBlockReload: Bool

    package init(
        canSkipUntil: Duration? = nil, canSkipDateRanges: Bool = false, holdBack: Duration? = nil,
        partHoldBack: Duration? = nil, canBlockReload: Bool = false
    ) {
        self.canSkipUntil = canSkipUntil
        self.canSkipDateRanges = canSkipDateRanges
        self.holdBack = holdBack
        self.partHoldBack = partHoldBack
        self.canBlockReload = canBlockReload
    }
}

/// EXT-X-PART (draft §4.4.4.9).
package struct PartialSegment: Equatable, Sendable {
    package var uri: String
    package var duration: Duration
    package var isIndependent: Bool
    package var byteRange: ByteRange?
    package var isGap: Bool

    package init(
        uri: String, duration: Duration, isIndependent: Bool = false, byteRange: ByteRange? = nil, isGap: Bool = false
    ) {
        self.uri = uri
        self.duration = duration
        self.isIndependent = isIndependent
        self.byteRange = byteRange
        self.isGap = isGap
    }
}
