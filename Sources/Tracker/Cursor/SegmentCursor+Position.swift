import Playlist

extension SegmentCursor {
    /// A position in the upstream's numbers, with what is known of the segments before it.
    package struct Position: Sendable {
        /// The first media sequence number that was not fetched yet.
        package var next: UInt64
        /// The time at which a playlist last listed something new.
        package var grewAt: Duration
        var knownSegments: KnownSegments
        var trust = Trust.urls(stale: nil)
        /// Numberings that were followed before the current one, newest first.
        var previousOrigins: [PreviousOrigin] = []

        /// The number of previous origins that are recognized.
        private static let maxPreviousOrigins = 3
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
        /// The media sequence numbers listed.
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

    /// Returns the trust after a playlist with that verdict.
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
    mutating func follow(_ loaded: SegmentCursor.LoadedPlaylist, policy: CursorPolicy) -> [SegmentCursor.Effect] {
        let verdict = classify(loaded, policy: policy)
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
        grewAt = loaded.loadedAt
        return effects
    }

    /// Segments of an earlier numbering that are remembered.
    private static var rememberedSegments: Int { 128 }

    private mutating func rememberOrigin() {
        var knownSegments = knownSegments
        knownSegments.keepNewest(Self.rememberedSegments)
        previousOrigins.insert(SegmentCursor.PreviousOrigin(next: next, knownSegments: knownSegments), at: 0)
        if previousOrigins.count > Self.maxPreviousOrigins { previousOrigins.removeLast() }
    }
}
