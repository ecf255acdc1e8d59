import Playlist

// Where a list that counts anew goes on: by the addresses, by the list that was followed before, by date, or at its edge.

extension SegmentCursor.Position {
    /// It lists, under other numbers, segments that are known.
    func rejoinPointByURL(in list: MediaPlaylist) -> SegmentCursor.RejoinPoint? {
        guard let shift = knownSegments.numberOffset(to: list), shift != 0 else { return nil }
        return SegmentCursor.RejoinPoint(
            anchor: .url, next: next &+ UInt64(bitPattern: shift), known: KnownSegments(list))
    }

    /// Whether a list is of those that were followed before: gone on with where they were left, unless that is so long
    /// ago that it would be a burst of old news. One in which nothing is new is an old one, and not believed.
    mutating func classifyAsPreviousOrigin(_ list: MediaPlaylist, window: Range<UInt64>, policy: CursorPolicy)
        -> Verdict?
    {
        let shifts = previousOrigins.lazy.map { (former: $0, shift: $0.known.numberOffset(to: list)) }
        guard let (former, found) = shifts.first(where: { $0.shift != nil }), let shift = found else { return nil }
        let next = former.next &+ UInt64(bitPattern: shift)
        if window.upperBound <= next { return .stale(run: recordStale(window)) }
        guard JoinPoint(mediaSequence: next).canJoin(list) else { return .reset(rejoinPoint(in: list, policy: policy)) }
        let known = shift == 0 ? former.known : KnownSegments(list)
        return .reset(SegmentCursor.RejoinPoint(anchor: .previousOrigin, next: next, known: known))
    }

    /// The place by date, or else as if joining.
    func rejoinPoint(in list: MediaPlaylist, policy: CursorPolicy) -> SegmentCursor.RejoinPoint {
        if let number = numberByDate(in: list) {
            return SegmentCursor.RejoinPoint(anchor: .programDateTime, next: number, known: KnownSegments(list))
        }
        return SegmentCursor.RejoinPoint(
            anchor: .liveEdge, next: policy.joinNumber(in: list), known: KnownSegments(list))
    }

    private func numberByDate(in list: MediaPlaylist) -> UInt64? {
        if let end = knownSegments.endDate(before: next) { return list.firstSegment(from: end) }
        // What is followed has no dates; what was followed before it had.
        let end = previousOrigins.lazy.compactMap { $0.known.endDate(before: $0.next) }.first
        return end.flatMap { JoinPoint(date: $0).joinNumber(in: list) }
    }
}

// MARK: - Numbers that are ahead

extension SegmentCursor.Position {
    /// A list far ahead by its numbers has, by its dates, what was taken already and what comes next, or it is farther
    /// ahead than it can have slid in the time that has passed: the numbers jumped, and nothing slid past us.
    func isFarAhead(_ list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration) -> Bool {
        guard window.lowerBound > next else { return false }
        return hasFetchedByDate(list)
            || !isPlausible(window.lowerBound - next, of: list, in: now - grewAt + Self.slack(list))
    }

    private func hasFetchedByDate(_ list: MediaPlaylist) -> Bool {
        // Nothing stands before the first segment that a date could be counted on from.
        guard let end = knownSegments.endDate(before: next), let first = list.segments.first,
            let date = first.programDateTime
        else { return false }
        return first.precedes(end, startingAt: date) && list.firstSegment(from: end) != nil
    }

    /// Known addresses under numbers that are ahead are names that came round again, or advertisements, if there was
    /// time enough for all that the numbers say is new.
    func explainsRepeatedURLs(in list: MediaPlaylist, window: Range<UInt64>, at now: Duration) -> Bool {
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
