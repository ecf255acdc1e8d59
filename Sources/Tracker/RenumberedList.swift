import Playlist

// Where a list that counts anew goes on: by the addresses, by the list that was followed before, by date, or at its edge.

extension SegmentCursor.Position {
    /// It lists, under other numbers, segments that are known.
    func renumbered(_ list: MediaPlaylist) -> SegmentCursor.Place? {
        guard let shift = known.shift(to: list), shift != 0 else { return nil }
        return SegmentCursor.Place(
            anchor: .address, next: next &+ UInt64(bitPattern: shift), known: KnownSegments(list))
    }

    /// Whether a list is of those that were followed before: gone on with where they were left, unless that is so long
    /// ago that it would be a burst of old news. One in which nothing is new is an old one, and not believed.
    mutating func judgeFormer(_ list: MediaPlaylist, _ window: Range<UInt64>, _ policy: CursorPolicy) -> Verdict? {
        let shifts = former.lazy.map { (former: $0, shift: $0.known.shift(to: list)) }
        guard let (former, found) = shifts.first(where: { $0.shift != nil }), let shift = found else { return nil }
        let next = former.next &+ UInt64(bitPattern: shift)
        if window.upperBound <= next { return .stale(run: noteStale(window)) }
        guard JoinPoint(mediaSequence: next).isNear(the: list) else { return .reset(anchored(in: list, policy)) }
        let known = shift == 0 ? former.known : KnownSegments(list)
        return .reset(SegmentCursor.Place(anchor: .former, next: next, known: known))
    }

    /// The place by date, or else as if joining.
    func anchored(in list: MediaPlaylist, _ policy: CursorPolicy) -> SegmentCursor.Place {
        if let number = dated(in: list) {
            return SegmentCursor.Place(anchor: .programDateTime, next: number, known: KnownSegments(list))
        }
        return SegmentCursor.Place(anchor: .edge, next: policy.joinNumber(in: list), known: KnownSegments(list))
    }

    private func dated(in list: MediaPlaylist) -> UInt64? {
        if let end = known.endDate(before: next) { return list.firstSegment(from: end) }
        // What is followed has no dates; what was followed before it had.
        let end = former.lazy.compactMap { $0.known.endDate(before: $0.next) }.first
        return end.flatMap { JoinPoint(date: $0).number(in: list) }
    }
}

// MARK: - Numbers that are ahead

extension SegmentCursor.Position {
    /// A list far ahead by its numbers has, by its dates, what was taken already and what comes next, or it is farther
    /// ahead than it can have slid in the time that has passed: the numbers jumped, and nothing slid past us.
    func isFarAhead(_ list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration) -> Bool {
        guard window.lowerBound > next else { return false }
        return hasTakenByDate(list)
            || !isPlausible(window.lowerBound - next, of: list, in: now - grewAt + Self.slack(list))
    }

    private func hasTakenByDate(_ list: MediaPlaylist) -> Bool {
        // Nothing stands before the first segment that a date could be counted on from.
        guard let end = known.endDate(before: next), let first = list.segments.first, let date = first.programDateTime
        else { return false }
        return first.precedes(end, from: date) && list.firstSegment(from: end) != nil
    }

    /// Known addresses under numbers that are ahead are names that came round again, or advertisements, if there was
    /// time enough for all that the numbers say is new.
    func explainsNames(_ list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration) -> Bool {
        guard window.lowerBound >= next else { return false }
        let new = window.upperBound - next
        return isPlausible(new - min(new, Self.burst), of: list, in: now - grewAt)
    }

    /// Segments that may be listed before their time.
    private static let burst: UInt64 = 2

    /// What an origin may list at once, however little time has passed.
    private static func slack(_ list: MediaPlaylist) -> Duration {
        min(JoinPoint.reach(list.targetDuration) * 2, .seconds(86_400))
    }

    /// Whether `count` segments as long as those of `list` may have come in `span`.
    private func isPlausible(_ count: UInt64, of list: MediaPlaylist, in span: Duration) -> Bool {
        let typical = max(.milliseconds(1), list.duration / max(1, list.segments.count))
        return Double(count) <= span / typical
    }
}
