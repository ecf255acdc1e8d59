import Playlist

extension SegmentCursor {
    /// The relation of a playlist to the ones before it.
    enum Verdict {
        /// Equal numbers mean equal segments.
        case continuous
        /// Only numbers continue. The URLs have changed in two playlists in a row, and are ignored from now on.
        case continuousByNumber
        /// The playlist ends before `Position.next`, and is ignored.
        case stale(StalePlaylists)
        /// The numbers are new.
        case reset(RejoinPoint)
    }

    /// The point at which to continue in a playlist with new numbers.
    struct RejoinPoint: Sendable {
        let method: RejoinMethod
        let next: UInt64
        /// The known segments under the numbers of the playlist.
        let knownSegments: KnownSegments
    }
}

extension SegmentCursor.Position {
    typealias Verdict = SegmentCursor.Verdict

    /// Decides how a playlist relates to the ones before it. In each row the first condition that holds decides.
    ///
    /// | common numbers | condition | verdict |
    /// |---|---|---|
    /// | same segments | it reaches `next` | continuous |
    /// | | few stale playlists in a row, equal dates, or an edge that lags | stale |
    /// | | | reset by URL, else by date, else to the live edge |
    /// | none | it lists numbers around `next` | continuous |
    /// | | known URLs under other numbers, and not because names repeat | reset by URL |
    /// | | segments of a previous origin | reset to that origin, or stale |
    /// | | it begins after `next`, and not impossibly far | continuous |
    /// | | | reset by date, else to the live edge |
    /// | other segments | known URLs under other numbers | reset by URL |
    /// | | `Trust.numbers` | as for the same segments |
    /// | | segments of a previous origin | reset to that origin, or stale |
    /// | | `Trust.urlsAfterReset`, and it reaches `next` | continuous by number |
    /// | | | reset by date, else to the live edge |
    func classify(_ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy) -> Verdict {
        switch knownSegments.match(with: loaded.playlist) {
        case .sameDate: classifySameSegments(loaded, policy: policy, isDated: true)
        case .sameURL: classifySameSegments(loaded, policy: policy)
        case .noOverlap: classifyUnknownNumbers(loaded, policy: policy)
        case .differentSegments: classifyDifferentSegments(loaded, policy: policy)
        }
    }

    private func classifySameSegments(
        _ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy, isDated: Bool = false
    ) -> Verdict {
        guard loaded.window.upperBound < next else { return .continuous }
        let stale = countingStale(loaded.window)
        if stale.count <= policy.maxStalePlaylists || isDated || isLagging(loaded, stale, policy: policy) {
            return .stale(stale)
        }
        return .reset(rejoinPointByURL(in: loaded.playlist) ?? rejoinPoint(in: loaded.playlist, policy: policy))
    }

    private func classifyUnknownNumbers(
        _ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy
    ) -> Verdict {
        let endsBefore = loaded.window.upperBound < next
        guard endsBefore || loaded.window.lowerBound >= next else { return .continuous }
        if !explainsRepeatedURLs(in: loaded), let point = rejoinPointByURL(in: loaded.playlist) {
            return .reset(point)
        }
        if let verdict = classifyAsPreviousOrigin(loaded, policy: policy) { return verdict }
        guard endsBefore || isImpossiblyFarAhead(loaded) else { return .continuous }
        return .reset(rejoinPoint(in: loaded.playlist, policy: policy))
    }

    private func classifyDifferentSegments(
        _ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy
    ) -> Verdict {
        if let point = rejoinPointByURL(in: loaded.playlist) { return .reset(point) }
        if case .numbers = trust { return classifySameSegments(loaded, policy: policy) }
        if let verdict = classifyAsPreviousOrigin(loaded, policy: policy) { return verdict }
        if trust == .urlsAfterReset, loaded.window.upperBound >= next { return .continuousByNumber }
        return .reset(rejoinPoint(in: loaded.playlist, policy: policy))
    }

    /// Returns the stale playlists in a row, with one more that lists `window`.
    func countingStale(_ window: Range<UInt64>) -> SegmentCursor.StalePlaylists {
        SegmentCursor.StalePlaylists(
            count: (trust.stale?.count ?? 0) + 1, firstUpperBound: trust.stale?.firstUpperBound ?? window.upperBound)
    }

    /// Whether the playlist comes from an edge that lags and will catch up.
    ///
    /// Such an edge still lists part of the newest window. If it grows for long without catching up, it does not lag.
    private func isLagging(
        _ loaded: SegmentCursor.LoadedPlaylist, _ stale: SegmentCursor.StalePlaylists, policy: CursorPolicy
    ) -> Bool {
        guard loaded.window.upperBound > knownSegments.newest.lowerBound else { return false }
        let hasGrown = loaded.window.upperBound > stale.firstUpperBound
        return !hasGrown || loaded.loadedAt - grewAt <= loaded.playlist.targetDuration * policy.maxLag
    }
}
