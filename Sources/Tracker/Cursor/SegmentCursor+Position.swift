import Playlist

extension SegmentCursor {
    /// Where a cursor stands in the numbers of its upstream.
    package struct Position: Sendable {
        /// The first media sequence number that was not taken yet.
        package var next: UInt64
        /// When a list last had something new.
        package var grewAt: Duration
        /// Set while the lists loaded end before `next`.
        var stale: Stale?
        var knownSegments: KnownSegments
        /// Addresses change at each refresh for no reason: only numbers count, until addresses come again.
        var ignoresURLs = false
        /// The last list counted anew, and no address of it was known.
        var wasJustReset = false
        /// What was followed before the numbers that are, newest first.
        var previousOrigins: [PreviousOrigin] = []
    }

    struct Stale: Sendable {
        var lists = 1
        let firstUpperBound: UInt64
    }

    /// An origin that answers for a moment gives way to the one before, which then goes on where it was left.
    struct PreviousOrigin: Sendable {
        let next: UInt64
        let known: KnownSegments
    }

    /// Where a list that counts anew is gone on with.
    struct RejoinPoint: Sendable {
        let anchor: RejoinMethod
        let next: UInt64
        /// What is known of the segments under the numbers of the list.
        let known: KnownSegments
    }
}

extension SegmentCursor.Position {
    enum Verdict {
        case continuous
        case stale(run: Int)
        case reset(SegmentCursor.RejoinPoint)
    }

    /// Whether a list goes on from the ones before it.
    mutating func classify(
        _ list: MediaPlaylist, window: Range<UInt64>, policy: CursorPolicy, at now: Duration
    ) -> Verdict {
        let wasReset = wasJustReset
        wasJustReset = false
        switch knownSegments.match(with: list) {
        case .sameDate: return classifyByNumber(list, window: window, policy: policy, at: now, isDated: true)
        case .sameURL: return classifyByNumber(list, window: window, policy: policy, at: now)
        case .noOverlap:
            guard window.upperBound < next || window.lowerBound >= next else { return .continuous }
            if !explainsRepeatedURLs(in: list, window: window, at: now), let place = rejoinPointByURL(in: list) {
                return .reset(place)
            }
            if let verdict = classifyAsPreviousOrigin(list, window: window, policy: policy) { return verdict }
            guard window.upperBound < next || isFarAhead(list, window, at: now) else { return .continuous }
            return .reset(rejoinPoint(in: list, policy: policy))
        case .differentSegments:
            if let place = rejoinPointByURL(in: list) { return .reset(place) }
            if ignoresURLs { return classifyByNumber(list, window: window, policy: policy, at: now) }
            if let verdict = classifyAsPreviousOrigin(list, window: window, policy: policy) { return verdict }
            guard wasReset, window.upperBound >= next else { return .reset(rejoinPoint(in: list, policy: policy)) }
            ignoresURLs = true
            return .continuous
        }
    }

    /// Of a list whose numbers are those known: does it end before what was taken from an earlier one?
    private mutating func classifyByNumber(
        _ list: MediaPlaylist, window: Range<UInt64>, policy: CursorPolicy, at now: Duration, isDated: Bool = false
    ) -> Verdict {
        guard window.upperBound < next else { return .continuous }
        let run = recordStale(window)
        guard run > policy.maxStalePlaylists, !isDated, !isLagging(list, window, policy, now) else {
            return .stale(run: run)
        }
        return .reset(rejoinPointByURL(in: list) ?? rejoinPoint(in: list, policy: policy))
    }

    mutating func recordStale(_ window: Range<UInt64>) -> Int {
        let lists = (stale?.lists ?? 0) + 1
        stale = SegmentCursor.Stale(lists: lists, firstUpperBound: stale?.firstUpperBound ?? window.upperBound)
        return lists
    }

    /// A list that still shows part of the newest window comes from an edge that is behind, and will catch up; unless
    /// it has grown for long without doing so.
    private func isLagging(
        _ list: MediaPlaylist, _ window: Range<UInt64>, _ policy: CursorPolicy, _ now: Duration
    ) -> Bool {
        guard window.upperBound > knownSegments.newest.lowerBound else { return false }
        let hasGrown = window.upperBound > (stale?.firstUpperBound ?? .max)
        return !hasGrown || now - grewAt <= list.targetDuration * policy.maxLag
    }
}

// MARK: - Going on

extension SegmentCursor.Position {
    /// Takes what `list` has from `next` on.
    mutating func advance(
        through list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration
    ) -> [SegmentCursor.Effect] {
        var effects: [SegmentCursor.Effect] = []
        if next < window.lowerBound {
            effects.append(.slidOut(lost: next..<window.lowerBound))
            next = window.lowerBound
        }
        stale = nil
        if ignoresURLs { knownSegments = KnownSegments(list) } else { knownSegments.update(from: list) }
        guard next < window.upperBound else { return effects }
        effects += list.fetchEffects(for: next..<window.upperBound)
        next = window.upperBound
        grewAt = now
        return effects
    }

    /// Origins behind one address that are known again.
    private static let maxPreviousOrigins = 3

    /// Goes on at `place` of a list that counts anew.
    mutating func reset(
        to place: SegmentCursor.RejoinPoint, in list: MediaPlaylist, _ window: Range<UInt64>, at now: Duration
    ) -> [SegmentCursor.Effect] {
        if place.anchor == .url {
            ignoresURLs = false
        } else {
            previousOrigins.insert(SegmentCursor.PreviousOrigin(next: next, known: knownSegments), at: 0)
            if previousOrigins.count > Self.maxPreviousOrigins { previousOrigins.removeLast() }
            wasJustReset = place.anchor != .previousOrigin
        }
        (next, knownSegments) = (place.next, place.known)
        return [.reset(place.anchor)] + advance(through: list, window, at: now)
    }
}
