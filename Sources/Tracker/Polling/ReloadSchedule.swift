import Fetch

/// Decides when a media playlist is loaded again (RFC 8216 §6.3.4, draft-pantos-hls-rfc8216bis §6.3.4).
///
/// Waits count from the start of the last load, so that a slow answer does not delay the next load further.
package struct ReloadSchedule: Equatable, Sendable {
    package enum Load: Equatable, Sendable {
        /// The playlist listed something new; `lastSegment` is the duration of its last segment.
        case grew(lastSegment: Duration)
        /// `longestSegment` is the longest listed duration, within which the next segment may appear; nil if there are
        /// no segments.
        case unchanged(longestSegment: Duration?)
        /// No playlist arrived, or not a whole one.
        case failed
        /// Nothing will be added: ENDLIST, or EXT-X-PLAYLIST-TYPE:VOD.
        case complete
    }

    /// The shortest wait between two loads, however short the segments are.
    package static let shortestWait = Duration.milliseconds(500)

    private var began = Duration.zero
    private var backoff = Backoff()

    package init() {}

    package mutating func began(at now: Duration) { began = now }

    /// Returns when the playlist may be loaded before the next scheduled load.
    func earliest(at now: Duration) -> Duration { max(now, began + Self.shortestWait) }

    /// Returns when to load again; nil after the end.
    ///
    /// An EXT-X-TARGETDURATION far above the segments' durations is ignored: a window of four segments would slide past
    /// in half of it.
    ///
    /// After a failure the playlist is loaded again soon, then less often, but at least once per target duration. With
    /// longer waits, an outage of four seconds would cost eight. An origin in an outage gets no more requests than a
    /// healthy one.
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
