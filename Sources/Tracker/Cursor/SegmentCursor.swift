package import Playlist

/// Which media segments of one rendition are still owed downstream (RFC 8216 §6.3.3, §6.3.4).
///
/// It is shown every list that was loaded, in order, and says what is new in it. A segment is known by its media
/// sequence number as long as the numbers keep their promise (§6.2.2), and by its address and date when they do not.
package struct SegmentCursor: Sendable {
    package enum State: Sendable {
        case unjoined
        case following(Position)
        /// Where a live one was when it ended; nil of a programme that was finished when it was found.
        case ended(Position?)
    }

    /// Ranges are media sequence numbers of the list shown, except in `slid`.
    package enum Effect: Equatable, Sendable {
        /// To be fetched, in this order.
        case fetch(Range<UInt64>)
        /// Marked EXT-X-GAP: not to be fetched.
        case gap(Range<UInt64>)
        /// These left the list before it was loaded; what follows is not continuous with what came before.
        case slidOut(lost: Range<UInt64>)
        /// The list ends before what was taken from an earlier one, and is not believed. `run` counts such lists.
        case stale(count: Int)
        /// The upstream counts anew; what follows is not continuous with what came before, unless addresses prove it.
        case reset(RejoinMethod)
        /// EXT-X-ENDLIST, or a playlist of type VOD: nothing follows what was taken.
        case ended
    }

    /// What the place in a list that counts anew was found by.
    package enum RejoinMethod: String, Equatable, Sendable {
        /// Segments that were listed under other numbers: what follows is continuous with what came before.
        case url
        /// The list that was followed before is shown again.
        case previousOrigin
        case programDateTime
        /// Nothing: it is joined as by anybody.
        case liveEdge
    }

    package private(set) var state = State.unjoined
    private let policy: CursorPolicy
    private let joinsAt: JoinPoint

    /// - Parameter joinsAt: what lies before was had from elsewhere: joined there, where the list says where that is.
    package init(policy: CursorPolicy = .main, joinsAt: JoinPoint = .edge) {
        self.policy = policy
        self.joinsAt = joinsAt
    }

    /// The first media sequence number not taken yet; nil before joining.
    package var next: UInt64? {
        if case .following(let position) = state { position.next } else { nil }
    }

    package var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// - Parameter now: time since the session began, when the list arrived.
    package mutating func handle(_ list: MediaPlaylist, at now: Duration) -> [Effect] {
        if case .ended(let last) = state { return reopen(list, last, at: now) }
        let wasLive = next != nil
        var effects: [Effect] = []
        if let window = list.window { effects = follow(list, window, at: now) }
        if list.isComplete { effects.append(end(wasLive: wasLive)) }
        return effects
    }

    /// A live channel that ended may begin again under its address. A list in which nothing is new is an old one.
    private mutating func reopen(_ list: MediaPlaylist, _ last: Position?, at now: Duration) -> [Effect] {
        guard let last, let window = list.window else { return [] }
        state = .following(last)
        var effects = follow(list, window, at: now)
        guard effects.contains(where: \.addsSegments) else {
            state = .ended(last)
            return []
        }
        if list.isComplete { effects.append(end(wasLive: true)) }
        return effects
    }

    /// A programme that was finished when it was found does not begin again.
    private mutating func end(wasLive: Bool) -> Effect {
        if wasLive, case .following(let position) = state { state = .ended(position) } else { state = .ended(nil) }
        return .ended
    }

    private mutating func follow(_ list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration) -> [Effect] {
        guard case .following(var position) = state else {
            let next = policy.joinNumber(in: list, at: joinsAt)
            var position = Position(next: next, grewAt: now, knownSegments: KnownSegments(list))
            // A companion's numbers are its own.
            let gone = policy == .main ? joinsAt.lostRange(in: list, before: next) : nil
            let effects = gone.map { [Effect.slidOut(lost: $0)] } ?? []
            defer { state = .following(position) }
            return effects + position.advance(through: list, window, at: now)
        }
        let effects: [Effect]
        switch position.classify(list, window: window, policy: policy, at: now) {
        case .continuous: effects = position.advance(through: list, window, at: now)
        case .stale(let run): effects = [.stale(count: run)]
        case .reset(let place): effects = position.reset(to: place, in: list, window, at: now)
        }
        state = .following(position)
        return effects
    }
}

extension SegmentCursor.Effect {
    fileprivate var addsSegments: Bool {
        switch self {
        case .fetch, .gap: true
        case .slidOut, .stale, .reset, .ended: false
        }
    }
}

extension CursorPolicy {
    /// The media sequence number to begin at in a list seen for the first time; the list has segments.
    /// - Parameter point: where to begin, if the list says where that is; otherwise at its edge.
    func joinNumber(in list: MediaPlaylist, at point: JoinPoint = .edge) -> UInt64 {
        guard let window = list.window else { return list.mediaSequence }
        if let number = point.joinNumber(in: list) {
            return number - min(number - window.lowerBound, UInt64(extraJoinSegments))
        }
        if list.isComplete { return window.lowerBound }
        let wanted = max(joinDuration, list.targetDuration * joinTargetDurations)
        var covered = Duration.zero
        var count = 0
        for segment in list.segments.reversed() {
            guard count < joinSegments, covered < wanted else { break }
            covered += segment.duration
            count += 1
        }
        return window.upperBound - UInt64(min(count + extraJoinSegments, list.segments.count))
    }
}
