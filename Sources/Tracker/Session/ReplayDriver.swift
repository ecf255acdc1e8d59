package import Fetch

/// Runs a session on a simulated clock, without tasks or waiting. Equal answers give equal outputs.
package struct ReplayDriver: Sendable {
    private var session: any IngestSession
    /// Fetches in flight. `order` decides between answers at the same time.
    private var fetches: [(id: FetchID, outcome: FetchOutcome, at: Duration, order: Int)] = []
    private var wake: (at: Duration, order: Int)?
    private var order = 0

    package init(session: some IngestSession) { self.session = session }

    /// Runs until the session ends. Returns the reason of the end, or nil if the run stopped before.
    ///
    /// - Parameters:
    ///   - limit: session time after which the run stops; nil: no limit.
    ///   - isOver: whether the run stops after a step.
    ///   - answer: the answer to a request made at a session time, and its delay; nil: there is no answer.
    ///   - perform: as for `TrackerDriver`.
    package mutating func run(
        until limit: Duration? = nil, isOver: (_ status: UpstreamStatus, _ now: Duration) -> Bool = { _, _ in false },
        answer: (_ request: FetchRequest, _ now: Duration) -> (outcome: FetchOutcome, latency: Duration)?,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd? {
        var now = Duration.zero
        var inputs = [UpstreamSession.Input.start]
        while true {
            if inputs.isEmpty {
                guard !isOver(session.status, now), let next = pop(notAfter: limit) else { return nil }
                (inputs, now) = ([next.0], next.1)
            }
            if let end = try await step(&inputs, at: now, answer: answer, perform: perform) { return end }
        }
    }

    /// Handles the first input. Appends the responses to downstream effects, and returns the end, if it came.
    private mutating func step(
        _ inputs: inout [UpstreamSession.Input], at now: Duration,
        answer: (_ request: FetchRequest, _ now: Duration) -> (outcome: FetchOutcome, latency: Duration)?,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd? {
        for effect in session.handle(inputs.removeFirst(), at: now) {
            switch effect {
            case .fetch, .cancel, .wake: schedule(effect, answer: answer, at: now)
            case .deliver, .probe, .report:
                if let response = try await effect.forward(to: perform, at: now) { inputs.append(response) }
            case .end(let end):
                _ = try await perform(.status(session.status), now)
                return end
            }
        }
        _ = try await perform(.status(session.status), now)
        return nil
    }

    private mutating func schedule(
        _ effect: UpstreamSession.Effect,
        answer: (_ request: FetchRequest, _ now: Duration) -> (outcome: FetchOutcome, latency: Duration)?,
        at now: Duration
    ) {
        order += 1
        switch effect {
        case .fetch(let id, let request):
            guard let (outcome, latency) = answer(request, now) else { return }
            fetches.append((id, outcome, now + max(.zero, latency), order))
        case .cancel(let id): fetches.removeAll { $0.id == id }
        case .wake(let time): wake = (max(now, time), order)
        case .deliver, .probe, .report, .end: break
        }
    }

    /// Removes and returns the earliest input; among inputs at the same time, the one requested first.
    private mutating func pop(notAfter limit: Duration?) -> (UpstreamSession.Input, Duration)? {
        let first = fetches.indices.min { (fetches[$0].at, fetches[$0].order) < (fetches[$1].at, fetches[$1].order) }
        if let wake, first.map({ (wake.at, wake.order) < (fetches[$0].at, fetches[$0].order) }) ?? true {
            if let limit, wake.at > limit { return nil }
            self.wake = nil
            return (.wake, wake.at)
        }
        guard let first else { return nil }
        if let limit, fetches[first].at > limit { return nil }
        let fetch = fetches.remove(at: first)
        return (.answered(fetch.id, fetch.outcome), fetch.at)
    }
}
