extension Limits {
    // MARK: - docs/spool.md

    /// Whether a segment was to be written while the disk took nothing: its time is listed as a gap.
    func mayBeUnwritten(_ segment: Broadcast.Segment) -> Bool {
        history.all(.fullDisk).contains { event in
            segment.end > event.at - hold - 25_000 && segment.start < event.end + 2000
        }
    }

    /// How long nothing ran within a range.
    func asleep(from start: Int, to end: Int) -> Int {
        history.events.filter { [.asleep, .slowDisk].contains($0.thing) }.reduce(0) { time, event in
            time + max(0, min(end, event.end + 2000) - max(start, event.at))
        }
    }
}
