/// The time that was listed as gaps since a rendition delivered something.
///
/// A segment that comes when its time was listed is late: published after the gaps, it would move the channel further
/// behind the upstream. Whether its time was listed is known by dates, or else by how much the upstream lists at once. If that
/// is all of the silence, its clock went on. An encoder that paused lists less, and what it lists is new.
///
/// After few gaps nothing is late: players still have media from before them, and go on with all that comes.
struct ListedGaps: Equatable, Sendable {
    /// The time of the gaps from which on media is late: players keep three target durations behind the live edge
    /// (RFC 8216 §6.3.3), of short segments some more.
    static func leastTime(_ targetDuration: Duration) -> Duration { max(targetDuration * 3, .seconds(5)) }

    /// The time of all gaps since the last delivery.
    private var total = Duration.zero
    /// The time of the gaps that no segment accounts for; less than nothing if more time passed than was listed.
    private var pending = Duration.zero
    /// The time of segments that were lost or late since the last delivery.
    private var passed = Duration.zero
    /// When a segment was delivered last; nil before the first.
    private var deliveredAt: Duration?

    /// Whether a segment may be late.
    var isPending: Bool { isUnderWay && deliveredAt != nil }

    /// Whether gaps were listed since the last delivery.
    var isUnderWay: Bool { total > .zero }

    mutating func recordGap(_ duration: Duration) { (total, pending) = (total + duration, pending + duration) }

    mutating func recordDelivery(at now: Duration) {
        (total, pending, passed, deliveredAt) = (.zero, .zero, .zero, now)
    }

    /// Records that the time of a segment passes without it.
    mutating func recordLoss(_ duration: Duration) {
        (pending, passed) = (pending - duration, passed + duration)
    }

    /// Whether the middle of the next segment was listed as a gap.
    /// - Parameters:
    ///   - duration: of the segment.
    ///   - offset: from the end of the last delivered segment to this one, by their dates; nil without dates.
    ///   - listed: the time that the upstream lists from the segment on.
    ///   - targetDuration: a list is so much behind at most.
    func isLate(
        _ duration: Duration, offset: Duration? = nil, listed: Duration, targetDuration: Duration, at now: Duration
    ) -> Bool {
        guard total >= Self.leastTime(targetDuration), let deliveredAt else { return false }
        let silence = now - deliveredAt
        // Other dates are those of another clock.
        if let offset, offset + duration > .zero, offset <= silence + JoinPoint.reach(targetDuration) {
            return offset + duration / 2 <= total
        }
        return pending >= duration / 2 && listed + passed + targetDuration >= silence
    }
}
