extension Limits {
    // MARK: - docs/spool.md

    /// Whether a segment was to be written while the disk took nothing: its time is listed as a gap.
    func mayBeUnwritten(_ segment: Broadcast.Segment) -> Bool {
        history.all(.fullDisk).contains { event in
            segment.end > event.at - hold - 25_000 && segment.start < event.end + 2000
        }
    }

    /// How long nothing ran within a range, or the disk did not even take the journal.
    func asleep(from start: Int, to end: Int) -> Int {
        let events = history.events.filter {
            FaultyDisk.takesNoJournal($0) || [.asleep, .slowDisk].contains($0.thing)
        }
        return events.reduce(0) { time, event in
            time + max(0, min(end, event.end + 2000) - max(start, event.at))
        }
    }
}

extension Oracle {
    /// Whether the same bytes were broadcast again: which showing was written cannot be told.
    func hasOtherShowing(_ places: [Int]) -> Bool {
        guard history.has(.fullDisk) else { return false }
        let known = Set(published.map(\.identity))
        return places.allSatisfy { known.contains(source[$0].identity) }
    }
}
