package import Playlist

/// Tracks which media segments of one rendition still have to be fetched (RFC 8216 §6.3.3, §6.3.4).
///
/// The cursor reads every playlist that was loaded, in order, and returns what is new in it. Media sequence numbers
/// identify segments as long as the upstream keeps them (§6.2.2); otherwise URLs and dates do.
package struct SegmentCursor: Sendable {
    package enum State: Sendable {
        case unjoined
        case following(Position)
        /// The position of a live playlist when it ended; nil for a playlist that was finished when it was found.
        case ended(Position?)
    }

    /// Ranges are media sequence numbers of the playlist just read, except in `slidOut`.
    package enum Effect: Equatable, Sendable {
        case fetch(Range<UInt64>)
        /// Segments marked EXT-X-GAP, not to be fetched.
        case gap(Range<UInt64>)
        /// Segments that left the playlist before it was loaded. A discontinuity follows.
        case slidOut(lost: Range<UInt64>)
        /// The playlist ends before what was fetched, and is ignored. `count` counts such playlists in a row.
        case stale(count: Int)
        /// The upstream restarted its numbers. A discontinuity follows, unless URLs prove the continuation.
        case reset(RejoinMethod)
        /// EXT-X-ENDLIST, or a playlist of type VOD: nothing follows what was fetched.
        case ended
    }

    /// The property that determined where to continue in a playlist with new numbers. The raw values are the names in events.
    package enum RejoinMethod: String, Equatable, Sendable {
        /// Segments that were listed under other numbers. What follows is continuous with what came before.
        case url
        /// Segments of a playlist that was followed earlier.
        case previousOrigin = "former-playlist"
        case programDateTime = "program-date-time"
        /// Nothing; the playlist is joined like a new one.
        case liveEdge = "live-edge"
    }

    package private(set) var state = State.unjoined
    private let policy: CursorPolicy
    private let joinPoint: JoinPoint
    /// Whether a playlist was not finished, even one that listed nothing new.
    private var wasLive = false

    /// - Parameter joinPoint: where to join, if the playlist contains that point.
    package init(policy: CursorPolicy = .main, joinPoint: JoinPoint = .edge) {
        self.policy = policy
        self.joinPoint = joinPoint
    }

    /// The first media sequence number not fetched yet; nil before joining and after the end.
    package var next: UInt64? {
        if case .following(let position) = state { position.next } else { nil }
    }

    /// Whether a playlist has listed something new.
    var hasGrown: Bool {
        switch state {
        case .unjoined: false
        case .following(let position): position.hasGrown
        case .ended(let position): position?.hasGrown ?? true
        }
    }

    package var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// - Parameter now: time since the session began, when the playlist arrived.
    package mutating func handle(_ playlist: MediaPlaylist, at now: Duration) -> [Effect] {
        let loaded = playlist.window.map { LoadedPlaylist(playlist: playlist, window: $0, loadedAt: now) }
        switch state {
        case .ended(let last): return reopen(loaded, from: last)
        case .unjoined, .following:
            if !playlist.isComplete { wasLive = true }
            let effects = loaded.map { follow($0) } ?? []
            return playlist.isComplete ? effects + [end()] : effects
        }
    }

    /// Continues a live channel that ended, unless the playlist lists nothing new and is therefore an old one.
    private mutating func reopen(_ loaded: LoadedPlaylist?, from last: Position?) -> [Effect] {
        guard let last, let loaded else { return [] }
        state = .following(last)
        let effects = follow(loaded)
        guard effects.firstNew != nil else {
            state = .ended(last)
            return []
        }
        return loaded.playlist.isComplete ? effects + [end()] : effects
    }

    /// Ends the cursor. A playlist that was finished when it was found cannot continue later.
    private mutating func end() -> Effect {
        if wasLive, case .following(let position) = state { state = .ended(position) } else { state = .ended(nil) }
        return .ended
    }

    private mutating func follow(_ loaded: LoadedPlaylist) -> [Effect] {
        guard case .following(var position) = state, position.hasGrown else { return join(loaded) }
        defer { state = .following(position) }
        return position.follow(loaded)
    }

    /// Joins a playlist. If it lists nothing new, because an edge lags or cut it short, the next playlist is joined in its
    /// place: numbers after its last one may still be of media that was received.
    private mutating func join(_ loaded: LoadedPlaylist) -> [Effect] {
        let next = policy.joinNumber(in: loaded.playlist, at: joinPoint)
        var position = Position(joining: loaded, at: next, policy: policy)
        // The join point's number is the main rendition's; a companion has its own numbers.
        let lost = policy == .main ? joinPoint.lostRange(in: loaded.playlist, before: next) : nil
        let effects = position.advance(through: loaded)
        state = .following(position)
        return position.hasGrown ? (lost.map { [.slidOut(lost: $0)] } ?? []) + effects : []
    }
}

extension [SegmentCursor.Effect] {
    /// The first media sequence number not listed before, gaps included.
    var firstNew: UInt64? {
        lazy.compactMap { effect in
            switch effect {
            case .fetch(let numbers), .gap(let numbers): numbers.lowerBound
            case .slidOut, .stale, .reset, .ended: nil
            }
        }.first
    }

    var firstFetched: UInt64? {
        lazy.compactMap { if case .fetch(let numbers) = $0 { numbers.lowerBound } else { nil } }.first
    }

    /// Whether the playlist uses the same numbers and URLs for the same segments as the playlists before.
    var isContinuation: Bool {
        !contains {
            switch $0 {
            case .stale, .reset: true
            case .fetch, .gap, .slidOut, .ended: false
            }
        }
    }

    /// Whether media before the new segments is missing or unknown.
    var isDisconnected: Bool {
        contains {
            switch $0 {
            case .slidOut: true
            case .reset(let method): method != .url
            case .fetch, .gap, .stale, .ended: false
            }
        }
    }

    var isReset: Bool { contains { if case .reset = $0 { true } else { false } } }
}

/// Limits of a segment cursor: how much it fetches when it joins, and how long it tolerates stale playlists.
package struct CursorPolicy: Equatable, Sendable {
    /// The least media to fetch when joining at the live edge …
    package var joinDuration = Duration.seconds(8)
    /// … and the least in target durations: one long segment alone would run dry before the next is listed …
    package var joinTargetDurations = TargetDurations.halves(3)
    /// … but never more segments than this: three of 12 s would be a burst of 36 s.
    package var joinSegments = 3
    /// Segments fetched in addition, so that a companion rendition begins before the main one, not after it.
    package var extraJoinSegments = 0
    /// Consecutive playlists that may end before what was fetched already. A stale CDN edge serves one or two.
    package var maxStalePlaylists = 2

    package static let main = CursorPolicy()
    package static let companion = CursorPolicy(extraJoinSegments: 1)
    /// Subtitles begin well before the video, because their playlist may be ahead of the main one or segmented
    /// differently, and their segments are small. They do not begin with the hours of media that some playlists list.
    package static let subtitles = CursorPolicy(
        joinDuration: .seconds(20), joinTargetDurations: .halves(8), joinSegments: 11, extraJoinSegments: 1)
}

/// A duration counted in eighths of a target duration.
package struct TargetDurations: Equatable, Sendable {
    private let eighths: Int

    package static func halves(_ halves: Int) -> TargetDurations { TargetDurations(eighths: halves * 4) }

    package static func quarters(_ quarters: Int) -> TargetDurations { TargetDurations(eighths: quarters * 2) }

    package static func eighths(_ eighths: Int) -> TargetDurations { TargetDurations(eighths: eighths) }

    package static func * (targetDuration: Duration, count: TargetDurations) -> Duration {
        targetDuration * count.eighths / 8
    }
}
