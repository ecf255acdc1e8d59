/// Decides until when the next segment to deliver is waited for.
///
/// Waiting costs nothing while nothing else could be delivered. If later media is ready, it is held for at most
/// `limit`, counted to the end of the segment that is missing. A segment that cannot be had any more is lost at once.
package struct SegmentPatience: Equatable, Sendable {
    /// The state of the next segment to deliver.
    struct Head: Equatable, Sendable {
        var duration: Duration
        var listedAt = Duration.zero
        /// Since when later media is ready that this segment holds up; nil if nothing else could be delivered.
        var heldSince: Duration?
        /// When a gap would be listed if the rendition stays silent; nil before its first segment.
        var gapAt: Duration?
        /// When the segment, or a key or map that it needs, failed first; nil if it did not fail.
        var firstFailureAt: Duration?
        /// Whether it was refused, and no other answer is on its way.
        var isRefused = false
        var retryAfter = Duration.zero
        /// When the segment left the playlist; nil while it is listed, or another one that needs the missing key or map.
        var removedAt: Duration?
    }

    struct Loss: Equatable, Sendable {
        var at: Duration
        var cause: SegmentLoss.Cause
    }

    /// The time for which a finished playlist's segments are tried, if they are not refused.
    static let finishedLimit = Duration.seconds(60)

    /// The shortest limit that is chosen. A segment that fails a few times arrives within this time, however short it is.
    static let shortestLimit = Duration.seconds(5)
    /// How long a segment is waited for at the end of an outage: a pause of `RetrySchedule`, and an answer.
    static let lastTry = RetrySchedule.longestPause + .milliseconds(500)
    /// How much longer than a Retry-After a segment is waited for: the pause, and as long again for the next answers.
    private static let retryAfterFactor = 2

    /// How far the published edge may fall behind for one segment.
    private let limit: Duration
    /// The limit for a segment whose host asks for a longer pause.
    private let longestLimit: Duration
    /// The media time that the playlist lists.
    private let window: Duration
    /// Whether the playlist has ended, so that nothing falls behind.
    private let isFinished: Bool

    /// - Parameter configured: the operator's limit; nil: three target durations, at least `shortestLimit`, and twice
    ///   what a Retry-After asks for.
    ///
    /// No limit exceeds what the playlist lists: the following segments would be gone before this one is given up. None
    /// ends after the first gap would be listed, which is worse for viewers than one lost segment.
    init(configured: Duration?, targetDuration: Duration, window: Duration, isFinished: Bool) {
        limit = min(Self.limit(configured: configured, targetDuration: targetDuration), window)
        longestLimit = configured == nil ? window : limit
        self.window = window
        self.isFinished = isFinished
    }

    /// Returns how far the published edge may fall behind: the operator's limit, or the one chosen.
    package static func limit(configured: Duration?, targetDuration: Duration) -> Duration {
        configured ?? max(targetDuration * 3, shortestLimit)
    }

    /// Returns when `head` is lost unless it arrives before; nil if it is waited for without a limit.
    func loss(of head: Head) -> Loss? {
        if let removedAt = head.removedAt, head.isRefused { return Loss(at: removedAt, cause: .gone) }
        if isFinished {
            // A slow segment of a finished playlist is no loss, but one that fails must not hold up the rest for ever.
            let limit = head.isRefused ? limit : max(limit, Self.finishedLimit)
            return head.firstFailureAt.map { Loss(at: $0 + limit, cause: .overtaken) }
        }
        let gone = head.removedAt.map { Loss(at: $0 + window, cause: .gone) }
        let overtaken = head.heldSince.map {
            // If segments are listed at once, each is due when the one before it has ended.
            let limit = limit(of: head)
            let end = max($0, head.listedAt + head.duration) + max(.zero, limit - head.duration)
            return Loss(at: max($0, min(end, latest(head, since: $0) ?? end)), cause: .overtaken)
        }
        guard let gone, let overtaken else { return gone ?? overtaken }
        return overtaken.at <= gone.at ? overtaken : gone
    }

    /// The end of the wait for a segment that later media has waited for `since` a moment: the first gap. If that is listed
    /// already, an outage ends, and what failed in it is asked for once more. A segment that did not fail gets as long.
    private func latest(_ head: Head, since held: Duration) -> Duration? {
        guard let gapAt = head.gapAt else { return nil }
        return head.firstFailureAt != nil && gapAt > held ? gapAt : max(gapAt, held + Self.lastTry)
    }

    /// A pause that does not end within what the playlist lists is not waited for.
    private func limit(of head: Head) -> Duration {
        guard head.retryAfter + head.duration <= window else { return limit }
        return min(max(limit, head.retryAfter * Self.retryAfterFactor), longestLimit)
    }
}
