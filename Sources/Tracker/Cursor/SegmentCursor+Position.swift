import Playlist
import Support

extension SegmentCursor {
    /// A position in the upstream's numbers, with what is known of the segments before it.
    package struct Position: Sendable {
        /// The first media sequence number that was not fetched yet.
        package var next: UInt64
        /// The time at which a playlist last listed something new.
        package var grewAt: Duration
        /// Whether a playlist has listed something new.
        fileprivate(set) var hasGrown = false
        fileprivate var knownSegments: KnownSegments
        fileprivate var trust = Trust.urls(stale: nil)
        /// Numberings that were followed before the current one, newest first.
        fileprivate var previousOrigins: [PreviousOrigin] = []

        fileprivate let policy: CursorPolicy

        private static let maxPreviousOrigins = 3

        init(joining loaded: LoadedPlaylist, at next: UInt64, policy: CursorPolicy) {
            (self.next, grewAt, self.policy) = (next, loaded.loadedAt, policy)
            knownSegments = KnownSegments(loaded.playlist)
        }
    }

    /// Which properties identify a segment in the next playlist, and whether the playlists are up to date.
    enum Trust: Equatable, Sendable {
        /// URLs and numbers. `stale` is set while playlists end before `Position.next`.
        case urls(stale: StalePlaylists?)
        /// URLs and numbers, right after a reset to unknown URLs. If the next playlist has other URLs again, the URLs
        /// change at each refresh and say nothing.
        case urlsAfterReset
        /// Numbers only, until a known URL appears under another number.
        case numbers(stale: StalePlaylists?)
    }

    /// Consecutive playlists that ended before `Position.next`.
    struct StalePlaylists: Equatable, Sendable {
        let count: Int
        /// One past the last media sequence number of the first of them.
        let firstUpperBound: UInt64
    }

    /// The position in a numbering that was followed before, so that a short answer of another origin does no harm.
    struct PreviousOrigin: Sendable {
        let next: UInt64
        let knownSegments: KnownSegments
    }

    /// A media playlist that has segments, and when it was loaded.
    struct LoadedPlaylist {
        let playlist: MediaPlaylist
        let window: Range<UInt64>
        let loadedAt: Duration
    }
}

extension SegmentCursor.Trust {
    var stale: SegmentCursor.StalePlaylists? {
        switch self {
        case .urls(let stale), .numbers(let stale): stale
        case .urlsAfterReset: nil
        }
    }

    func following(_ verdict: SegmentCursor.Verdict) -> SegmentCursor.Trust {
        switch (verdict, self) {
        case (.continuousByNumber, _): .numbers(stale: nil)
        case (.continuous, .numbers): .numbers(stale: nil)
        case (.continuous, .urls), (.continuous, .urlsAfterReset): .urls(stale: nil)
        case (.stale(let stale), .numbers): .numbers(stale: stale)
        case (.stale(let stale), .urls), (.stale(let stale), .urlsAfterReset): .urls(stale: stale)
        case (.reset(let point), _) where point.method == .url: .urls(stale: nil)
        case (.reset, .numbers): .numbers(stale: nil)
        case (.reset(let point), .urls), (.reset(let point), .urlsAfterReset):
            point.method == .previousOrigin ? .urls(stale: nil) : .urlsAfterReset
        }
    }
}

extension SegmentCursor.Position {
    /// Moves to what is new in a playlist, according to its verdict.
    mutating func follow(_ loaded: SegmentCursor.LoadedPlaylist) -> [SegmentCursor.Effect] {
        let verdict = classify(loaded)
        trust = trust.following(verdict)
        switch verdict {
        case .continuous, .continuousByNumber: return advance(through: loaded)
        case .stale(let stale): return [.stale(count: stale.count)]
        case .reset(let point):
            if point.method != .url { rememberOrigin() }
            (next, knownSegments) = (point.next, point.knownSegments)
            return [.reset(point.method)] + advance(through: loaded)
        }
    }

    /// Moves past the segments that the playlist lists from `next` on.
    mutating func advance(through loaded: SegmentCursor.LoadedPlaylist) -> [SegmentCursor.Effect] {
        let (playlist, window) = (loaded.playlist, loaded.window)
        var effects: [SegmentCursor.Effect] = []
        if next < window.lowerBound {
            effects.append(.slidOut(lost: next..<window.lowerBound))
            next = window.lowerBound
        }
        if case .numbers = trust {
            knownSegments = KnownSegments(playlist)
        } else {
            knownSegments.update(from: playlist)
        }
        guard next < window.upperBound else { return effects }
        effects += playlist.fetchEffects(for: next..<window.upperBound)
        next = window.upperBound
        (grewAt, hasGrown) = (loaded.loadedAt, true)
        return effects
    }

    private mutating func rememberOrigin() {
        var knownSegments = knownSegments
        knownSegments.keepNewest(128)
        previousOrigins.insert(SegmentCursor.PreviousOrigin(next: next, knownSegments: knownSegments), at: 0)
        if previousOrigins.count > Self.maxPreviousOrigins { previousOrigins.removeLast() }
    }
}

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
    /// | | equal dates | stale |
    /// | | it lists much fewer segments than any before | reset to the live edge |
    /// | | few stale playlists in a row, or an edge that lags | stale |
    /// | | | reset by URL, else by date, else to the live edge |
    /// | none | it lists numbers around `next` | continuous |
    /// | | known URLs under other numbers, and not because names repeat | reset by URL |
    /// | | segments of a previous origin | reset to that origin, or stale |
    /// | | it begins at `next` or after it, not impossibly far, and not with what was fetched by its dates | continuous |
    /// | | by its dates all of it was fetched, for as long as an edge may lag | stale |
    /// | | | reset by date, else to the live edge |
    /// | other segments | known URLs under other numbers | reset by URL |
    /// | | `Trust.numbers` | as for the same segments |
    /// | | segments of a previous origin | reset to that origin, or stale |
    /// | | `Trust.urlsAfterReset`, it reaches `next`, and no date differs | continuous by number |
    /// | | by its dates all of it was fetched, for as long as an edge may lag | stale |
    /// | | | reset by date, else to the live edge |
    private func classify(_ loaded: SegmentCursor.LoadedPlaylist) -> Verdict {
        switch knownSegments.match(with: loaded.playlist) {
        case .sameDate: classifySameSegments(loaded, isDated: true)
        case .sameURL: classifySameSegments(loaded)
        case .noOverlap: classifyUnknownNumbers(loaded)
        case .differentSegments: classifyDifferentSegments(loaded)
        }
    }

    private func classifySameSegments(_ loaded: SegmentCursor.LoadedPlaylist, isDated: Bool = false) -> Verdict {
        guard loaded.window.upperBound < next else { return .continuous }
        let stale = countingStale(loaded.window)
        if !isDated, knownSegments.outgrew(loaded.playlist) { return .reset(rejoinPoint(in: loaded.playlist)) }
        if stale.count <= policy.maxStalePlaylists || isDated || isLagging(loaded, stale) {
            return .stale(stale)
        }
        return .reset(rejoinPointByURL(in: loaded.playlist) ?? rejoinPoint(in: loaded.playlist))
    }

    private func classifyUnknownNumbers(_ loaded: SegmentCursor.LoadedPlaylist) -> Verdict {
        let endsBefore = loaded.window.upperBound < next
        guard endsBefore || loaded.window.lowerBound >= next else { return .continuous }
        if !explainsRepeatedURLs(in: loaded), let point = rejoinPointByURL(in: loaded.playlist) {
            return .reset(point)
        }
        if let verdict = classifyAsPreviousOrigin(loaded) { return verdict }
        guard endsBefore || isImpossiblyFarAhead(loaded) else { return .continuous }
        return rejoin(loaded)
    }

    private func classifyDifferentSegments(_ loaded: SegmentCursor.LoadedPlaylist) -> Verdict {
        if let point = rejoinPointByURL(in: loaded.playlist) { return .reset(point) }
        if case .numbers = trust { return classifySameSegments(loaded) }
        if let verdict = classifyAsPreviousOrigin(loaded) { return verdict }
        if trust == .urlsAfterReset, loaded.window.upperBound >= next, !hasOtherDates(loaded.playlist) {
            return .continuousByNumber
        }
        return rejoin(loaded)
    }

    /// Whether a known number has another date, so that an encoder has restarted once more.
    private func hasOtherDates(_ playlist: MediaPlaylist) -> Bool {
        zip(playlist.segments, playlist.programDateTimes).contains { segment, date in
            guard let date, let end = knownSegments.endDate(before: segment.mediaSequence &+ 1) else { return false }
            return date.advanced(by: segment.duration).distance(to: end) > playlist.targetDuration
        }
    }

    /// Returns the verdict on a playlist with new numbers and names. One that was cut short, or comes from an edge that lags,
    /// lists what was fetched under other names, or what is older than the channel.
    private func rejoin(_ loaded: SegmentCursor.LoadedPlaylist) -> Verdict {
        guard wasFetchedByDate(loaded.playlist) else { return .reset(rejoinPoint(in: loaded.playlist)) }
        let stale = countingStale(loaded.window)
        let isRecent = loaded.loadedAt - grewAt <= JoinPoint.lag(loaded.playlist)
        return isRecent ? .stale(stale) : .reset(rejoinPoint(in: loaded.playlist))
    }

    /// Whether the dates of a playlist end at most a join's reach before the end of what was fetched.
    private func wasFetchedByDate(_ playlist: MediaPlaylist) -> Bool {
        guard let end = knownSegments.endDate(before: next), let last = playlist.segments.last,
            let date = playlist.programDateTimes.last ?? nil, playlist.firstSegment(from: end) == nil
        else { return false }
        return date.advanced(by: last.duration).distance(to: end) <= JoinPoint.reach(playlist.targetDuration)
    }

    /// Returns the stale playlists in a row, with one more that lists `window`.
    private func countingStale(_ window: Range<UInt64>) -> SegmentCursor.StalePlaylists {
        SegmentCursor.StalePlaylists(
            count: (trust.stale?.count ?? 0) + 1, firstUpperBound: trust.stale?.firstUpperBound ?? window.upperBound)
    }

    /// Whether the playlist comes from an edge that lags and will catch up.
    ///
    /// Such an edge still lists part of the newest window, or ends shortly before it. If it grows for long without catching
    /// up, it does not lag.
    private func isLagging(_ loaded: SegmentCursor.LoadedPlaylist, _ stale: SegmentCursor.StalePlaylists) -> Bool {
        let (end, longest) = (loaded.window.upperBound, JoinPoint.lag(loaded.playlist))
        let isNear = isPlausible(next - end, of: loaded.playlist, in: longest)
        guard end > knownSegments.newest.lowerBound || isNear else { return false }
        return end <= stale.firstUpperBound || loaded.loadedAt - grewAt <= longest
    }

    // MARK: - Where to continue

    // In a playlist with new numbers: by URL, by a previous origin, by date, or at the live edge.

    /// Returns where known segments continue under other numbers; nil if the URLs prove no renumbering.
    private func rejoinPointByURL(in playlist: MediaPlaylist) -> SegmentCursor.RejoinPoint? {
        guard let offset = knownSegments.numberOffset(to: playlist), offset != 0 else { return nil }
        // What the playlist does not list stays known: it may be cut short.
        return SegmentCursor.RejoinPoint(
            method: .url, next: next &+ UInt64(bitPattern: offset),
            knownSegments: knownSegments.renumbered(by: offset) ?? KnownSegments(playlist))
    }

    /// Returns the verdict on a playlist of a previous origin; nil for any other playlist.
    ///
    /// The verdict continues where that origin was left, unless this would cause a burst of old media. A playlist with
    /// nothing new is an old one, and is ignored.
    private func classifyAsPreviousOrigin(_ loaded: SegmentCursor.LoadedPlaylist) -> Verdict? {
        let playlist = loaded.playlist
        let offsets = previousOrigins.lazy.map { (origin: $0, offset: $0.knownSegments.numberOffset(to: playlist)) }
        guard let (origin, found) = offsets.first(where: { $0.offset != nil }), let offset = found else { return nil }
        let next = origin.next &+ UInt64(bitPattern: offset)
        if loaded.window.upperBound <= next { return .stale(countingStale(loaded.window)) }
        guard playlist.firstNumber(from: next) != nil else { return .reset(rejoinPoint(in: playlist)) }
        let known = offset == 0 ? origin.knownSegments : KnownSegments(playlist)
        return .reset(SegmentCursor.RejoinPoint(method: .previousOrigin, next: next, knownSegments: known))
    }

    /// Returns where to continue by date, or else at the live edge.
    private func rejoinPoint(in playlist: MediaPlaylist) -> SegmentCursor.RejoinPoint {
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

    // MARK: - Numbers that are ahead

    /// Whether a playlist that begins at `next` or after it has jumped, so that nothing slid out of the window.
    ///
    /// Either its dates contain what was fetched already, or it is farther ahead than the elapsed time allows.
    private func isImpossiblyFarAhead(_ loaded: SegmentCursor.LoadedPlaylist) -> Bool {
        guard loaded.window.lowerBound >= next else { return false }
        let elapsed = loaded.loadedAt - grewAt
        // An origin may list so much at once, however little time has passed.
        let slack = min(JoinPoint.reach(loaded.playlist.targetDuration) * 2, .seconds(86_400))
        return hasFetchedByDate(loaded.playlist)
            || !isPlausible(loaded.window.lowerBound - next, of: loaded.playlist, in: elapsed + slack)
    }

    private func hasFetchedByDate(_ playlist: MediaPlaylist) -> Bool {
        // No date can be extrapolated for the first segment.
        guard let end = knownSegments.endDate(before: next), let first = playlist.segments.first,
            let date = first.programDateTime
        else { return false }
        return first.precedes(end, startingAt: date)
            && (playlist.firstSegment(from: end) != nil || wasFetchedByDate(playlist))
    }

    /// Whether known URLs under numbers that are ahead are repeated names, or ads that were inserted again.
    ///
    /// That is so if there was time enough for all segments that are new by their numbers.
    private func explainsRepeatedURLs(in loaded: SegmentCursor.LoadedPlaylist) -> Bool {
        guard loaded.window.lowerBound >= next else { return false }
        let new = loaded.window.upperBound - next
        return isPlausible(new - min(new, Self.burst), of: loaded.playlist, in: loaded.loadedAt - grewAt)
    }

    /// Segments that may be listed before their time.
    private static let burst: UInt64 = 2

    /// Whether `count` segments of the playlist's average duration last no longer than `elapsed`.
    private func isPlausible(_ count: UInt64, of playlist: MediaPlaylist, in elapsed: Duration) -> Bool {
        let average = max(.milliseconds(1), playlist.duration / max(1, playlist.segments.count))
        return Double(count) <= elapsed / average
    }
}
