/// Segments that will never be delivered, and the reason.
package struct SegmentLoss: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The segments left the playlist before it was loaded.
        case slidOut
        /// EXT-X-GAP.
        case gap
        /// Every attempt failed. `status` is the last answer's, or nil if there was none.
        case unavailable(status: Int?)
        /// The media was an HTML page, or empty.
        case notMedia
        case keyUnavailable(url: String, status: Int?)
    }

    package let mediaSequences: Range<UInt64>
    package let reason: Reason

    /// The number of segments.
    var count: UInt64 { mediaSequences.upperBound - mediaSequences.lowerBound }

    package init(mediaSequences: Range<UInt64>, reason: Reason) {
        self.mediaSequences = mediaSequences
        self.reason = reason
    }
}
