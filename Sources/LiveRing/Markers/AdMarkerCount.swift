import Support

/// The outcomes of the upstream's ad markers, over the life of the channel.
package enum AdMarkerCount: Int, CountKey {
    /// Cue tags that were passed on.
    case cueTags
    /// EXT-X-DATERANGE tags that were written: new ranges and later additions to them.
    case dateRanges
    /// Ranges that ended before the first published segment.
    case expiredDateRanges
    /// Ranges whose START-DATE is absent or cannot be read.
    case malformedDateRanges
    /// Attributes that the upstream changed. A published attribute cannot change (RFC 8216 §4.3.2.7).
    case changedDateRangeAttributes
    /// Ends of ad breaks that never began.
    case unpairedBreakEnds
    /// Tags that no standard defines.
    case otherTags
    /// Ad markers of segments that had no frame for too long.
    case unplaced
    /// Ad markers that were dropped because there were too many at once.
    case excess
}
