package import Fetch

/// A value that a driver passes downstream.
package enum DriverOutput: Equatable, Sendable {
    case delivery(Delivery)
    /// A segment to examine: whether it could be published. It is not published.
    case probe(Delivery)
    case event(UpstreamEvent)
    /// The session's status after each step, passed after the other outputs of the step.
    case status(UpstreamStatus)
}

/// Runs a session against a live upstream: the only code in Tracker that waits.
package struct TrackerDriver<C: Clock>: Sendable where C.Duration == Duration {
    private let upstream: any Fetcher
    private let clock: C

    package init(upstream: any Fetcher, clock: C) {
        self.upstream = upstream
        self.clock = clock
    }

    /// Runs `session` until it ends, with a consumer that publishes every delivery. Returns the reason of the end.
    package func run(
        session: some IngestSession, perform: (_ output: DriverOutput, _ now: Duration) async throws -> Void
    ) async throws -> SessionEnd {
        try await run(reporting: session) { output, now in
            try await perform(output, now)
            return .published
        }
    }

    /// Runs `session` until it ends. Returns the reason of the end.
    ///
    /// The session gets the outcome of each audio and video segment before any other input.
    ///
    /// Outputs are performed one after the other, and nothing is decided meanwhile, so that a slow consumer slows the
    /// intake. Canceling the task, or throwing from `perform`, cancels every transfer and throws that error.
    ///
    /// - Parameter perform: returns the outcome of a delivery or probe; the result for other outputs is ignored.
    package func run(
        reporting session: some IngestSession,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd {
        var tasks = DriverTasks(upstream: upstream, clock: clock)
        do {
            let end = try await follow(session, &tasks, perform: perform)
            await tasks.end()
            return end
        } catch {
            await tasks.end()
            throw error
        }
    }

    private func follow(
        _ first: some IngestSession, _ tasks: inout DriverTasks<C>,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd {
        var session = first
        var inputs = [UpstreamSession.Input.start]
        while true {
            if inputs.isEmpty { inputs = [try await tasks.next()] }
            let now = tasks.now
            let effects = session.handle(inputs.removeFirst(), at: now)
            let (responses, end) = try await tasks.carryOut(effects, perform: perform, at: now)
            _ = try await perform(.status(session.status), now)
            if let end { return end }
            inputs += responses
        }
    }
}

extension UpstreamSession.Effect {
    /// Passes a downstream effect to `perform`. Each driver carries out the other effects itself.
    ///
    /// - Returns: the input that the session gets before any other.
    func forward(
        to perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome, at now: Duration
    ) async throws -> UpstreamSession.Input? {
        switch self {
        case .deliver(let delivery):
            let outcome = try await perform(.delivery(delivery), now)
            return delivery.isMedia ? .delivered(delivery, outcome) : nil
        case .probe(let delivery): return .probed(delivery, try await perform(.probe(delivery), now))
        case .report(let event):
            _ = try await perform(.event(event), now)
            return nil
        case .fetch, .cancel, .wake, .end: return nil
        }
    }
}

/// The fetches and the timer of a driver, with the stream of the inputs that they produce.
///
/// Each is one task: a child of a group could not be canceled alone without tasks of its own.
private struct DriverTasks<C: Clock> where C.Duration == Duration {
    private let upstream: any Fetcher
    private let clock: C
    private let began: C.Instant
    private let inputContinuation: AsyncStream<UpstreamSession.Input>.Continuation
    private var arrivals: AsyncStream<UpstreamSession.Input>.Iterator
    /// The fetches whose answers have not come, canceled or not.
    private var transfers: [FetchID: Transfer] = [:]
    /// The fetch whose part was handled last. It passes the next one when that is done.
    private var waiting: FetchID?
    private var timer: Task<Void, Never>?

    init(upstream: any Fetcher, clock: C) {
        self.upstream = upstream
        self.clock = clock
        began = clock.now
        let (inputs, continuation) = AsyncStream<UpstreamSession.Input>.makeStream()
        inputContinuation = continuation
        arrivals = inputs.makeAsyncIterator()
    }

    /// Time since the session began.
    var now: Duration { began.duration(to: clock.now) }

    /// Carries out effects in order. Returns the responses to downstream effects, and the end, if it came.
    mutating func carryOut(
        _ effects: [UpstreamSession.Effect],
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome, at now: Duration
    ) async throws -> (responses: [UpstreamSession.Input], end: SessionEnd?) {
        var responses: [UpstreamSession.Input] = []
        for effect in effects {
            switch effect {
            case .fetch(let id, let request): fetch(id, request)
            case .cancel(let id): transfers[id]?.task.cancel()
            case .wake(let time): wake(at: time)
            case .deliver, .probe, .report:
                if let response = try await effect.forward(to: perform, at: now) { responses.append(response) }
            case .end(let end): return (responses, end)
            }
        }
        return (responses, nil)
    }

    private mutating func fetch(_ id: FetchID, _ request: FetchRequest) {
        let (handled, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task { [upstream, inputContinuation] in
            let outcome = await upstream.fetch(request) { part in
                inputContinuation.yield(.received(id, part))
                for await _ in handled { return }
            }
            inputContinuation.yield(.answered(id, outcome))
        }
        transfers[id] = Transfer(task: task, partHandled: continuation)
    }

    private mutating func wake(at time: Duration) {
        timer?.cancel()
        timer = Task { [clock, began, inputContinuation] in
            guard (try? await clock.sleep(until: began.advanced(by: time), tolerance: nil)) != nil else { return }
            inputContinuation.yield(.wake)
        }
    }

    /// Waits for the next input. Canceling the task ends the wait.
    mutating func next() async throws -> UpstreamSession.Input {
        if let waiting { transfers[waiting]?.partHandled.yield() }
        guard let input = await arrivals.next(isolation: #isolation) else { throw CancellationError() }
        waiting = nil
        switch input {
        case .answered(let id, _): transfers.removeValue(forKey: id)
        case .received(let id, _): waiting = id
        default: break
        }
        return input
    }

    /// Cancels the fetches and the timer, and waits until they have ended.
    func end() async {
        timer?.cancel()
        for transfer in transfers.values { transfer.task.cancel() }
        for transfer in transfers.values { await transfer.task.value }
        await timer?.value
    }
}

/// A fetch, whose parts are handled one after the other: the next one is passed when `partHandled` yields.
private struct Transfer {
    let task: Task<Void, Never>
    let partHandled: AsyncStream<Void>.Continuation
}

/// A state machine that a driver runs: inputs and times go in, effects come out. It owns neither clock nor socket.
package protocol IngestSession: Sendable {
    /// - Parameter now: time since the session began; never decreases.
    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect]
    var status: UpstreamStatus { get }
}

/// The reason why a session is over.
package enum SessionEnd: Equatable, Sendable {
    /// ENDLIST was reached, and everything before it delivered.
    case drained
    /// The upstream was silent for longer than the policy allows.
    case gaveUp(TrackerError)
    /// The upstream could not be opened, or needs keys that are not supported.
    case failed(TrackerError)
}
