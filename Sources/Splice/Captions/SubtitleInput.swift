package import Media

/// A decrypted WebVTT segment with its properties from the playlist.
package struct SubtitleInput: Sendable {
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// EXTINF.
    package let duration: Ticks
    /// EXT-X-PROGRAM-DATE-TIME of the segment, milliseconds since 1970.
    package let programDateTime: Int64?
    /// Whether segments before it were lost, or the playlist was reset.
    package let isAfterDiscontinuity: Bool
    package private(set) var bytes: [UInt8]

    /// The segment without its text.
    var properties: SubtitleInput {
        var input = self
        input.bytes = []
        return input
    }

    package init(
        mediaSequence: UInt64, discontinuitySequence: UInt64 = 0, duration: Ticks, programDateTime: Int64? = nil,
        isAfterDiscontinuity: Bool = false, bytes: [UInt8]
    ) {
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.duration = duration
        self.programDateTime = programDateTime
        self.isAfterDiscontinuity = isAfterDiscontinuity
        self.bytes = bytes
    }
}

/// The subtitles of one published segment, a complete WebVTT file.
package struct SegmentSubtitles: Equatable, Sendable {
    /// Index of the rendition.
    package let rendition: Int
    /// Media sequence number of the published segment.
    package let mediaSequence: UInt64
    package let bytes: [UInt8]
}

/// Subtitle counters, summed over the renditions.
package struct SubtitleCounts: Encodable, Equatable, Sendable {
    /// Upstream segments received.
    package var segments = 0
    /// Segments that are not WebVTT.
    package var unreadable = 0
    /// Published cues. A cue counts once, even if it overlaps several segments.
    package var cues = 0
    /// Cues that arrived after their segments' subtitles were published.
    package var late = 0
    /// Cues without video: before the channel was joined, between periods, or on an unknown clock.
    package var unplaced = 0
    /// Cues with malformed times.
    package var malformed = 0
    /// Cues beyond `SubtitleLimits`.
    package var dropped = 0
    /// Cues placed by date or number, because their X-TIMESTAMP-MAP leads far from their segment.
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
        case dropped = "droppedCues"
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
        left.dropped += right.dropped
    }
}

/// The bounds of the subtitles that are read, held and published. Text and cues beyond them are dropped and counted.
package enum SubtitleLimits {
    /// Bytes of one upstream segment. A segment is a few seconds of text.
    package static let fileBytes = 1 << 20
    /// Lines of one upstream segment.
    package static let fileLines = 50_000
    /// Cues of one upstream segment. A feature film in one file has some two thousand.
    package static let fileCues = 4000
    /// STYLE and REGION blocks of one upstream segment.
    package static let definitions = 64
    /// Bytes of the upstream segments of one rendition whose cues wait for their video.
    package static let heldBytes = 512 << 10
    /// Their cues.
    package static let heldCues = 4000
    /// Cues of one rendition that have a place and may still be presented.
    package static let placedCues = 1024
    /// Bytes of one published segment of subtitles.
    package static let publishedBytes = 1 << 20
}
