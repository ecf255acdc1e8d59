package import Playlist

/// Date ranges told of before a list begins, as far as they reach into it: a range stays in every list that has a
/// segment of it (draft-pantos-hls-rfc8216bis §6.2.1).
///
/// The newest state of each, in the order in which they were first told.
package struct OpenDateRanges: Equatable, Sendable {
    /// A break whose end is never told is given up after so long, or after the length that was planned.
    static let longestWithoutEnd = Duration.seconds(3600)
    /// Ranges kept at most; the oldest go first.
    static let limit = 64

    package private(set) var ranges: [DateRange] = []

    init(_ ranges: [DateRange] = []) { self.ranges = ranges }

    /// A tag came: another range, or more of one that is known.
    mutating func merge(_ tag: DateRange) {
        if let index = ranges.firstIndex(where: { $0.id == tag.id }) {
            ranges[index].add(tag)
        } else {
            ranges.append(tag)
            if ranges.count > Self.limit { ranges.removeFirst() }
        }
    }

    /// Lets go of what ended before a list whose first segment is of `date`.
    mutating func removeAll(endingBefore date: ProgramDateTime) {
        ranges = ranges.filter { reaches($0, date) }
    }

    private func reaches(_ range: DateRange, _ date: ProgramDateTime) -> Bool {
        guard let start = range.startDate else { return false }
        if start >= date { return true }
        if let end = range.end { return end > date }
        if range.isEndOnNext { return !isFollowed(range, from: start, by: date) }
        guard range.plannedDuration != nil || range[splice: .out] != nil else { return false }  // a moment
        let planned = range.plannedDuration ?? .zero
        // What begins with a command that is no break ends as planned: nobody says so.
        let mayRunOver = range[splice: .command] == nil
        return start.advanced(by: mayRunOver ? max(Self.longestWithoutEnd, planned) : planned) > date
    }

    /// END-ON-NEXT: the next range of its class ends it.
    private func isFollowed(_ range: DateRange, from start: ProgramDateTime, by date: ProgramDateTime) -> Bool {
        ranges.contains { other in
            guard other.className == range.className, let next = other.startDate else { return false }
            return next > start && next <= date
        }
    }
}
