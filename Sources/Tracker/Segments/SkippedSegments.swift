import Playlist

/// The segments lost since the last delivered one, whose metadata the next one carries.
struct SkippedSegments: Sendable {
    /// Whether the next segment is not continuous with the last delivered one.
    private(set) var isAfterDiscontinuity = false
    /// The newest of the lost segments that were listed.
    private(set) var segments: [MediaSegment] = []
    /// The newest date ranges that lost segments carried for their playlist.
    private(set) var listedDateRanges: [DateRange] = []

    private static let maxSegments = 64
    private static let maxDateRanges = 256

    /// All date ranges that no delivered segment carried.
    var allDateRanges: [DateRange] { listedDateRanges + segments.flatMap(\.dateRanges) }

    mutating func recordDiscontinuity() { isAfterDiscontinuity = true }

    /// - Parameter listedDateRanges: as of `TrackedSegment`.
    mutating func recordLoss(of lost: [MediaSegment], listedDateRanges ranges: [DateRange] = []) {
        isAfterDiscontinuity = true
        segments = (segments + lost).suffix(Self.maxSegments)
        listedDateRanges = (listedDateRanges + ranges).suffix(Self.maxDateRanges)
    }
}
