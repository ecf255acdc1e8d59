package import Fetch
package import Media
import Synchronization

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
    private let executor: (any TaskExecutor)?
    private let demands = DemandChannel()

    /// - Parameter executor: the thread of the upstream's transfers, which runs the session too, but for what may take long;
    ///   nil: the caller's executor runs all of it.
    package init(upstream: any Fetcher, clock: C, executor: (any TaskExecutor)? = nil) {
        self.upstream = upstream
        self.clock = clock
        self.executor = executor
    }

    /// Tells the session that runs that somebody asks for a variant.
    package func demand(_ track: VideoTrackIdentity) { demands.send(track) }

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
        guard let executor else { return try await runHere(session, perform: perform) }
        return try await withTaskExecutorPreference(executor) {
            // Only a task that waits changes its thread.
            await Task.yield()
            return try await runHere(session, perform: perform)
        }
    }

    private func runHere(
        _ session: some IngestSession,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> DeliveryOutcome
    ) async throws -> SessionEnd {
        var tasks = DriverTasks(upstream: upstream, clock: clock, executor: executor, demands)
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
            let input = inputs.removeFirst()
            let effects = await tasks.run(isLong: input.isLong) { session.handle(input, at: now) }
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

private final class DemandChannel: Sendable {
    private let inputs = Mutex<AsyncStream<UpstreamSession.Input>.Continuation?>(nil)

    func connect(to next: AsyncStream<UpstreamSession.Input>.Continuation) { inputs.withLock { $0 = next } }

    func send(_ track: VideoTrackIdentity) { _ = inputs.withLock { $0?.yield(.demanded(track)) } }
}

/// The fetches and the timer of a driver, with the stream of the inputs that they produce.
///
/// Each is one task: a child of a group could not be canceled alone without tasks of its own.
private struct DriverTasks<C: Clock> where C.Duration == Duration {
    private let upstream: any Fetcher
    private let clock: C
    private let executor: (any TaskExecutor)?
    private var placement: StepPlacement
    private let began: C.Instant
    private let timer: SessionTimer<C>
    private let inputContinuation: AsyncStream<UpstreamSession.Input>.Continuation
    private var arrivals: AsyncStream<UpstreamSession.Input>.Iterator
    /// The fetches whose answers have not come, canceled or not. The parts of a fetch are handled one after the other: the
    /// next one is passed when `partHandled` yields.
    private var transfers: [FetchID: (task: Task<Void, Never>, partHandled: AsyncStream<Void>.Continuation)] = [:]
    /// The fetch whose part was handled last. It passes the next one when that is done.
    private var waiting: FetchID?

    init(upstream: any Fetcher, clock: C, executor: (any TaskExecutor)?, _ demands: DemandChannel) {
        self.upstream = upstream
        self.clock = clock
        self.executor = executor
        placement = StepPlacement(hasThread: executor != nil)
        began = clock.now
        let (inputs, continuation) = AsyncStream<UpstreamSession.Input>.makeStream()
        inputContinuation = continuation
        demands.connect(to: continuation)
        timer = SessionTimer(clock, since: began, executor: executor) { continuation.yield(.wake) }
        arrivals = inputs.makeAsyncIterator()
    }

    var now: Duration { began.duration(to: clock.now) }

    /// Runs a part of a step where it does not hold up others.
    mutating func run<Value>(
        isLong: Bool, within allowance: Duration = StepPlacement.usualAllowance, _ part: () async throws -> Value
    ) async rethrows -> Value {
        let (clock, began) = (clock, began)
        return try await placement.run(isLong: isLong, within: allowance, now: { began.duration(to: clock.now) }, part)
    }

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
            case .wake(let time): timer.wake(at: time)
            case .deliver, .probe, .report:
                let response = try await run(isLong: effect.isLong, within: effect.allowance) {
                    try await effect.forward(to: perform, at: now)
                }
                if let response { responses.append(response) }
            case .end(let end): return (responses, end)
            }
        }
        return (responses, nil)
    }

    private mutating func fetch(_ id: FetchID, _ request: FetchRequest) {
        let (handled, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task(executorPreference: executor) { [upstream, inputContinuation] in
            let outcome = await upstream.fetch(request) { part in
                inputContinuation.yield(.received(id, part))
                for await _ in handled { return }
            }
            inputContinuation.yield(.answered(id, outcome))
        }
        transfers[id] = (task, continuation)
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
        for transfer in transfers.values { transfer.task.cancel() }
        for transfer in transfers.values { await transfer.task.value }
        await timer.end()
    }
}

/// Wakes a session at the time that it asked for last.
///
/// A session asks with each step, and mostly for a later time. The sleep under way then goes on, and another one follows
/// it: a sleep that is canceled still costs a wake-up of the process when its time comes.
final class SessionTimer<C: Clock>: Sendable where C.Duration == Duration {
    private struct Sleep {
        /// When the session is to be woken: at the end of the sleep or later.
        var wanted: Duration
        var end: Duration
        let task: Task<Void, Never>
    }

    private enum Next {
        case sleep(until: Duration)
        case wake, nothing
    }

    private let clock: C
    private let began: C.Instant
    private let wake: @Sendable () -> Void
    private let executor: (any TaskExecutor)?
    /// The sleep under way; nil: the session is not to be woken.
    private let current = Mutex<Sleep?>(nil)

    /// - Parameters:
    ///   - began: the moment since which times are counted.
    ///   - executor: runs the sleep; nil: Swift's pool.
    ///   - wake: called on any thread.
    init(
        _ clock: C, since began: C.Instant, executor: (any TaskExecutor)? = nil, wake: @escaping @Sendable () -> Void
    ) {
        self.clock = clock
        self.began = began
        self.executor = executor
        self.wake = wake
    }

    /// Wakes the session at `time`, and at no time that it asked for before.
    func wake(at time: Duration) {
        current.withLock { current in
            if let end = current?.end, end <= time {
                current?.wanted = time
                return
            }
            current?.task.cancel()
            let task = Task(executorPreference: executor) { [self] in await sleep(until: time) }
            current = Sleep(wanted: time, end: time, task: task)
        }
    }

    /// Cancels the sleep, and waits until its task has ended.
    func end() async {
        let task = current.withLock { $0?.task }
        task?.cancel()
        await task?.value
    }

    private func sleep(until end: Duration) async {
        var end = end
        while (try? await clock.sleep(until: began.advanced(by: end), tolerance: nil)) != nil {
            switch next(after: end) {
            case .sleep(let later): end = later
            case .wake: return wake()
            case .nothing: return
            }
        }
    }

    private func next(after end: Duration) -> Next {
        current.withLock { current in
            // Another sleep has taken the place of one that is canceled.
            guard !Task.isCancelled, let wanted = current?.wanted else { return .nothing }
            current?.end = wanted
            if wanted > end { return .sleep(until: wanted) }
            current = nil
            return .wake
        }
    }
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

    /// Why another variant may be usable; nil if it would not be.
    var variantRefusal: VariantRefusal? { if case .failed(let error) = self { .failed(error) } else { nil } }
}
