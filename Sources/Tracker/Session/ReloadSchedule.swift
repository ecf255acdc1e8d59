/// When one media playlist is loaded again (RFC 8216 §6.3.4, draft-pantos-hls-rfc8216bis §6.3.4).
///
/// Waits count from the start of the last load, so that a slow answer does not make the next one later still.
package struct ReloadSchedule: Equatable, Sendable {
    package enum Load: Equatable, Sendable {
        /// It listed something new; `lastSegment` is the duration of its last segment.
        case grew(lastSegment: Duration)
        /// `longestSegment` of those listed, nil where there are none: how long it may take until there is another.
        case unchanged(longestSegment: Duration?)
        /// No playlist came, or not a whole one.
        case failed
        /// Nothing will ever be added: ENDLIST, or EXT-X-PLAYLIST-TYPE:VOD.
        case complete
    }

    /// However short the segments, an origin is not asked more often than this.
    package static let shortestWait = Duration.milliseconds(500)

    private var began = Duration.zero
    private var backoff = Backoff()

    package init() {}

    /// A load starts.
    package mutating func began(at now: Duration) { began = now }

    /// When it may be loaded again, if there is a reason.
    func earliest(at now: Duration) -> Duration { max(now, began + Self.shortestWait) }

    /// When to load again; nil when there is no more to come.
    ///
    /// An EXT-X-TARGETDURATION far above what the segments last is no rhythm: a window of four of them would slide past
    /// in half of it.
    ///
    /// After a failure there is nothing to wait for in the playlist's own rhythm: the origin is asked again soon, then
    /// less often, but never more than a target duration apart. Longer, and an origin that was away for four seconds
    /// would be missed for eight; an origin in trouble is asked no more than one that is well.
    package mutating func next(after load: Load, targetDuration: Duration, at now: Duration) -> Duration? {
        switch load {
        case .complete: return nil
        case .failed: return now + min(backoff.next(), max(Self.shortestWait, targetDuration))
        case .grew(let lastSegment):
            backoff.reset()
            return max(now, began + max(Self.shortestWait, min(lastSegment, targetDuration)))
        case .unchanged(let longestSegment):
            backoff.reset()
            let pace = min(longestSegment ?? targetDuration, targetDuration)
            return max(now, began + max(Self.shortestWait, pace / 2))
        }
    }
}
