/// Runs a session on a clock of its own: no task, no waiting, the same outputs for the same answers each time.
package struct ReplayDriver: Sendable {
    private var session: any IngestSession
    /// In the order in which they were asked for, which is how those of one moment are told apart.
    private var fetches: [(id: FetchID, outcome: FetchOutcome, at: Duration, order: Int)] = []
    private var wake: (at: Duration, order: Int)?
    private var order = 0

    package init(session: some IngestSession) { self.session = session }

    /// Runs until the session ends, and says how; or until nothing more would happen by `limit`, or `isOver` says so
    /// after a step: then nil.
    ///
    /// - Parameters:
    ///   - answer: what the upstream answers to a request made at a session time, and how long after it; nil: never.
    ///   - perform: as in `TrackerDriver`.
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
            let input = inputs.removeFirst()
            for effect in session.handle(input, at: now) {
                order += 1
                switch effect {
                case .fetch(let id, let request):
                    guard let (outcome, latency) = answer(request, now) else { continue }
                    fetches.append((id, outcome, now + max(.zero, latency), order))
                case .cancel(let id): fetches.removeAll { $0.id == id }
                case .wake(let time): wake = (max(now, time), order)
                case .deliver, .probe, .report:
                    if let heard = try await effect.forward(to: perform, at: now) { inputs.append(heard) }
                case .end(let end):
                    _ = try await perform(.status(session.status), now)
                    return end
                }
            }
            _ = try await perform(.status(session.status), now)
        }
    }

    /// The earliest event; of those at the same time, the one that was asked for first.
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
