import Playlist

// Where to continue in a playlist with new numbers: by URL, by a previous origin, by date, or at the live edge.

extension SegmentCursor.Position {
    /// Returns where known segments continue under other numbers; nil if the URLs prove no renumbering.
    func rejoinPointByURL(in playlist: MediaPlaylist) -> SegmentCursor.RejoinPoint? {
        guard let offset = knownSegments.numberOffset(to: playlist), offset != 0 else { return nil }
        return SegmentCursor.RejoinPoint(
            method: .url, next: next &+ UInt64(bitPattern: offset), knownSegments: KnownSegments(playlist))
    }

    /// Returns the verdict on a playlist of a previous origin; nil for any other playlist.
    ///
    /// The verdict continues where that origin was left, unless this would cause a burst of old media. A playlist with
    /// nothing new is an old one, and is ignored.
    func classifyAsPreviousOrigin(
        _ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy
    ) -> Verdict? {
        let playlist = loaded.playlist
        let offsets = previousOrigins.lazy.map { (origin: $0, offset: $0.knownSegments.numberOffset(to: playlist)) }
        guard let (origin, found) = offsets.first(where: { $0.offset != nil }), let offset = found else { return nil }
        let next = origin.next &+ UInt64(bitPattern: offset)
        if loaded.window.upperBound <= next { return .stale(countingStale(loaded.window)) }
        guard JoinPoint(mediaSequence: next).canJoin(playlist) else {
            return .reset(rejoinPoint(in: playlist, policy: policy))
        }
        let known = offset == 0 ? origin.knownSegments : KnownSegments(playlist)
        return .reset(SegmentCursor.RejoinPoint(method: .previousOrigin, next: next, knownSegments: known))
    }

    /// Returns where to continue by date, or else at the live edge.
    func rejoinPoint(in playlist: MediaPlaylist, policy: CursorPolicy) -> SegmentCursor.RejoinPoint {
        let known = KnownSegments(playlist)
        if let number = numberByDate(in: playlist) {
            return SegmentCursor.RejoinPoint(method: .programDateTime, next: number, knownSegments: known)
        }
        return SegmentCursor.RejoinPoint(
            method: .liveEdge, next: policy.joinNumber(in: playlist), knownSegments: known)
    }

    private func numberByDate(in playlist: MediaPlaylist) -> UInt64? {
        if let end = knownSegments.endDate(before: next) { return playlist.firstSegment(from: end) }
        // The current numbering has no dates. A previous one may have had some.
        let end = previousOrigins.lazy.compactMap { $0.knownSegments.endDate(before: $0.next) }.first
        return end.flatMap { JoinPoint(date: $0).joinNumber(in: playlist) }
    }
}

// MARK: - Numbers that are ahead

extension SegmentCursor.Position {
    /// Whether a playlist that begins after `next` has jumped, so that nothing slid out of the window.
    ///
    /// Either its dates contain what was fetched already, or it is farther ahead than the elapsed time allows.
    func isImpossiblyFarAhead(_ loaded: SegmentCursor.LoadedPlaylist) -> Bool {
        guard loaded.window.lowerBound > next else { return false }
        let elapsed = loaded.loadedAt - grewAt
        return hasFetchedByDate(loaded.playlist)
            || !isPlausible(
                loaded.window.lowerBound - next, of: loaded.playlist, in: elapsed + Self.slack(loaded.playlist))
    }

    private func hasFetchedByDate(_ playlist: MediaPlaylist) -> Bool {
        // No date can be extrapolated for the first segment.
        guard let end = knownSegments.endDate(before: next), let first = playlist.segments.first,
            let date = first.programDateTime
        else { return false }
        return first.precedes(end, startingAt: date) && playlist.firstSegment(from: end) != nil
    }

    /// Whether known URLs under numbers that are ahead are repeated names, or ads that were inserted again.
    ///
    /// That is so if there was time enough for all segments that are new by their numbers.
    func explainsRepeatedURLs(in loaded: SegmentCursor.LoadedPlaylist) -> Bool {
        guard loaded.window.lowerBound >= next else { return false }
        let new = loaded.window.upperBound - next
        return isPlausible(new - min(new, Self.burst), of: loaded.playlist, in: loaded.loadedAt - grewAt)
    }

    /// Segments that may be listed before their time.
    private static let burst: UInt64 = 2

    /// The duration that an origin may list at once, however little time has passed.
    private static func slack(_ playlist: MediaPlaylist) -> Duration {
        min(JoinPoint.reach(playlist.targetDuration) * 2, .seconds(86_400))
    }

    /// Whether `count` segments of the playlist's average duration may have appeared within `elapsed`.
    private func isPlausible(_ count: UInt64, of playlist: MediaPlaylist, in elapsed: Duration) -> Bool {
        let average = max(.milliseconds(1), playlist.duration / max(1, playlist.segments.count))
        return Double(count) <= elapsed / average
    }
}
