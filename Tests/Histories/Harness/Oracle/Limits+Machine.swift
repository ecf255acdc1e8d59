extension Limits {
    // MARK: - docs/spool.md

    /// Whether a segment was to be written while the disk took nothing: its time is listed as a gap.
    static func mayBeUnwritten(_ segment: Broadcast.Segment, _ history: History) -> Bool {
        history.all(.fullDisk).contains { event in
            segment.end > event.at - hold(history) - 25_000 && segment.start < event.end + 2000
        }
    }

    /// How long nothing ran within a range.
    static func asleep(from start: Int, to end: Int, _ history: History) -> Int {
        history.events.filter { [.asleep, .slowDisk].contains($0.thing) }.reduce(0) { time, event in
            time + max(0, min(end, event.end + 2000) - max(start, event.at))
        }
    }
}
