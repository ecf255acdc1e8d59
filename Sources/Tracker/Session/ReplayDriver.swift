package import Fetch
package import Media

/// Runs a session on a simulated clock, without tasks or waiting. Equal answers give equal outputs.
package struct ReplayDriver: Sendable {
    private var session: any IngestSession
    /// The answer to a request: the parts of a stream, and the end of the answer, each with the time since the request.
    package struct Response: Sendable {
        /// `load` loads the part when it is due.
        package typealias Part = (latency: Duration, load: @Sendable () -> StreamPart)

        package var parts: [Part]
        /// nil: the answer does not end.
        package var end: (outcome: FetchOutcome, latency: Duration)?

        package init(parts: [Part] = [], end: (outcome: FetchOutcome, latency: Duration)?) {
            (self.parts, self.end) = (parts, end)
        }
    }

    /// Inputs of the fetches in flight. `order` decides between those at the same time.
    private var arrivals: [(id: FetchID?, input: @Sendable () -> UpstreamSession.Input, at: Duration, order: Int)] = []
    private var wake: (at: Duration, order: Int)?
    private var order = 0

    /// - Parameter demands: the variants that somebody asks for, with the times.
    package init(session: some IngestSession, demands: [(track: VideoTrackIdentity, at: Duration)] = []) {
        self.session = session
        for (track, time) in demands {
            order += 1
            arrivals.append((nil, { .demanded(track) }, time, order))
        }
    }

    /// Runs a session without streams: `answer` returns the end of an answer, or nil if it has none.
    package mutating func run(
        until limit: Duration? = nil, isOver: ((_ status: UpstreamStatus, _ now: Duration) -> Bool)? = nil,
        answer: (_ request: FetchRequest, _ now: Duration) -> (outcome: FetchOutcome, latency: Duration)?,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd? {
        try await run(
            until: limit, isOver: isOver, respond: { Response(end: answer($0, $1)) }, perform: perform)
    }

    /// Runs until the session ends. Returns the reason of the end, or nil if the run stopped before.
    ///
    /// - Parameters:
    ///   - limit: session time after which the run stops; nil: no limit.
    ///   - isOver: whether the run stops after a step; nil: it does not.
    ///   - respond: the response to a request made at a session time.
    ///   - perform: as for `TrackerDriver`.
    package mutating func run(
        until limit: Duration? = nil, isOver: ((_ status: UpstreamStatus, _ now: Duration) -> Bool)? = nil,
        respond: (_ request: FetchRequest, _ now: Duration) -> Response,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd? {
        var now = Duration.zero
        var inputs = [UpstreamSession.Input.start]
        while true {
            if inputs.isEmpty {
                if let isOver, isOver(session.status, now) { return nil }
                guard let next = pop(notAfter: limit) else { return nil }
                (inputs, now) = ([next.0], next.1)
            }
            if let end = try await step(&inputs, at: now, respond: respond, perform: perform) { return end }
        }
    }

    /// Handles the first input. Appends the responses to downstream effects, and returns the end, if it came.
    private mutating func step(
        _ inputs: inout [UpstreamSession.Input], at now: Duration,
        respond: (_ request: FetchRequest, _ now: Duration) -> Response,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd? {
        for effect in session.handle(inputs.removeFirst(), at: now) {
            switch effect {
            case .fetch, .cancel, .wake: schedule(effect, respond: respond, at: now)
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
        respond: (_ request: FetchRequest, _ now: Duration) -> Response,
        at now: Duration
    ) {
        order += 1
        switch effect {
        case .fetch(let id, let request):
            let response = respond(request, now)
            for part in response.parts {
                order += 1
                arrivals.append((id, { .received(id, part.load()) }, now + max(.zero, part.latency), order))
            }
            guard let (outcome, latency) = response.end else { return }
            order += 1
            arrivals.append((id, { .answered(id, outcome) }, now + max(.zero, latency), order))
        case .cancel(let id): arrivals.removeAll { $0.id == id }
        case .wake(let time): wake = (max(now, time), order)
        case .deliver, .probe, .report, .end: break
        }
    }

    /// Removes and returns the earliest input; among inputs at the same time, the one requested first.
    private mutating func pop(notAfter limit: Duration?) -> (UpstreamSession.Input, Duration)? {
        let first = arrivals.indices.min {
            (arrivals[$0].at, arrivals[$0].order) < (arrivals[$1].at, arrivals[$1].order)
        }
        if let wake, first.map({ (wake.at, wake.order) < (arrivals[$0].at, arrivals[$0].order) }) ?? true {
            if let limit, wake.at > limit { return nil }
            self.wake = nil
            return (.wake, wake.at)
        }
        guard let first else { return nil }
        if let limit, arrivals[first].at > limit { return nil }
        let arrival = arrivals.remove(at: first)
        return (arrival.input(), arrival.at)
    }
}
