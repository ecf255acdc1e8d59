/// Decides which steps to take while a live playlist lists nothing new, or nothing of what it lists can be published.
///
/// Each step is taken once per silence.
package struct StallEscalation: Equatable, Sendable {
    package enum Step: Int, Equatable, Comparable, Sendable, CaseIterable {
        /// A warning.
        case late
        /// The same variant is loaded from another URL, if the upstream has one (RFC 8216 §4.3.4.2).
        case redundantVariant
        /// The multivariant playlist is loaded again, because its URLs may carry fresh tokens.
        case reloadMultivariant
        /// The upstream counts as unavailable, but is still tried.
        case outage
        case giveUp

        package static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }

        /// The silence after which the step is taken; nil for `giveUp`, whose limit is configured.
        var silence: OutageTimer.Tolerance? {
            switch self {
            case .late: .init(targetDurations: .quarters(6))
            case .redundantVariant: .init(targetDurations: .quarters(7))
            case .reloadMultivariant: .init(targetDurations: .quarters(8))
            case .outage: .beforeTrial
            case .giveUp: nil
            }
        }
    }

    package enum State: Equatable, Sendable {
        /// Nothing is expected: before joining, after ENDLIST, or when all listed media is published.
        case idle
        /// `lastStep` is nil until the silence is long enough for a step.
        case expecting(since: Duration, lastStep: Step?)
    }

    package private(set) var state = State.idle
    private var targetDuration = Duration.zero
    private let giveUp: Duration?
    /// Time of the silence in which nothing could be tried.
    private var untried = Duration.zero
    /// The shortest silence after which to give up.
    private static let shortestGiveUp = OutageTimer.Tolerance(targetDurations: .halves(7), atLeast: .seconds(4))

    /// - Parameter giveUp: silence after which to give up, never before `outage`; nil: never.
    package init(giveUp: Duration?) { self.giveUp = giveUp }

    /// Starts a new silence after a success. Returns the length of the last one, if it caused a step.
    ///
    /// - Parameter targetDuration: the target duration, or the segments' duration if that is longer.
    package mutating func restart(targetDuration: Duration, at now: Duration) -> Duration? {
        defer { (state, untried) = (.expecting(since: now, lastStep: nil), .zero) }
        self.targetDuration = targetDuration
        guard case .expecting(let since, .some) = state else { return nil }
        return now - since
    }

    package mutating func stop() { state = .idle }

    /// Excludes a part of the silence from `giveUp`: the machine slept.
    package mutating func postponeGivingUp(by time: Duration) { untried += time }

    package mutating func escalate(at now: Duration) -> [Step] {
        var steps: [Step] = []
        while let next = nextStep, next.at <= now, case .expecting(let since, _) = state {
            steps.append(next.step)
            state = .expecting(since: since, lastStep: next.step)
        }
        return steps
    }

    package var nextDeadline: Duration? { nextStep?.at }

    /// The last step taken in the current silence.
    var lastStep: Step? { if case .expecting(_, let step) = state { step } else { nil } }

    /// Returns for how long nothing new was listed, or nothing published.
    package func silence(at now: Duration) -> Duration {
        if case .expecting(let since, _) = state { now - since } else { .zero }
    }

    private var nextStep: (step: Step, at: Duration)? {
        guard case .expecting(let since, let last) = state else { return nil }
        guard let step = Step(rawValue: last.map { $0.rawValue + 1 } ?? 0) else { return nil }
        if let silence = step.silence { return (step, since + silence.duration(targetDuration)) }
        guard let giveUp else { return nil }
        return (step, since + untried + max(giveUp, Self.shortestGiveUp.duration(targetDuration)))
    }
}

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

    init(giveUp: Duration?) { escalation = StallEscalation(giveUp: giveUp) }

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
        case .awaitingTrack:
            // It is not long before the segment is published, with the track or without.
            if let step = lastStep, step >= .outage { break }
            if escalation.state != .idle { _ = escalation.restart(targetDuration: targetDuration, at: now) }
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

    mutating func postponeGivingUp(by time: Duration) { escalation.postponeGivingUp(by: time) }

    mutating func escalate(at now: Duration) -> [StallEscalation.Step] { escalation.escalate(at: now) }
}
