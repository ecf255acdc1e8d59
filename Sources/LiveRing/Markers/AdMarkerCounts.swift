/// The number of the upstream's ad markers by what became of them, over the life of the channel.
package struct AdMarkerCounts: Encodable, Equatable, Sendable {
    /// Cue tags that were passed on.
    package var cueTags = 0
    /// EXT-X-DATERANGE tags that were written: new ranges and later additions to them.
    package var dateRanges = 0
    /// Ranges that ended before the first published segment.
    package var expiredRanges = 0
    /// Ranges whose START-DATE is absent or cannot be read.
    package var unreadableRanges = 0
    /// Attributes that the upstream changed. A published attribute cannot change (RFC 8216 §4.3.2.7).
    package var attributesChanged = 0
    /// Ends of ad breaks that never began.
    package var unmatchedBreakEnds = 0
    /// Tags that no standard defines.
    package var otherTags = 0
    /// Ad markers of segments that had no frame for too long.
    package var unplacedMarkers = 0
    /// Ad markers that were dropped because there were too many at once.
    package var excessMarkers = 0

    package init() {}

    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case cueTags, dateRanges
        case expiredRanges = "expiredDateRanges"
        case unreadableRanges = "malformedDateRanges"
        case attributesChanged = "changedDateRangeAttributes"
        case unmatchedBreakEnds = "unpairedBreakEnds"
        case otherTags
        case unplacedMarkers = "unplaced"
        case excessMarkers = "excess"
    }

    package static func + (left: AdMarkerCounts, right: AdMarkerCounts) -> AdMarkerCounts {
        var sum = left
        sum.cueTags += right.cueTags
        sum.dateRanges += right.dateRanges
        sum.expiredRanges += right.expiredRanges
        sum.unreadableRanges += right.unreadableRanges
        sum.attributesChanged += right.attributesChanged
        sum.unmatchedBreakEnds += right.unmatchedBreakEnds
        sum.otherTags += right.otherTags
        sum.unplacedMarkers += right.unplacedMarkers
        sum.excessMarkers += right.excessMarkers
        return sum
    }
}
