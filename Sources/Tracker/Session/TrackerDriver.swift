/// What a driver hands downstream.
package enum DriverOutput: Equatable, Sendable {
    case delivery(Delivery)
    /// Could it be published? Nothing of it is.
    case probe(Delivery)
    case event(UpstreamEvent)
    /// How the session stands; after each step, once what the step brought was handed over.
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

    /// Runs `session` until it ends, and says how, for somebody who uses whatever is delivered.
    package func run(
        session: some IngestSession, perform: (_ output: DriverOutput, _ now: Duration) async throws -> Void
    ) async throws -> SessionEnd {
        try await run(reporting: session) { output, now in
            try await perform(output, now)
            return .published
        }
    }

    /// Runs `session` until it ends, and says how. It hears what became of each segment of picture and sound before
    /// anything else happens.
    ///
    /// Outputs are performed one after the other; as long as one takes, nothing else is decided: that is how a slow
    /// consumer holds back the intake. Cancelling the task, or throwing from `perform`, cancels every transfer and ends
    /// the run with that error.
    ///
    /// - Parameter perform: returns what became of a delivery, or would; of other outputs, anything.
    package func run(
        reporting session: some IngestSession,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd {
        var session = session
        let began = clock.now
        return try await withThrowingDiscardingTaskGroup { group in
            var errands = DriverTasks(upstream: upstream, clock: clock, began: began)
            defer { group.cancelAll() }
            var inputs = [UpstreamSession.Input.start]
            while true {
                let input = inputs.isEmpty ? try await errands.next() : inputs.removeFirst()
                let now = began.duration(to: clock.now)
                for effect in session.handle(input, at: now) {
                    switch effect {
                    case .fetch(let id, let request): errands.fetch(id, request, in: &group)
                    case .cancel(let id): errands.cancel(id)
                    case .wake(let time): errands.wake(at: time, in: &group)
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
    }
}

extension UpstreamSession.Effect {
    /// Hands on what goes downstream, the same by every driver; the rest is a driver's own to carry out.
    /// - Returns: what the session is to hear of it before anything else.
    func forward(
        to perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome, at now: Duration
    ) async throws -> UpstreamSession.Input? {
        switch self {
        case .deliver(let delivery):
            let reception = try await perform(.delivery(delivery), now)
            return delivery.isMedia ? .delivered(delivery, reception) : nil
        case .probe(let delivery): return .probed(delivery, try await perform(.probe(delivery), now))
        case .report(let event):
            _ = try await perform(.event(event), now)
            return nil
        case .fetch, .cancel, .wake, .end: return nil
        }
    }
}

/// The fetches and the one timer of a run, and the inbox they answer into.
private struct DriverTasks<C: Clock> where C.Duration == Duration {
    private let upstream: any Fetcher
    private let clock: C
    private let began: C.Instant
    private let inputs: AsyncStream<UpstreamSession.Input>
    private let inputContinuation: AsyncStream<UpstreamSession.Input>.Continuation
    private var arrivals: AsyncStream<UpstreamSession.Input>.Iterator
    private var transfers: [FetchID: CancelableTask] = [:]
    private var timer: CancelableTask?

    init(upstream: any Fetcher, clock: C, began: C.Instant) {
        self.upstream = upstream
        self.clock = clock
        self.began = began
        (inputs, inputContinuation) = AsyncStream.makeStream()
        arrivals = inputs.makeAsyncIterator()
    }

    mutating func fetch(_ id: FetchID, _ request: FetchRequest, in group: inout ThrowingDiscardingTaskGroup<any Error>)
    {
        let transfer = CancelableTask()
        transfers[id] = transfer
        group.addTask { [upstream, inputContinuation] in
            await transfer.run { inputContinuation.yield(.answered(id, await upstream.fetch(request))) }
        }
    }

    mutating func cancel(_ id: FetchID) { transfers.removeValue(forKey: id)?.revoke() }

    mutating func wake(at time: Duration, in group: inout ThrowingDiscardingTaskGroup<any Error>) {
        timer?.revoke()
        let timer = CancelableTask()
        self.timer = timer
        group.addTask { [clock, began, inputContinuation] in
            await timer.run {
                guard (try? await clock.sleep(until: began.advanced(by: time), tolerance: nil)) != nil else { return }
                inputContinuation.yield(.wake)
            }
        }
    }

    /// The next thing that happened. Cancelling the task ends the wait.
    mutating func next() async throws -> UpstreamSession.Input {
        guard let input = await arrivals.next(isolation: #isolation) else { throw CancellationError() }
        if case .answered(let id, _) = input { transfers.removeValue(forKey: id) }
        return input
    }
}

/// One piece of work in a task group that can be cancelled by itself.
private struct CancelableTask: Sendable {
    private let signal: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (signal, continuation) = AsyncStream.makeStream() }

    func revoke() { continuation.finish() }

    /// Returns when the work is done, or cancelled and done.
    func run(_ work: @escaping @Sendable () async -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await work()
                revoke()
            }
            for await _ in signal {}
            group.cancelAll()
        }
    }
}
