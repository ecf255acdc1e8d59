/// A dimension in which playlists are bounded. The raw values are the names in `/status.json`, events and documents.
package enum PlaylistLimit: String, CaseIterable, CodingKeyRepresentable, Encodable, Hashable, Sendable {
    /// Bytes of one line, and of one value with its variables substituted.
    case lineBytes
    /// Lines of the whole text. What follows them is not read.
    case lines
    case segments
    /// Lines before one segment, or in the head, that no field holds: cue tags, other tags and comments.
    case linesPerSegment
    /// The same lines in the whole playlist.
    case verbatimLines
    /// Lines after the last URI line that apply to the segment that is not listed yet.
    case trailingLines
    /// EXT-X-DEFINE tags.
    case variables
    /// Bytes of all values in which a variable was substituted.
    case expandedBytes
    /// Attributes of one tag.
    case attributes
    /// Keys in effect at once, one for each KEYFORMAT.
    case keyFormats
    /// EXT-X-DATERANGE tags.
    case dateRanges
    /// Bytes of the names and values of all date ranges.
    case dateRangeBytes
    /// EXT-X-PART, EXT-X-PRELOAD-HINT and EXT-X-RENDITION-REPORT tags, each counted by itself.
    case parts
    /// Variants, renditions, I-frame variants, session data and session keys, each counted by itself.
    case renditions
}
