/// What one step of a session brings about, in the order in which it goes out.
///
/// What concerns the upstream goes before what is handed downstream: a consumer that takes its time then holds back what
/// comes after, not the fetches already due.
struct EffectBuffer: Sendable {
    private var requests: [UpstreamSession.Effect] = []
    private var outputs: [UpstreamSession.Effect] = []
    /// What was asked for last; nil when it has come.
    private var armedWake: Duration?

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

    /// Asks to be woken for what is due next. What is due already and was not done waits for an answer, not for time.
    mutating func scheduleWake(for deadlines: [Duration?], after now: Duration) {
        let next = deadlines.compactMap { $0 }.filter { $0 > now }.min()
        guard let next, next != armedWake else { return }
        armedWake = next
        append(.wake(at: next))
    }

    /// Hands over what was brought about, and begins the next step.
    mutating func drain() -> [UpstreamSession.Effect] {
        defer { (requests, outputs) = ([], []) }
        return requests + outputs
    }
}
