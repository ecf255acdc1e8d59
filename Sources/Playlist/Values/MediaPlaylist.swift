/// A media playlist (RFC 8216 §4.3.3) as values. Everything the text said is here or in `unknownTags`.
package struct MediaPlaylist: Equatable, Sendable {
    package enum PlaylistType: String, Sendable {
        case vod = "VOD"
        case event = "EVENT"
    }

    /// As read; what is written is computed from what the playlist holds.
    package var version: Int?
    /// EXT-X-DEFINE, resolved; every value below has them substituted.
    package var variables: [VariableDefinition]
    package var targetDuration: Duration
    /// Of the first segment listed, or of the first one skipped by a delta update.
    package var mediaSequence: UInt64
    /// As written; nil when the tag is absent (then counting starts at 0).
    package var discontinuitySequence: UInt64?
    package var playlistType: PlaylistType?
    package var hasEndList: Bool
    package var hasIndependentSegments: Bool
    package var isIFramesOnly: Bool
    package var start: StartOffset?
    package var serverControl: ServerControl?
    /// EXT-X-PART-INF:PART-TARGET.
    package var partTarget: Duration?
    /// EXT-X-SKIP:SKIPPED-SEGMENTS of a delta update, otherwise 0; `segments` begin after them.
    package var skippedSegments: Int
    /// EXT-X-SKIP:RECENTLY-REMOVED-DATERANGES, the IDs.
    package var recentlyRemovedDateRanges: [String]
    package var segments: [MediaSegment]
    /// Parts of the segment that is not listed yet.
    package var trailingParts: [PartialSegment]
    /// What else was said of the segment that is not listed yet (DISCONTINUITY, KEY, cue marks, comments …): verbatim
    /// lines without line end, in order.
    package var trailingLines: [String]
    /// EXT-X-DATERANGE in the head; those that stand before a segment are among what is said of it.
    package var dateRanges: [DateRange]
    /// EXT-X-DATERANGE behind the last segment.
    package var trailingDateRanges: [DateRange]
    package var preloadHints: [AttributeList]
    package var renditionReports: [AttributeList]
    /// Lines of the head that are not read into a field (tags the draft does not have, comments, tags too malformed to
    /// read that do not govern media), verbatim without line end, in order. The head ends at the first tag of a segment.
    package var unknownTags: [String]

    package init(targetDuration: Duration, mediaSequence: UInt64 = 0, segments: [MediaSegment] = []) {
        self.version = nil
        self.variables = []
        self.targetDuration = targetDuration
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = nil
        self.playlistType = nil
        self.hasEndList = false
        self.hasIndependentSegments = false
        self.isIFramesOnly = false
        self.start = nil
        self.serverControl = nil
        self.partTarget = nil
        self.skippedSegments = 0
        self.recentlyRemovedDateRanges = []
        self.segments = segments
        self.trailingParts = []
        self.trailingLines = []
        self.dateRanges = []
        self.trailingDateRanges = []
        self.preloadHints = []
        self.renditionReports = []
        self.unknownTags = []
    }
}

/// EXT-X-START (§4.3.5.2): seconds from the beginning, or from the end when negative.
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
