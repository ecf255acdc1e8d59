import Synchronization

/// Carries out the decisions of a node: its requests to the engine, its timer, and the runs that wait for them.
package final class FleetMember: Sendable {
    /// The epoch of a run, and the media that it continues.
    package struct Grant: Equatable, Sendable {
        package let epoch: UInt64
        /// The least media sequence number; 0: that of the upstream will do.
        package let base: UInt64
        /// nil: nothing was published before.
        package let after: PublishedMark?
    }

    /// Why a channel does not run here.
    package enum Refusal: Error, Equatable, Sendable {
        /// Another node runs it.
        case elsewhere
        /// No node may run it now.
        case unavailable
    }

    package enum Report: Equatable, Sendable {
        /// The engine did not answer as it should. Reported once until it does again.
        case failing(EngineError)
        case recovered(after: Duration)
        case started(String, epoch: UInt64, base: UInt64)
        case stopping(String)
    }

    /// A clock that counts sleep.
    package struct SleepingClock: Sendable {
        let now: @Sendable () -> Duration
        let sleep: @Sendable (_ until: Duration) async -> Void

        /// CLOCK_BOOTTIME, from the start of the process on.
        package static func continuous() -> SleepingClock {
            let clock = ContinuousClock()
            let start = clock.now
            return SleepingClock(
                now: { start.duration(to: clock.now) },
                sleep: { try? await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
        }
    }

    private struct State {
        var decisions: FleetNode
        var grants: [String: Grant] = [:]
        /// Channels whose run has begun and not ended.
        var runs: Set<String> = []
        /// Channels whose run has to end.
        var stopping: Set<String> = []
        var waiters: [String: [UInt64: CheckedContinuation<Void, Never>]] = [:]
        var admissions: [String: Admission] = [:]
        var count: UInt64 = 0
        var wake: (time: Duration, task: Task<Void, Never>)?
        var failingSince: Duration?
        var always: Set<String> = []
        var hasLeft = false
        var isClosed = false
    }

    private struct Admission {
        let number: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// How long a request waits for another node's decision.
    private static let longestWait = Duration.seconds(15)

    private let engine: any FleetEngine
    package let key: FleetKey
    package let texts: SharedTexts
    private let clock: SleepingClock
    private let state: Mutex<State>
    private let report: @Sendable (Report) -> Void
    /// The requests of the fleet to the host of the channels.
    private struct Callbacks {
        var start: @Sendable (String) -> Void = { _ in }
        var stop: @Sendable (String) -> Void = { _ in }
        var probe: @Sendable (String) async -> Bool = { _ in false }
    }

    private let callbacks = Mutex(Callbacks())

    package init(
        _ record: NodeRecord, engine: any FleetEngine, key: FleetKey, timing: FleetTiming = .init(),
        clock: SleepingClock = .continuous(), report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        (self.engine, self.key, self.clock, self.report) = (engine, key, clock, report)
        texts = SharedTexts(engine, clock: clock)
        state = Mutex(State(decisions: FleetNode(record, timing: timing)))
    }

    /// Begins to renew the record.
    /// - Parameters:
    ///   - start: called when a channel that always runs has to be run here.
    ///   - stop: called when the run of a channel has to end.
    ///   - probe: returns whether the upstream of a channel answers this node.
    package func start(
        _ start: @escaping @Sendable (String) -> Void, stop: @escaping @Sendable (String) -> Void,
        probe: @escaping @Sendable (String) async -> Bool
    ) {
        callbacks.withLock { $0 = Callbacks(start: start, stop: stop, probe: probe) }
        send(.wake)
    }

    package func list(_ demands: [String: FleetNode.Demand], hash: String) {
        state.withLock { $0.always = Set(demands.filter(\.value.isAlways).keys) }
        send(.listed(demands, hash: hash))
    }

    package func place(of channel: String) -> FleetNode.Place {
        state.withLock { $0.decisions.place(of: channel, at: clock.now()) }
    }

    /// Whether viewers should use this node: it may publish, and its process does not end.
    package var isReady: Bool {
        state.withLock { $0.decisions.holdsLease(at: clock.now()) && !$0.decisions.isLeaving }
    }

    /// Whether this node may publish.
    package var holdsLease: Bool { state.withLock { $0.decisions.holdsLease(at: clock.now()) } }

    package func isHeld(_ channel: String) -> Bool { state.withLock { $0.grants[channel] != nil } }

    /// The newest records of all nodes.
    package var view: FleetView? { state.withLock { $0.decisions.view } }

    /// The request of another node, which has the key; nil if the proof of it does not hold.
    /// - Parameter field: the value of the header field with the proof.
    package func request(_ request: ProvenRequest, provenBy field: String) -> ProvenRequest? {
        let (node, counters) = state.withLock { ($0.decisions.record.node, $0.decisions.provableCounters) }
        return key.request(request, provenBy: field, to: node, counters: counters)
    }

    /// The nodes beside this one whose records change.
    package var peers: [FleetPeer] { state.withLock { $0.decisions.peers } }

    // MARK: - Runs

    /// Waits until this node owns the channel.
    package func acquire(_ channel: String) async throws(Refusal) -> Grant {
        let owner = await waitForOwner(of: channel) { state in
            guard let grant = state.grants[channel], !state.stopping.contains(channel) else { return nil }
            state.runs.insert(channel)
            return grant
        }
        switch owner {
        case .here(let grant): return grant
        case .elsewhere: throw .elsewhere
        case nil: throw .unavailable
        }
    }

    /// Waits until a node owns the channel, so that a request for it can be answered there.
    package func awaitOwner(of channel: String) async {
        guard state.withLock({ $0.decisions.demands[channel] != nil }) else { return }
        _ = await waitForOwner(of: channel) { state in
            state.stopping.contains(channel) ? nil : state.grants[channel]
        }
    }

    private enum Owner: Sendable {
        case here(Grant)
        case elsewhere
    }

    /// - Parameter grant: takes the grant of this node; nil: there is none.
    /// - Returns: nil if no node owns the channel in time.
    private func waitForOwner(
        of channel: String, _ grant: @Sendable (inout State) -> Grant?
    ) async -> Owner? {
        let deadline = clock.now() + Self.longestWait
        send(.requested(channel))
        var owner: Owner?
        while owner == nil, !Task.isCancelled, clock.now() < deadline, !state.withLock({ $0.isClosed }) {
            owner = state.withLock { state in
                if let grant = grant(&state) { return .here(grant) }
                if case .at = state.decisions.place(of: channel, at: clock.now()) { return .elsewhere }
                return nil
            }
            if owner == nil { await waitForChange(of: channel) }
        }
        if case .here? = owner { return owner }
        send(.abandoned(channel))
        return owner
    }

    /// Waits for the next decision about a channel, for newer records, or a second.
    package func waitForChange(of channel: String) async {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        let timer = Task { [clock, weak self] in
            await clock.sleep(clock.now() + .seconds(1))
            self?.resume(channel, id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters[channel, default: [:]][id] = continuation }
                if Task.isCancelled { resume(channel, id) }
            }
        } onCancel: {
            resume(channel, id)
        }
        timer.cancel()
    }

    private func resume(_ channel: String, _ id: UInt64? = nil) {
        let waiters = state.withLock { state in
            if let id { return [state.waiters[channel]?.removeValue(forKey: id)].compactMap { $0 } }
            return Array((state.waiters.removeValue(forKey: channel) ?? [:]).values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Records an entry, and waits until it may become visible.
    /// - Returns: false if the run ends, or another node has the channel.
    package func admit(_ mark: PublishedMark, rate: Int, isInBreak: Bool, of channel: String) async -> Bool {
        guard isHeld(channel) else { return false }
        send(.inBreak(channel, isInBreak))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEnding = state.withLock { state in
                    if state.stopping.contains(channel) || state.grants[channel] == nil || Task.isCancelled {
                        return true
                    }
                    state.admissions[channel] = Admission(number: mark.number, continuation: continuation)
                    return false
                }
                if isEnding { return continuation.resume(returning: false) }
                send(.prepared(channel, mark, rate: rate))
            }
        } onCancel: {
            refuse(channel)
        }
    }

    /// Records whether the upstream answers the run of a channel. Another node takes the channel if it answers that.
    package func recordUpstream(of channel: String, isAnswering: Bool) {
        if isHeld(channel) { send(.upstream(channel, isAnswering: isAnswering)) }
    }

    private func refuse(_ channel: String) {
        let admission = state.withLock { $0.admissions.removeValue(forKey: channel) }
        admission?.continuation.resume(returning: false)
    }

    /// Says that the run of a channel has ended. A channel that always runs stays this node's, unless it has to stop.
    package func recordEnd(of channel: String) {
        let isOver = state.withLock { state in
            state.runs.remove(channel)
            guard state.stopping.remove(channel) != nil || !state.always.contains(channel) || state.isClosed else {
                // The next run continues after this one.
                if let grant = state.grants[channel] {
                    let mark = state.decisions.mark(of: channel)?.published ?? grant.after
                    state.grants[channel] = Grant(
                        epoch: grant.epoch, base: max(grant.base, mark.map { $0.number + 1 } ?? 0), after: mark)
                }
                return false
            }
            state.grants[channel] = nil
            return true
        }
        if isOver { send(.stopped(channel)) }
    }

    /// The time in which a load balancer notices that a node is not ready. It answers for other nodes until then.
    private static let notice = Duration.seconds(5)

    /// Hands all channels over, and returns when that is done, or after a time.
    package func leave(within limit: Duration) async {
        send(.leaving)
        let start = clock.now()
        let (earliest, deadline) = (start + Self.notice, start + limit)
        while !state.withLock({ $0.hasLeft }) || clock.now() < earliest, clock.now() < deadline, !Task.isCancelled {
            await clock.sleep(clock.now() + .milliseconds(50))
        }
        state.withLock { state in
            state.isClosed = true
            state.wake?.task.cancel()
        }
    }

    // MARK: - Decisions

    private func send(_ input: FleetNode.Input) {
        let actions = state.withLock { state -> [FleetNode.Action] in
            guard !state.isClosed else { return [] }
            let actions = state.decisions.handle(input, at: clock.now())
            for action in actions { record(action, &state) }
            scheduleWake(&state)
            return actions
        }
        for action in actions { perform(action) }
    }

    private func record(_ action: FleetNode.Action, _ state: inout State) {
        switch action {
        case .start(let channel, let epoch, let base, let after):
            state.grants[channel] = Grant(epoch: epoch, base: base, after: after)
        case .stop(let channel): state.stopping.insert(channel)
        case .left: state.hasLeft = true
        case .beat, .create, .probe, .admit, .forget: break
        }
    }

    private func perform(_ action: FleetNode.Action) {
        switch action {
        case .beat(let record): Task { await beat(record) }
        case .create(let record): Task { send(.created(record, isOwn: await engine.create(record))) }
        case .start(let channel, let epoch, let base, _):
            report(.started(channel, epoch: epoch, base: base))
            let (isAlways, isAwaited) = state.withLock { ($0.always.contains(channel), $0.waiters[channel] != nil) }
            if isAlways {
                callbacks.withLock { $0.start }(channel)
            } else if !isAwaited {
                recordEnd(of: channel)
            }
            resume(channel)
        case .stop(let channel):
            report(.stopping(channel))
            refuse(channel)
            if state.withLock({ $0.runs.contains(channel) }) {
                callbacks.withLock { $0.stop }(channel)
            } else {
                recordEnd(of: channel)
            }
        case .probe(let channel):
            let probe = callbacks.withLock { $0.probe }
            Task { send(.upstream(channel, isAnswering: await probe(channel))) }
        case .admit(let channel, let number):
            let admission = state.withLock { state in
                state.admissions[channel]?.number == number ? state.admissions.removeValue(forKey: channel) : nil
            }
            admission?.continuation.resume(returning: true)
        case .forget(let nodes): Task { await engine.removeNodes(nodes) }
        case .left: break
        }
    }

    private func beat(_ record: NodeRecord) async {
        do throws(EngineError) {
            let view = try await engine.beat(record, sentAt: clock.now())
            let since = state.withLock { state in
                defer { state.failingSince = nil }
                return state.failingSince
            }
            if let since { report(.recovered(after: clock.now() - since)) }
            send(.viewed(view))
            texts.record(view)
            for channel in state.withLock({ Array($0.waiters.keys) }) { resume(channel) }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.failingSince = state.failingSince ?? clock.now() }
                return state.failingSince == nil
            }
            if isFirst { report(.failing(error)) }
            send(.missed)
        }
    }

    private func scheduleWake(_ state: inout State) {
        guard let time = state.decisions.nextWake else { return }
        if let wake = state.wake, wake.time <= time { return }
        state.wake?.task.cancel()
        let task = Task { [weak self, clock] in
            await clock.sleep(time)
            if !Task.isCancelled { self?.wake() }
        }
        state.wake = (time, task)
    }

    private func wake() {
        state.withLock { $0.wake = nil }
        send(.wake)
    }
}
