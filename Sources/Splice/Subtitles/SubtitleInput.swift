/// One clear WebVTT segment with what its playlist said of it.
package struct SubtitleInput: Sendable {
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// EXTINF.
    package let duration: Ticks
    /// EXT-X-PROGRAM-DATE-TIME written before it, milliseconds since 1970.
    package let programDateTime: Int64?
    /// Segments before it were lost, or the list was reset.
    package let isAfterDiscontinuity: Bool
    package let bytes: [UInt8]

    package init(
        mediaSequence: UInt64, discontinuitySequence: UInt64 = 0, duration: Ticks, programDateTime: Int64? = nil,
        isAfterSeam: Bool = false, bytes: [UInt8]
    ) {
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.duration = duration
        self.programDateTime = programDateTime
        self.isAfterDiscontinuity = isAfterSeam
        self.bytes = bytes
    }
}

/// The subtitles of one published segment: a whole WebVTT file.
package struct SegmentSubtitles: Equatable, Sendable {
    /// Index of the rendition.
    package let rendition: Int
    /// Of the published segment.
    package let mediaSequence: UInt64
    package let bytes: [UInt8]
}

/// What became of the subtitles, summed over the renditions.
package struct SubtitleCounts: Encodable, Equatable, Sendable {
    /// Upstream segments taken.
    package var segments = 0
    /// Segments that are no WebVTT.
    package var unreadable = 0
    /// Cues published, each once however many segments it overlaps.
    package var cues = 0
    /// Cues that came when the segments they belong to were published without them.
    package var late = 0
    /// Cues that belong to no picture: before the channel was joined, between runs, on a clock nobody knows.
    package var unplaced = 0
    /// Cues whose times do not parse.
    package var malformed = 0
    /// Cues that were placed by date or number, because their X-TIMESTAMP-MAP leads nowhere near their segment.
    package var corrected = 0

    package init() {}

    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case segments
        case unreadable = "malformedSegments"
        case cues
        case late = "lateCues"
        case unplaced = "unplacedCues"
        case malformed = "malformedCues"
        case corrected = "retimedCues"
    }

    static func += (left: inout SubtitleCounts, right: SubtitleCounts) {
        left.segments += right.segments
        left.unreadable += right.unreadable
        left.cues += right.cues
        left.late += right.late
        left.unplaced += right.unplaced
        left.malformed += right.malformed
        left.corrected += right.corrected
    }
}
