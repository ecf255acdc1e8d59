/// The effects of one step of a session, in the order in which they leave.
///
/// Effects on the upstream precede those downstream, so that a slow consumer does not delay fetches that are due.
struct EffectBuffer: Sendable {
    private var requests: [UpstreamSession.Effect] = []
    private var outputs: [UpstreamSession.Effect] = []
    /// The wake requested last; nil after it fired.
    private var armedWake: Duration?
    private var steppedAt = Duration.zero
    /// A step that comes later than a wake by more than that was kept from coming.
    private static let longestDelay = Duration.seconds(5)

    /// Begins a step of the session.
    /// - Returns: the time since the step was due, if the machine slept or the process was stopped; zero otherwise.
    mutating func beginStep(at now: Duration) -> Duration {
        defer { steppedAt = now }
        let delay = armedWake.map { now - max($0, steppedAt) } ?? .zero
        return delay > Self.longestDelay ? delay : .zero
    }

    mutating func append(_ effect: UpstreamSession.Effect) {
        switch effect {
        case .fetch, .cancel, .wake: requests.append(effect)
        case .deliver, .probe, .report, .end: outputs.append(effect)
        }
    }

    mutating func append(_ effects: [UpstreamSession.Effect]) {
        for effect in effects { append(effect) }
    }

    mutating func report(_ event: UpstreamEvent?) {
        if let event { append(.report(event)) }
    }

    mutating func wakeFired() { armedWake = nil }

    /// Requests a wake at the first deadline after `now`.
    ///
    /// A deadline that has passed without effect waits for an answer, not for time.
    mutating func scheduleWake(for deadlines: [Duration?], after now: Duration) {
        var next: Duration?
        for case let deadline? in deadlines where deadline > now { next = min(next ?? deadline, deadline) }
        guard let next, next != armedWake else { return }
        armedWake = next
        append(.wake(at: next))
    }

    mutating func drain() -> [UpstreamSession.Effect] {
        defer { (requests, outputs) = ([], []) }
        return outputs.isEmpty ? requests : requests + outputs
    }
}
