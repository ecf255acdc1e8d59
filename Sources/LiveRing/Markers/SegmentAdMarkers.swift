package import Playlist

/// The ad markers and date ranges that precede one segment in a playlist.
package struct SegmentAdMarkers: Equatable, Sendable {
    /// Cue tags that are passed on verbatim, in order.
    package var cueTags: [CueTag]
    /// Complete EXT-X-DATERANGE tags. A tag that adds to a range repeats the earlier attributes of the range.
    package var dateRanges: [DateRange]

    package init(cueTags: [CueTag] = [], dateRanges: [DateRange] = []) {
        self.cueTags = cueTags
        self.dateRanges = dateRanges
    }
}
