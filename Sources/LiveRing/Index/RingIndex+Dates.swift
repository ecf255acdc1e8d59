import Playlist
package import Support

// Entries by date. Dates rise from entry to entry, except where the upstream's dates went back.

extension RingIndex {
    /// The index of the listed entry that is presented at `date`, else of the next one by date; nil if all end before.
    ///
    /// Where the dates went back a moment exists twice: the later entry counts.
    package func firstIndex(at date: ProgramDateTime) -> Int? {
        var next: Int?
        for span in spansOfRisingDates(from: listed.startIndex).reversed() {
            guard let index = firstIndex(in: span, where: { $0.programDateTimeEnd > date }) else { continue }
            if listed[index].programDateTime <= date { return index }
            if next.map({ listed[index].programDateTime < listed[$0].programDateTime }) ?? true { next = index }
        }
        return next
    }

    /// The index of the first listed entry from `start` on that begins at `date` or later; nil if none does.
    func firstIndex(from start: Int, beginningAtOrAfter date: ProgramDateTime) -> Int? {
        firstIndex(from: start) { $0.programDateTime >= date }
    }

    /// Whether a listed entry ends at `date` or later.
    func reaches(_ date: ProgramDateTime) -> Bool {
        spansOfRisingDates(from: listed.startIndex).contains { listed[$0.upperBound - 1].programDateTimeEnd >= date }
    }

    /// Whether the dates of `entry` are before those of `previous`, the entry before it.
    static func isRegression(_ entry: EntryFigures, after previous: EntryFigures?) -> Bool {
        guard let previous else { return false }
        return entry.programDateTime < previous.programDateTime
            || entry.programDateTimeEnd < previous.programDateTimeEnd
    }

    private func firstIndex(from start: Int, where isLater: (RingEntry) -> Bool) -> Int? {
        for span in spansOfRisingDates(from: start) {
            if let index = firstIndex(in: span, where: isLater) { return index }
        }
        return nil
    }

    /// - Parameter isLater: false for the entries of a span up to one, and true for those after it.
    private func firstIndex(in span: Range<Int>, where isLater: (RingEntry) -> Bool) -> Int? {
        var (low, high) = (span.lowerBound, span.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if isLater(listed[middle]) { high = middle } else { low = middle + 1 }
        }
        return low < span.upperBound ? low : nil
    }

    private func spansOfRisingDates(from start: Int) -> [Range<Int>] {
        let boundaries = indicesOfDateRegressions.filter { $0 > start && $0 < listed.endIndex }
        return zip([start] + boundaries, boundaries + [listed.endIndex]).map { $0..<$1 }.filter { !$0.isEmpty }
    }
}
