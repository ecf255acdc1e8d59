import PlaylistRules

extension Limits {
    // MARK: - docs/spool.md

    /// The times at which the disk took nothing while a segment that came then was to be written, or was tried once more.
    func fullDisks(forArrivals arrivals: [Int]) -> [Int] {
        history.all(.fullDisk).filter { disk in
            arrivals.contains { $0 > disk.at - hold(before: disk.at) && $0 < disk.end + longestSegment + 2000 }
        }.map(\.at)
    }

    /// The time before `end` in which something ran for so long.
    func time(awake: Int, before end: Int) -> Int {
        var time = awake
        while time < awake + asleep(from: end - time, to: end) { time = awake + asleep(from: end - time, to: end) }
        return time
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
    /// Whether a segment was to be written while the disk took nothing: gaps that were listed since stand between the media
    /// before it and the media after it.
    func mayBeUnwritten(_ segment: Broadcast.Segment) -> Bool {
        guard let start = limits.fullDisks(forArrivals: arrivals[segment.index]).min() else { return false }
        let before = published.last { $0.source.map { source[$0].segment <= segment.index } ?? false }?.segment ?? 0
        let after = published.first { $0.source.map { source[$0].segment >= segment.index } ?? false }?.segment
        let range = before...max(before, after ?? record.segments.count - 1)
        return record.segments[range].contains { $0.at >= start && $0.text.isGap }
    }

    /// Whether the same bytes were broadcast again: which showing was written cannot be told.
    func hasOtherShowing(_ places: [Int]) -> Bool {
        guard history.has(.fullDisk) else { return false }
        let known = Set(published.map(\.identity))
        return places.allSatisfy { known.contains(source[$0].identity) }
    }
}
