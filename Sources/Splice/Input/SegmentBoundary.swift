/// What the upstream says of the boundary before an access unit.
enum SegmentBoundary: Equatable, Sendable {
    /// The access unit does not begin a segment.
    case none
    /// The segment continues the one before.
    case plain
    /// EXT-X-DISCONTINUITY precedes the segment.
    case tagged
    /// Segments before this one were lost, or the playlist was reset.
    case loss
}
