package import Playlist

/// Which of the channel's playlists a segment came from.
package enum RenditionRole: Hashable, Sendable {
    case main, audio
    /// One of the variant's SUBTITLES group, by its index in `UpstreamEvent.chose`.
    case subtitles(Int)

    var isSubtitles: Bool {
        if case .subtitles = self { true } else { false }
    }
}

/// What the tracker hands downstream: for each rendition in playlist order, each segment once.
package struct Delivery: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case segment(TrackedSegment)
        /// These will never come; the next segment of this rendition follows a seam.
        case lost(SegmentLoss)
        /// ENDLIST was reached and everything before it delivered, but for EXT-X-DATERANGEs that came with no segment:
        /// the last list had nothing else that was new, or what they came with was lost.
        case ended(dateRanges: [DateRange])
        /// So much of the channel's time has passed in an outage; of the main rendition only.
        case outageGap(Duration)
    }

    package let rendition: RenditionRole
    package let content: Content
    /// 0 is the channel's own upstream; backups count from 1.
    package var source: Int

    /// Something to publish, of which the session is told what became of it; not so of subtitles.
    var isMedia: Bool {
        if case .segment = content { !rendition.isSubtitles } else { false }
    }

    var isMainSegment: Bool { isMedia && rendition == .main }

    package init(rendition: RenditionRole, content: Content, source: Int = 0) {
        self.rendition = rendition
        self.content = content
        self.source = source
    }
}

/// A fetched segment with all that is needed to read it.
package struct TrackedSegment: Equatable, Sendable {
    package let segment: MediaSegment
    /// Absolute, after redirects.
    package let url: String
    package let body: [UInt8]
    /// What stood at the URI of the AES-128 key in force, unchecked; nil when the segment is clear.
    package let key: [UInt8]?
    /// Absolute address of that key, for messages.
    package let keyURL: String?
    /// The EXT-X-MAP section in force, still encrypted if it was, and its key.
    package let map: [UInt8]?
    package let mapKey: [UInt8]?
    /// Absolute address of that key, for messages.
    package let mapKeyURL: String?
    /// Segments between the previous delivery and this one were lost or skipped, or the list was reset.
    package let isAfterDiscontinuity: Bool
    /// Session time at which a playlist first listed it.
    package let listedAt: Duration
    /// Segments listed before it and not delivered, as far as they were listed: marks stand with them too.
    package let skippedSegments: [MediaSegment]
    /// The first segment that a list brought has all EXT-X-DATERANGEs of that list that stand with no segment to come:
    /// in its head, before older segments, and at its end. If it is lost, the next one has them. Empty for the others.
    package let listedDateRanges: [DateRange]

    package init(
        segment: MediaSegment, url: String, body: [UInt8], key: [UInt8]? = nil, keyURL: String? = nil,
        map: [UInt8]? = nil, mapKey: [UInt8]? = nil, mapKeyURL: String? = nil, isAfterSeam: Bool = false,
        listedAt: Duration = .zero, passedOver: [MediaSegment] = [], listedDateRanges: [DateRange] = []
    ) {
        self.segment = segment
        self.url = url
        self.body = body
        self.key = key
        self.keyURL = keyURL
        self.map = map
        self.mapKey = mapKey
        self.mapKeyURL = mapKeyURL
        self.isAfterDiscontinuity = isAfterSeam
        self.listedAt = listedAt
        self.skippedSegments = passedOver
        self.listedDateRanges = listedDateRanges
    }
}

package struct SegmentLoss: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The window slid past them before they were listed to us.
        case slidOut
        /// EXT-X-GAP.
        case gap
        /// Every try failed; the last answer's status, or nil when there was none.
        case unavailable(status: Int?)
        /// The media was an HTML page, or empty.
        case notMedia
        case keyUnavailable(url: String, status: Int?)
    }

    package let mediaSequences: Range<UInt64>
    package let reason: Reason

    /// How many they are.
    var count: UInt64 { mediaSequences.upperBound - mediaSequences.lowerBound }

    package init(mediaSequences: Range<UInt64>, reason: Reason) {
        self.mediaSequences = mediaSequences
        self.reason = reason
    }
}
