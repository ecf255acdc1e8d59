import Playlist

/// The upstream's dates on ours. They are the same as long as both clocks run; where ours could not follow, each
/// stretch of the upstream's has its own distance.
struct DateMap: Equatable, Sendable {
    private struct Stretch: Equatable, Sendable {
        let start: ProgramDateTime
        /// Milliseconds from the upstream's date to ours.
        let distance: Int64
    }

    private static let limit = 64

    private var stretches: [Stretch] = []

    /// The upstream's `date` is our `published`.
    mutating func note(_ date: ProgramDateTime, is published: ProgramDateTime) {
        let (distance, overflows) = published.millisecondsSince1970.subtractingReportingOverflow(
            date.millisecondsSince1970)
        guard !overflows, stretches.last?.distance != distance else { return }
        stretches.append(Stretch(start: date, distance: distance))
        if stretches.count > Self.limit { stretches.removeFirst() }
    }

    /// nil while the upstream has dated nothing.
    func published(_ date: ProgramDateTime) -> ProgramDateTime? {
        let stretch = stretches.last { $0.start <= date } ?? stretches.first
        return stretch.map { date.moved(by: $0.distance) }
    }
}

extension ProgramDateTime {
    /// Stays where it is when it would leave the calendar.
    func moved(by milliseconds: Int64) -> ProgramDateTime {
        let (sum, overflows) = millisecondsSince1970.addingReportingOverflow(milliseconds)
        return overflows ? self : ProgramDateTime(millisecondsSince1970: sum)
    }

    func milliseconds(since other: ProgramDateTime) -> Int64 {
        let (distance, overflows) = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return overflows ? .max : distance
    }
}
