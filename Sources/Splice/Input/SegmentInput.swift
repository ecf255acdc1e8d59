package import Media

/// Rendition that a segment comes from: the leading variant, its companion audio rendition, or one of
/// `SpliceConfiguration.audioRenditions` or `SpliceConfiguration.variants` by its index.
package enum InputRendition: Hashable, Sendable {
    case main, audio
    case furtherAudio(Int)
    case furtherVideo(Int)

    /// Whether it is audio or video beside the leading track.
    package var isFurther: Bool {
        switch self {
        case .furtherAudio, .furtherVideo: true
        case .main, .audio: false
        }
    }
}

/// A decrypted media segment with its attributes from the playlist.
package struct SegmentInput: Sendable {
    package let rendition: InputRendition
    package let mediaSequence: UInt64
    /// Upstream discontinuity sequence number; matches renditions where clocks alone are ambiguous.
    package let discontinuitySequence: UInt64
    package let isDiscontinuous: Bool
    /// Whether segments before this one were lost, or the playlist was reset.
    package let isAfterDiscontinuity: Bool
    /// How much of the published media, counted back from its end, this segment and those after it may repeat; zero if it
    /// is new by its number or date.
    package let repeatable: Ticks
    /// EXT-X-PROGRAM-DATE-TIME of the first sample, in milliseconds since 1970; nil if there is none.
    package let programDateTime: Int64?
    /// EXTINF; nil if the duration is not known.
    package let duration: Ticks?
    /// Decrypted bytes of the EXT-X-MAP section; nil if there is none.
    package private(set) var initialization: [UInt8]?
    package private(set) var bytes: [UInt8]
    /// Where the bytes are in their file; empty if they are a file, or it is not known.
    package private(set) var ranges: [Range<UInt64>]
    /// Whether another variant can be followed if all video of this segment is foreign. Such a segment is then refused.
    package var isVariantTrial = false
    /// Playing time of all media of the rendition that was lost before this segment, as far as it is known.
    var lostBefore = Ticks.zero
    /// Segments of the rendition that are missing before this one, in all, as far as the media sequence numbers tell.
    var missingBefore: UInt64 = 0

    package init(
        rendition: InputRendition, mediaSequence: UInt64, discontinuitySequence: UInt64 = 0,
        isDiscontinuous: Bool = false, isAfterDiscontinuity: Bool = false, repeatable: Ticks = .zero,
        programDateTime: Int64? = nil, duration: Ticks? = nil, initialization: [UInt8]? = nil, bytes: [UInt8],
        ranges: [Range<UInt64>] = []
    ) {
        self.rendition = rendition
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = isDiscontinuous
        self.isAfterDiscontinuity = isAfterDiscontinuity
        self.repeatable = repeatable
        self.programDateTime = programDateTime
        self.duration = duration
        self.initialization = initialization
        self.bytes = bytes
        self.ranges = ranges
    }

    /// The segment's attributes alone, which do not keep its bytes.
    var withoutBytes: SegmentInput {
        var attributes = self
        (attributes.initialization, attributes.bytes, attributes.ranges) = (nil, [], [])
        return attributes
    }
}

/// An upstream event, in the playlist order of its rendition.
package enum SpliceInput: Sendable {
    case segment(SegmentInput)
    /// Segments of this rendition were lost; the next segment follows a loss. `duration` is their playing time, as far as
    /// it is known.
    case lost(InputRendition, duration: Ticks = .zero)
    /// The rendition's playlist ended and all of its segments were handled.
    case ended(InputRendition)
}

/// The segment boundary before an access unit, as the upstream signals it.
enum SegmentBoundary: Equatable, Sendable {
    case none
    case plain
    case tagged
    /// Segments before this one were lost, or the playlist was reset.
    case loss
}

/// The sizes of the main segments of which media may be held.
///
/// A frame that is held keeps the bytes of all frames of its segment.
struct HeldSegments: Sendable {
    private let byteLimit: Int
    private var entries: [(mediaSequence: UInt64, byteCount: Int)] = []

    /// - Parameter byteLimit: bytes of the segments before the newest one.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func append(_ segment: SegmentInput) {
        entries.append((segment.mediaSequence, segment.bytes.count))
    }

    /// Forgets the segments of which nothing is held, and returns whether the others exceed the limit.
    /// - Parameter oldest: the segment of the oldest frame held; nil if none is.
    mutating func exceedLimit(holdingFrom oldest: UInt64?) -> Bool {
        let first = oldest.map { oldest in entries.firstIndex { $0.mediaSequence == oldest } ?? 0 }
        entries.removeFirst(first ?? max(0, entries.count - 1))
        return entries.dropLast().reduce(0) { $0 + $1.byteCount } > byteLimit
    }

    mutating func removeAll() { entries = Array(entries.suffix(1)) }
}
