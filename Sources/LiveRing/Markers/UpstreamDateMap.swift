import Playlist
import Support

/// A map from the dates of the upstream to the published dates.
///
/// The offset between the two is constant while both clocks run alike. If the published clock cannot follow, each span
/// of upstream dates has its own offset.
struct UpstreamDateMap: Equatable, Sendable {
    private struct DateOffset: Equatable, Sendable {
        /// The upstream date from which the offset applies.
        let start: ProgramDateTime
        /// Milliseconds from the upstream date to the published date.
        let milliseconds: Int64
    }

    private static let limit = 64

    private var offsets: [DateOffset] = []

    /// Records that the upstream's `date` was published as `published`.
    mutating func record(_ date: ProgramDateTime, as published: ProgramDateTime) {
        let (distance, overflows) = published.millisecondsSince1970.subtractingReportingOverflow(
            date.millisecondsSince1970)
        guard !overflows, offsets.last?.milliseconds != distance else { return }
        offsets.append(DateOffset(start: date, milliseconds: distance))
        if offsets.count > Self.limit { offsets.removeFirst() }
    }

    /// The published date of the upstream's `date`; nil if no date was recorded yet.
    func published(_ date: ProgramDateTime) -> ProgramDateTime? {
        let offset = offsets.last { $0.start <= date } ?? offsets.first
        return offset.map { date.advanced(byMilliseconds: $0.milliseconds) }
    }
}
