/// For how long nothing of what the main playlist lists could be published, why, and what is done about it.
///
/// A list may go on and on while its segments are refused, hang, are garbage, or have another key than theirs: that is as
/// much of an outage as a list that stands still.
struct MediaStallEscalation: Equatable, Sendable {
    private var escalation: StallEscalation
    /// Why, as far as was heard since something was published.
    private(set) var reason = UnpublishedReason.pending
    /// When something was published last; before, when something was listed first.
    private(set) var silentSince: Duration?
    private(set) var hasPublished = false

    /// - Parameter giveUp: as of `StallEscalation`.
    init(giveUp: Duration?) { escalation = StallEscalation(.media, giveUp: giveUp) }

    /// The last step taken; nil while media come, or none are owed.
    var climbed: StallEscalation.Step? { escalation.lastStep }
    var nextDeadline: Duration? { escalation.nextDeadline }

    /// Something of it comes that can be read.
    var isReadable: Bool { reason == .noVideo || reason == .noAudio }

    func silence(at now: Duration) -> Duration { silentSince.map { now - $0 } ?? .zero }

    /// Something is listed that was not published yet.
    mutating func expectMedia(targetDuration: Duration, at now: Duration) {
        guard escalation.state == .idle else { return }
        _ = escalation.restart(targetDuration: targetDuration, at: now)
        silentSince = silentSince ?? now
    }

    /// What is listed does not come.
    mutating func recordFailure(_ cause: SegmentLoss.Reason) { reason = .lost(cause) }

    /// A segment was handed downstream.
    /// - Parameter owesMore: something else is listed and was not handed over yet.
    /// - Returns: how long nothing was published, if that was an outage.
    mutating func recordOutcome(
        _ reception: DeliveryOutcome, hasPending: Bool, targetDuration: Duration, at now: Duration
    ) -> Duration? {
        switch reception {
        case .refused(let why): reason = why
        case .held: reason = .noAudio
        case .published:
            defer { (silentSince, reason, hasPublished) = (now, .pending, true) }
            let wasOutage = climbed.map { $0 >= .outage } ?? false
            let silence = silence(at: now)
            if hasPending { _ = escalation.restart(targetDuration: targetDuration, at: now) } else { escalation.stop() }
            return wasOutage ? silence : nil
        }
        return nil
    }

    /// Nothing is late any more: the list has ended.
    mutating func stop() { escalation.stop() }

    /// As of `StallEscalation`.
    mutating func climb(at now: Duration) -> [StallEscalation.Step] { escalation.escalate(at: now) }
}
