extension Limits {
    // MARK: - docs/spool.md

    /// Whether a segment was to be written while the disk took nothing: its time is listed as a gap.
    static func mayBeUnwritten(_ segment: Broadcast.Segment, _ history: History) -> Bool {
        history.all(.fullDisk).contains { event in
            segment.end > event.at - hold(history) - 25_000 && segment.start < event.end + 2000
        }
    }

    /// Whether the same bytes were broadcast again: which showing was written cannot be told.
    static func hasOtherShowing(_ places: [Int], _ oracle: Oracle) -> Bool {
        guard oracle.history.has(.fullDisk) else { return false }
        let known = Set(oracle.published.map(\.identity))
        return places.allSatisfy { known.contains(oracle.source[$0].identity) }
    }

    /// How long nothing ran within a range, or the disk did not even take the journal.
    static func asleep(from start: Int, to end: Int, _ history: History) -> Int {
        history.events.filter { FaultyDisk.takesNoJournal($0) || [.asleep, .slowDisk].contains($0.thing) }.reduce(0) {
            time, event in
            time + max(0, min(end, event.end + 2000) - max(start, event.at))
        }
    }
}
