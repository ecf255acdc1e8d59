package import Playlist

/// A fetched segment, with its key and map and with what was lost before it.
package struct TrackedSegment: Equatable, Sendable {
    package let segment: MediaSegment
    /// Absolute URL after redirects.
    package let url: String
    package let body: [UInt8]
    /// The AES-128 key in force as received, of any length; nil if the segment is not encrypted.
    package var key: [UInt8]?
    /// Absolute URL of that key, for messages.
    package var keyURL: String?
    /// The EXT-X-MAP section in force, still encrypted if it was, and its key.
    package var map: [UInt8]?
    package var mapKey: [UInt8]?
    /// Absolute URL of the map's key, for messages.
    package var mapKeyURL: String?
    /// Whether segments before this one were lost or skipped, or the upstream restarted its numbers.
    package var isAfterDiscontinuity = false
    /// How much of the published media, counted back from its end, this segment and those after it may repeat.
    ///
    /// Zero if its number or date says that the media is new: the same bytes may be broadcast many times.
    package var repeatable = Duration.zero
    /// Session time at which a playlist first listed the segment.
    package var listedAt = Duration.zero
    /// Earlier segments that were listed and not delivered, whose ad markers still count.
    package var skippedSegments: [MediaSegment] = []
    /// The EXT-X-DATERANGEs of a playlist that stand with none of the segments to come: in its head, before older
    /// segments, and at its end.
    ///
    /// Only the first new segment of a playlist has them. If it is lost, the next one has them.
    package var listedDateRanges: [DateRange] = []
}
