package import Playlist

/// A fetched segment, with its key and map and with what was lost before it.
package struct TrackedSegment: Equatable, Sendable {
    package let segment: MediaSegment
    /// Absolute URL after redirects.
    package let url: String
    package let body: [UInt8]
    /// The AES-128 key in force as received, of any length; nil if the segment is not encrypted.
    package let key: [UInt8]?
    /// Absolute URL of that key, for messages.
    package let keyURL: String?
    /// The EXT-X-MAP section in force, still encrypted if it was, and its key.
    package let map: [UInt8]?
    package let mapKey: [UInt8]?
    /// Absolute URL of the map's key, for messages.
    package let mapKeyURL: String?
    /// Whether segments before this one were lost or skipped, or the upstream restarted its numbers.
    package let isAfterDiscontinuity: Bool
    /// Session time at which a playlist first listed the segment.
    package let listedAt: Duration
    /// Earlier segments that were listed and not delivered, whose ad markers still count.
    package let skippedSegments: [MediaSegment]
    /// The EXT-X-DATERANGEs of a playlist that stand with none of the segments to come: in its head, before older
    /// segments, and at its end.
    ///
    /// Only the first new segment of a playlist has them. If it is lost, the next one has them.
    package let listedDateRanges: [DateRange]

    package init(
        segment: MediaSegment, url: String, body: [UInt8], key: [UInt8]? = nil, keyURL: String? = nil,
        map: [UInt8]? = nil, mapKey: [UInt8]? = nil, mapKeyURL: String? = nil, isAfterDiscontinuity: Bool = false,
        listedAt: Duration = .zero, skippedSegments: [MediaSegment] = [], listedDateRanges: [DateRange] = []
    ) {
        self.segment = segment
        self.url = url
        self.body = body
        self.key = key
        self.keyURL = keyURL
        self.map = map
        self.mapKey = mapKey
        self.mapKeyURL = mapKeyURL
        self.isAfterDiscontinuity = isAfterDiscontinuity
        self.listedAt = listedAt
        self.skippedSegments = skippedSegments
        self.listedDateRanges = listedDateRanges
    }
}
