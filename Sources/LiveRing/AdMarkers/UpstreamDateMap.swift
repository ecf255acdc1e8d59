import Playlist

/// The upstream's dates on ours. They are the same as long as both clocks run; where ours could not follow, each
/// stretch of the upstream's has its own distance.
struct UpstreamDateMap: Equatable, Sendable {
    private struct DateOffset: Equatable, Sendable {
        let start: ProgramDateTime
        /// Milliseconds from the upstream's date to ours.
        let milliseconds: Int64
    }

    private static let limit = 64

    private var offsets: [DateOffset] = []

    /// The upstream's `date` is our `published`.
    mutating func record(_ date: ProgramDateTime, as published: ProgramDateTime) {
        let (distance, overflows) = published.millisecondsSince1970.subtractingReportingOverflow(
            date.millisecondsSince1970)
        guard !overflows, offsets.last?.milliseconds != distance else { return }
        offsets.append(DateOffset(start: date, milliseconds: distance))
        if offsets.count > Self.limit { offsets.removeFirst() }
    }

    /// nil while the upstream has dated nothing.
    func published(_ date: ProgramDateTime) -> ProgramDateTime? {
        let stretch = offsets.last { $0.start <= date } ?? offsets.first
        return stretch.map { date.advanced(byMilliseconds: $0.milliseconds) }
    }
}

extension ProgramDateTime {
    /// Stays where it is when it would leave the calendar.
    func advanced(byMilliseconds milliseconds: Int64) -> ProgramDateTime {
        let (sum, overflows) = millisecondsSince1970.addingReportingOverflow(milliseconds)
        return overflows ? self : ProgramDateTime(millisecondsSince1970: sum)
    }

    func milliseconds(since other: ProgramDateTime) -> Int64 {
        let (distance, overflows) = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return overflows ? .max : distance
    }
}
