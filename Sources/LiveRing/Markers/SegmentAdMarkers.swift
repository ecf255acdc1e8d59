package import Playlist

/// The ad markers and date ranges that precede one segment in a playlist.
package struct SegmentAdMarkers: Equatable, Sendable {
    /// Cue tags that are passed on verbatim, in order.
    package var cueTags: [CueTag] = []
    /// Complete EXT-X-DATERANGE tags. A tag that adds to a range repeats the earlier attributes of the range.
    package var dateRanges: [DateRange] = []
}

/// The ad markers and date ranges of one upstream segment.
package struct UpstreamAdMarkers: Equatable, Sendable {
    package var mediaSequence: UInt64
    package var cueTags: [CueTag]
    /// The date ranges before the segment, and those that were added with it and precede no other segment.
    package var dateRanges: [DateRange]
    /// The splice commands that the upstream lists likewise, with dates of the upstream.
    package var splices: [PublishedSpliceCommand]
    /// The number of tags that are neither cue tags nor defined by the draft. They are not passed on, because they might
    /// not apply to the published segments.
    package var otherTags: Int

    package init(
        mediaSequence: UInt64, cueTags: [CueTag] = [], dateRanges: [DateRange] = [],
        splices: [PublishedSpliceCommand] = [], otherTags: Int = 0
    ) {
        self.mediaSequence = mediaSequence
        self.cueTags = cueTags
        self.dateRanges = dateRanges
        self.splices = splices
        self.otherTags = otherTags
    }
}
