import Fetch

/// Decides which of a channel's sources is tried next, and when.
///
/// Sources are tried in turn. The pauses between trials double until a segment is published.
struct FailoverOrder: Equatable, Sendable {
    /// The source that was published or tried last.
    private(set) var last = 0
    /// Earliest time of the next trial.
    private(set) var nextAt = Duration.zero
    private var backoff = Backoff()

    /// Returns the source to try now, and advances to it.
    /// - Parameters:
    ///   - count: number of sources; more than one.
    ///   - active: the source that is published, which needs no trial; nil if none is.
    mutating func next(of count: Int, excluding active: Int?) -> Int {
        last = (last + 1) % count
        if last == active { last = (last + 1) % count }
        return last
    }

    /// Makes the source after `source` the next one to try. `source` is published, or was until now.
    mutating func resume(after source: Int) { last = source }

    /// Delays the next trial after one that failed.
    mutating func backOff(from now: Duration) { nextAt = now + backoff.next() }

    /// Makes the pauses short again. A pause that has begun stays as it is.
    mutating func resetBackoff() { backoff.reset() }
}
