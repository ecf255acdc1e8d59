package import Media
import Support

/// A decrypted segment of WebVTT, as text or in fragmented MP4, with its properties from the playlist.
package struct SubtitleInput: Sendable {
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// EXTINF.
    package let duration: Ticks
    /// EXT-X-PROGRAM-DATE-TIME of the segment, milliseconds since 1970.
    package let programDateTime: Int64?
    /// Whether segments before it were lost, or the playlist was reset.
    package let isAfterDiscontinuity: Bool
    /// The EXT-X-MAP section with which it is read, clear.
    package private(set) var initialization: [UInt8]?
    package private(set) var bytes: [UInt8]

    var properties: SubtitleInput {
        var input = self
        (input.initialization, input.bytes) = (nil, [])
        return input
    }

    package init(
        mediaSequence: UInt64, discontinuitySequence: UInt64 = 0, duration: Ticks, programDateTime: Int64? = nil,
        isAfterDiscontinuity: Bool = false, initialization: [UInt8]? = nil, bytes: [UInt8]
    ) {
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.duration = duration
        self.programDateTime = programDateTime
        self.isAfterDiscontinuity = isAfterDiscontinuity
        self.initialization = initialization
        self.bytes = bytes
    }
}

extension SubtitleInput {
    /// Whether the bytes begin as a WebVTT file.
    package static func isSubtitles(_ bytes: [UInt8]) -> Bool { WebVTTParser.hasSignature(bytes) }

    /// Whether the bytes are a WebVTT file without any padding but white space at the end.
    package static func isWholeSubtitles(_ bytes: [UInt8]) -> Bool {
        isSubtitles(bytes) && bytes.last.map { $0 > 0x1F || [0x09, 0x0A, 0x0D].contains($0) } ?? false
    }
}

/// The subtitles of one published segment, a complete WebVTT file.
package struct SegmentSubtitles: Equatable, Sendable {
    package let rendition: Int
    package let mediaSequence: UInt64
    package let bytes: [UInt8]
}

/// The outcomes of subtitles, summed over the renditions.
package enum SubtitleCount: Int, CountKey {
    case segments
    case malformedSegments
    /// Published cues. A cue counts once, even if it overlaps several segments.
    case cues
    /// Cues that arrived after their segments' subtitles were published.
    case lateCues
    /// Cues without video: before the channel was joined, between periods, or on an unknown clock.
    case unplacedCues
    case malformedCues
    case droppedCues
    /// Cues placed by date or number, because their X-TIMESTAMP-MAP leads far from their segment.
    case retimedCues
}

/// The bounds of the subtitles that are read, held and published. Text and cues beyond them are dropped and counted.
package enum SubtitleLimits {
    /// Bytes of one upstream segment. A segment is a few seconds of text.
    package static let fileBytes = 1 << 20
    package static let fileLines = 50_000
    /// Cues of one upstream segment. A feature film in one file has some two thousand.
    package static let fileCues = 4000
    package static let definitions = 64
    /// Bytes of the upstream segments of one rendition whose cues wait for their video.
    package static let heldBytes = 512 << 10
    package static let heldCues = 4000
    /// Cues of one rendition that have a place and may still be presented.
    package static let placedCues = 1024
    package static let publishedBytes = 1 << 20
}
