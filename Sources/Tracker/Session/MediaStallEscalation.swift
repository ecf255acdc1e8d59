/// Tracks for how long, and why, nothing of what the main playlist lists could be published.
///
/// A playlist may grow while its segments are refused, hang, are damaged, or are encrypted with another key. That is as
/// much of an outage as a playlist that does not grow.
struct MediaStallEscalation: Equatable, Sendable {
    private var escalation: StallEscalation
    /// The last reason since something was published.
    private(set) var reason = UnpublishedReason.pending
    /// The time of the last publication; before that, the time at which something was listed first.
    private(set) var silentSince: Duration?
    private(set) var hasPublished = false

    /// - Parameter giveUp: as for `StallEscalation`.
    init(giveUp: Duration?) { escalation = StallEscalation(.media, giveUp: giveUp) }

    /// The last step taken; nil while media is published, or none is pending.
    var lastStep: StallEscalation.Step? { escalation.lastStep }
    var nextDeadline: Duration? { escalation.nextDeadline }

    /// Whether segments arrive that can be read, so that another URL would not help.
    var isReadable: Bool { [.noVideo, .noRandomAccess, .noAudio].contains(reason) }

    func silence(at now: Duration) -> Duration { silentSince.map { now - $0 } ?? .zero }

    /// Starts to wait for the first publication after something new was listed.
    mutating func expectMedia(targetDuration: Duration, at now: Duration) {
        guard escalation.state == .idle else { return }
        _ = escalation.restart(targetDuration: targetDuration, at: now)
        silentSince = silentSince ?? now
    }

    /// Records that a listed segment did not arrive.
    mutating func recordFailure(_ cause: SegmentLoss.Reason) { reason = .lost(cause) }

    /// Records the outcome of a delivery. Returns the length of the outage that it ended, if there was one.
    ///
    /// - Parameter hasPending: whether other segments are listed and not delivered yet.
    mutating func recordOutcome(
        _ outcome: DeliveryOutcome, hasPending: Bool, targetDuration: Duration, at now: Duration
    ) -> Duration? {
        switch outcome {
        case .refused(let reason): self.reason = reason
        case .held: reason = .noAudio
        case .published:
            defer { (silentSince, reason, hasPublished) = (now, .pending, true) }
            let wasOutage = lastStep.map { $0 >= .outage } ?? false
            let silence = silence(at: now)
            if hasPending { _ = escalation.restart(targetDuration: targetDuration, at: now) } else { escalation.stop() }
            return wasOutage ? silence : nil
        }
        return nil
    }

    /// Stops the escalation, because the playlist has ended.
    mutating func stop() { escalation.stop() }

    /// Returns the steps that are due, as `StallEscalation` does.
    mutating func escalate(at now: Duration) -> [StallEscalation.Step] { escalation.escalate(at: now) }
}
