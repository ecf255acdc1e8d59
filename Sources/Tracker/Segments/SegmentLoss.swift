package import Fetch
import Playlist

/// Segments that will never be delivered, and the reason.
package struct SegmentLoss: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The segments left the playlist before it was loaded.
        case slidOut
        /// EXT-X-GAP.
        case gap
        /// No connection of a stream had the media.
        case neverSent
        /// No attempt succeeded. The failure of the last one; nil if none has ended.
        case unavailable(FetchFailure?)
        /// The media was an HTML page, or empty.
        case notMedia
        /// No attempt for the key that the segments need succeeded.
        case keyUnavailable(url: String, FetchFailure?)
        /// More segments were listed at once than may wait to be fetched.
        case tooMany
        /// Their time had been listed as a gap.
        case late
    }

    /// Why the segments are not waited for any longer.
    package enum Cause: String, CaseIterable, CodingKeyRepresentable, Encodable, Hashable, Sendable {
        /// The segments left the playlist before it was loaded.
        case leftPlaylist
        /// EXT-X-GAP.
        case gap
        /// The segment left the playlist, and is refused or has not arrived since.
        case gone
        /// Later segments were ready, or the playlist has ended, for as long as one segment is waited for.
        case overtaken
        /// Every attempt would fail the same way.
        case permanent
        /// The segment came when its time had been listed as a gap.
        case late
    }

    package let mediaSequences: Range<UInt64>
    package let reason: Reason
    package let cause: Cause
    /// Playing time of those segments that were listed, or of a stream's missing media; zero if it is not known.
    package var duration = Duration.zero

    /// The loss for the channel's timeline, on which the time of what is late is listed already.
    var withoutListedTime: SegmentLoss {
        var loss = self
        if cause == .late { loss.duration = .zero }
        return loss
    }

    var count: UInt64 { mediaSequences.upperBound - mediaSequences.lowerBound }
}

/// The segments lost since the last delivered one, whose metadata the next one carries.
struct SkippedSegments: Sendable {
    var isAfterDiscontinuity = false
    /// As of `TrackedSegment`.
    var repeatable = Duration.zero
    /// The newest of the lost segments that were listed.
    private(set) var segments: [MediaSegment] = []
    /// The newest date ranges that lost segments carried for their playlist.
    private(set) var listedDateRanges: [DateRange] = []

    private static let maxSegments = 64
    private static let maxDateRanges = 256

    /// All date ranges that no delivered segment carried.
    var allDateRanges: [DateRange] { listedDateRanges + segments.flatMap(\.dateRanges) }

    /// - Parameter listedDateRanges: as of `TrackedSegment`.
    mutating func recordLoss(of lost: [MediaSegment], listedDateRanges ranges: [DateRange] = []) {
        isAfterDiscontinuity = true
        segments = (segments + lost).suffix(Self.maxSegments)
        listedDateRanges = (listedDateRanges + ranges).suffix(Self.maxDateRanges)
    }
}
