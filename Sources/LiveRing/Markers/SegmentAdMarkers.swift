package import Playlist

/// The ad markers and date ranges that precede one segment in a playlist.
package struct SegmentAdMarkers: Equatable, Sendable {
    /// Cue tags that are passed on verbatim, in order.
    package var cueTags: [CueTag] = []
    /// Complete EXT-X-DATERANGE tags. A tag that adds to a range repeats the earlier attributes of the range.
    package var dateRanges: [DateRange] = []
    /// The splice commands that transport streams carry with the segment, in order.
    package var splices: [AnnouncedSplice] = []
}

/// A splice command of a date range, with the first segment whose tag contains it. Later tags repeat it.
package struct AnnouncedSplice: Equatable, Sendable {
    package enum Command: String, CaseIterable, Sendable {
        /// The section of SCTE35-OUT.
        case out = "OUT"
        /// The section of SCTE35-CMD.
        case command = "CMD"
        /// The section of SCTE35-IN.
        case `in` = "IN"
        /// The beginning of a cue tag's break that came without a section.
        case begin = "BEGIN"
        /// The end of a cue tag's break whose beginning came without a section.
        case end = "END"
    }

    /// The index in `SegmentAdMarkers.dateRanges`.
    package let range: Int
    package let command: Command

    package init(_ command: Command, ofRange range: Int) { (self.range, self.command) = (range, command) }
}

extension AnnouncedSplice {
    /// `0:OUT`
    var text: String { "\(range):\(command.rawValue)" }

    /// nil if `text` cannot have been written by the `text` property.
    init?(text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let range = Int(parts[0]), range >= 0, let command = Command(rawValue: String(parts[1]))
        else { return nil }
        self.init(command, ofRange: range)
    }
}

/// The ad markers and date ranges of one upstream segment.
package struct UpstreamAdMarkers: Equatable, Sendable {
    package var mediaSequence: UInt64
    package var cueTags: [CueTag]
    /// The date ranges before the segment, and ranges added with it that precede no other segment.
    package var dateRanges: [DateRange]
    /// The splice commands that the upstream lists in the same way, with dates of the upstream.
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
