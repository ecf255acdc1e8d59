package import Channel
import ChannelList
package import Fleet
import Guide
import HTTP
import LiveRing
import Record
import Support
import Synchronization

/// Runs the channels of a list as their supervisor decides. No other code of it waits.
///
/// Event loops and runs call it concurrently. Of an idle channel, it stores only the entry in the list.
package final class ChannelHost: Sendable {
    /// The answer to a request that needs a channel running.
    enum Readiness: Sendable {
        case running(RunningChannel)
        case refused(ChannelSupervisor.Refusal, status: RelayStatus?)
        /// The successor of this process runs the channel.
        case handedOver
    }

    struct State {
        var supervisor: ChannelSupervisor
        var directory: ChannelDirectory
        var runs: [ChannelSupervisor.Run: RunningChannel] = [:]
        var waiters: [UInt64: Waiter] = [:]
        var waiterCount: UInt64 = 0
        var wake: (time: Duration, task: Task<Void, Never>)?
        var startCount = 0
        var ranges = ProviderRangeRuns()
        /// Whether the process ends: nothing is started any more.
        var isClosed = false
        var handover = HandoverProgress()
    }

    struct Waiter {
        let channel: String
        let continuation: CheckedContinuation<Readiness, Never>
    }

    let policy: ChannelSupervisor.Policy
    private let settings: ChannelSettings
    let state: Mutex<State>
    private let clock: HostClock
    private let observe: @Sendable (ChannelSupervisor.Input) -> Void

    /// - Parameter observe: called after each input of the supervisor, in their order. It must not wait or call back.
    package init(
        _ directory: ChannelDirectory, policy: ChannelSupervisor.Policy, settings: ChannelSettings,
        clock: HostClock = .continuous(), observe: @escaping @Sendable (ChannelSupervisor.Input) -> Void = { _ in }
    ) {
        self.policy = policy
        self.settings = settings
        self.clock = clock
        self.observe = observe
        state = Mutex(State(supervisor: ChannelSupervisor(policy), directory: directory))
    }

    /// The time since the process began.
    var now: Duration { clock.now() }

    /// Starts the channels that always run.
    package func start() {
        state.withLock { state in
            handle(.connected(state.directory.connections), &state)
            handle(.demanded(spread(state.directory.demands)), &state)
        }
        guard let fleet else { return }
        listChannels(in: fleet)
        fleet.start { [weak self] name in
            guard let self, let demand = directory[name]?.demand else { return }
            // The run before failed because another node ran the channel.
            if case .failed = listing(of: name)?.entry?.state { handle(.retired(name)) }
            handle(.demanded([name: demand]))
        } stop: { [weak self] name in
            guard let self else { return }
            handle(.demanded([name: directory[name].map { Self.onDemand($0.demand) } ?? .init()]))
            handle(.retired(name))
        } probe: { [weak self] name in
            guard let self, let channel = directory[name] else { return false }
            return await settings.isAnswered(by: channel)
        }
    }

    /// The node of the fleet; nil: this process runs each channel of the list alone.
    var fleet: FleetMember? { settings.fleet }

    /// The key with which this node asks other nodes; nil: there are none.
    package var peerKey: FleetKey? { fleet?.key }

    /// Whether no node runs a channel that always runs. One of them takes it soon.
    func isBeingTaken(_ name: String) -> Bool {
        guard let fleet, directory[name]?.options.runsAlways == true else { return false }
        return fleet.place(of: name) == .nowhere
    }

    private func listChannels(in fleet: FleetMember) {
        let directory = directory
        fleet.list(directory.fleetDemands, hash: directory.fleetHash)
    }

    /// The demands of this node: a channel runs without viewers only where the fleet has placed it.
    private func spread(_ demands: [String: ChannelSupervisor.Demand]) -> [String: ChannelSupervisor.Demand] {
        guard let fleet else { return demands }
        return Dictionary(
            uniqueKeysWithValues: demands.map { name, demand in
                (name, fleet.isHeld(name) ? demand : Self.onDemand(demand))
            })
    }

    private static func onDemand(_ demand: ChannelSupervisor.Demand) -> ChannelSupervisor.Demand {
        var demand = demand
        demand.isAlways = false
        return demand
    }

    package var directory: ChannelDirectory { state.withLock { $0.directory } }

    /// Whether the process ends: nothing is started any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether this is a process of one channel, which has no name.
    var isSingle: Bool { settings.single != nil }

    /// The state of the only channel, in a process of one channel.
    package var onlyState: ChannelState? { running("")?.state }

    var guide: GuideService? { settings.guide }

    var continuousRecordings: ContinuousRecordings { settings.recordings }

    /// The rewind of channels without a setting of their own; nil: unlimited.
    var defaultRewind: Duration? { settings.configuration.retention.rewind }

    /// Replaces the list. A channel that is relayed differently, or is no longer listed, ends; other channels are not
    /// affected.
    ///
    /// Requests wait for a number of steps that grows with the change, not with the list. Calls must not overlap.
    /// - Returns: the differences, and the number of channels that end.
    func replace(_ next: ChannelDirectory) -> (difference: ChannelListDifference, endedCount: Int) {
        let difference = ChannelListDifference(from: directory.channels, to: next.channels)
        let (retired, demands) = (difference.retired, spread(difference.demands))
        var next = next
        let endedCount = state.withLock { state in
            next.version = state.directory.version + 1
            state.directory = next
            let running = retired.filter { state.supervisor.channels[$0] != nil }
            for name in retired where state.supervisor.isKnown(name) { handle(.retired(name), &state) }
            if next.connections != state.supervisor.channels.connections {
                handle(.connected(next.connections), &state)
            }
            if !demands.isEmpty { handle(.demanded(demands), &state) }
            return running.count
        }
        if let fleet { listChannels(in: fleet) }
        return (difference, endedCount)
    }

    /// Records a viewer and returns the run of a channel; nil if the channel does not publish.
    func recordRequest(of name: String, isStream: Bool = false) -> RunningChannel? {
        state.withLock { state in
            state.supervisor.recordRequest(of: name, isStream: isStream, at: now).flatMap { state.runs[$0] }
        }
    }

    /// A channel as listed, and its state; nil if it is not listed.
    func listing(of name: String) -> (channel: ListedChannel, entry: ChannelSupervisor.Entry?)? {
        state.withLock { state in state.directory[name].map { ($0, state.supervisor.channels[name]) } }
    }

    /// The failure of a channel's last run; nil if the channel has published since, or never ran.
    func failure(of name: String) -> ChannelSupervisor.Failure? { state.withLock { $0.supervisor.failures[name] } }

    /// The run of a channel, whether it publishes or not. No viewer is recorded.
    func running(_ name: String) -> RunningChannel? {
        state.withLock { state in state.supervisor.channels[name]?.state.run.flatMap { state.runs[$0] } }
    }

    /// Returns when the channel publishes, or with the reason why it does not. Starts the channel if necessary. If the
    /// task is canceled because the client has left, its place is free at once.
    /// - Parameter client: the client that requests the channel.
    func waitUntilRunning(_ name: String, isStream: Bool, for client: String? = nil) async -> Readiness {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    guard !state.isClosed, !Task.isCancelled else {
                        continuation.resume(returning: state.isClosed ? Self.closing : Self.abandoned)
                        return
                    }
                    guard !state.isElsewhere(name) else { return continuation.resume(returning: .handedOver) }
                    if ProviderRange(name: name) != nil, let refusal = refusal(of: name, for: client, &state) {
                        return continuation.resume(returning: .refused(refusal, status: nil))
                    }
                    state.waiters[id] = Waiter(channel: name, continuation: continuation)
                    handle(.requested(name, waiter: id, isStream: isStream), &state)
                }
            }
        } onCancel: {
            abandon(id)
        }
    }

    /// The reason why a range of a provider's archive may not start; nil if it may, or is running.
    private func refusal(
        of range: String, for client: String?, _ state: inout State
    ) -> ChannelSupervisor.Refusal? {
        let running = state.runs.filter { ProviderRange(name: $0.key.channel) != nil }.map {
            ($0.key.channel, $0.value.state.snapshot?.storage.bytes ?? 0)
        }
        return state.ranges.admit(
            range, for: ClientNetwork(client), running: Dictionary(running) { $0 + $1 },
            space: FileSystemSpace(at: settings.spool))
    }

    private func abandon(_ id: UInt64) {
        state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return }
            handle(.abandoned(waiter.channel, waiter: id), &state)
            waiter.continuation.resume(returning: Self.abandoned)
        }
    }

    func handle(_ input: ChannelSupervisor.Input) { state.withLock { handle(input, &$0) } }

    /// Refuses held requests and all further ones, so that nothing is started any more.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            state.wake?.task.cancel()
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: Self.closing) }
    }

    /// Ends every run, and returns when all of them have ended.
    package func shutdown() async {
        close()
        let runs = state.withLock { Array($0.runs.values) }
        for run in runs { run.end() }
        for run in runs { await run.wait() }
    }

    /// The answer while the process ends.
    private static let closing = Readiness.refused(
        .failed(reason: "liverelay ends.", retryAfter: .seconds(5)), status: nil)

    /// The answer to a client that has closed its sending side. A client that has left does not read it.
    private static let abandoned = Readiness.refused(
        .failed(reason: "The client has closed its connection.", retryAfter: .seconds(1)), status: nil)

    /// A snapshot of the process, for its status.
    struct Overview: Sendable {
        let directory: ChannelDirectory
        let channels: [String: ChannelSupervisor.Entry]
        let statuses: [String: RelayStatus]
        /// The last failures of channels that have not published since.
        let failures: [String: ChannelSupervisor.Failure]
        let policy: ChannelSupervisor.Policy
        let startCount: Int
        let uptime: Duration

        /// The part of the overview that a viewer may see.
        func seen(by viewer: Viewer) -> Overview {
            if viewer.reach == .everything { return self }
            let isSeen = { (slug: String) in directory.isOpen(slug, to: viewer) }
            return Overview(
                directory: directory.opened(to: viewer), channels: channels.filter { isSeen($0.key) },
                statuses: statuses.filter { isSeen($0.key) }, failures: failures.filter { isSeen($0.key) },
                policy: policy, startCount: startCount, uptime: uptime)
        }
    }

    /// The health of each channel that is not idle, for its history.
    var healths: [String: ChannelHealth] {
        state.withLock { state in
            let entries = state.supervisor.channels.entries.filter { state.directory.lists($0.key) }
            return entries.compactMapValues { entry in
                if case .failed = entry.state { return .failed }
                return entry.state.run.flatMap { state.runs[$0] }.flatMap { ChannelHealth($0.state.phase) }
            }
        }
    }

    var runs: [RunningChannel] { state.withLock { Array($0.runs.values) } }

    var overview: Overview {
        let (directory, channels, runs, failures, startCount) = state.withLock { state in
            (
                state.directory, state.supervisor.channels.entries, state.runs, state.supervisor.failures,
                state.startCount
            )
        }
        return Overview(
            directory: directory, channels: channels,
            statuses: Dictionary(runs.map { ($0.key.channel, $0.value.state.status) }) { first, _ in first },
            failures: failures, policy: policy, startCount: startCount, uptime: now)
    }
}

extension ChannelListDifference {
    /// The slugs of channels whose runs end.
    fileprivate var retired: [String] {
        removed.map(\.slug) + changed.filter(\.affectsSources).map(\.before.slug)
    }

    /// The new demands of channels whose demands have changed, or whose runs end.
    fileprivate var demands: [String: ChannelSupervisor.Demand] {
        var demands: [String: ChannelSupervisor.Demand] = [:]
        for channel in removed where channel.demand != .init() { demands[channel.slug] = .init() }
        for channel in added where channel.demand != .init() { demands[channel.slug] = channel.demand }
        for change in changed where change.affectsSources || change.before.demand != change.after.demand {
            demands[change.after.slug] = change.after.demand
        }
        return demands
    }
}

extension ChannelHost {
    /// Carries out the supervisor's decisions. Nothing in it waits or calls back.
    func handle(_ input: ChannelSupervisor.Input, _ state: inout State) {
        // A recording that follows the run looks for the next one.
        if case .ended(let run, _) = input { state.runs.removeValue(forKey: run)?.state.publications.signal() }
        for effect in state.supervisor.handle(input, at: now) { perform(effect, &state) }
        scheduleWake(&state)
        observe(input)
    }

    private func perform(_ effect: ChannelSupervisor.Effect, _ state: inout State) {
        switch effect {
        case .start(let run): start(run, &state)
        case .end(let run): state.runs[run]?.end()
        case .answer(let id, let refusal):
            guard let waiter = state.waiters.removeValue(forKey: id) else { return }
            let running = state.supervisor.channels[waiter.channel]?.state.run.flatMap { state.runs[$0] }
            if refusal == nil, let running {
                waiter.continuation.resume(returning: .running(running))
            } else {
                waiter.continuation.resume(
                    returning: .refused(refusal ?? .startTimedOut, status: running?.state.status))
            }
        }
    }

    func start(_ run: ChannelSupervisor.Run, _ state: inout State) {
        guard !state.isClosed, let channel = state.directory[run.channel] else {
            handle(.ended(run, failure: "The channel is no longer listed."), &state)
            return
        }
        guard let origin = state.handover.origin(of: run) else { return }
        state.startCount += 1
        state.runs[run] = RunningChannel(
            run, settings.runner(of: channel, run: run, in: origin.directory), of: settings.single,
            after: origin.predecessor, continuesRing: origin.directory != nil,
            removesSpool: { [weak self, settings] path in
                self?.isHandingOver != true && settings.removesSpool(path, current: self?.directory[run.channel])
            },
            report: { [weak self] in self?.handle($0) })
        // Until the take-over, the other process counts as a viewer, because it may have all of the channel's viewers.
        if origin.predecessor != nil { handle(.streamOpened(run), &state) }
    }

    /// Maintains one timer for the process, for the earliest time at which something is due.
    private func scheduleWake(_ state: inout State) {
        guard let time = state.supervisor.nextWake, !state.isClosed else { return }
        if let wake = state.wake, wake.time <= time { return }
        state.wake?.task.cancel()
        let task = Task { [weak self, clock] in
            guard (try? await clock.sleep(time)) != nil else { return }
            self?.wake()
        }
        state.wake = (time, task)
    }

    private func wake() {
        state.withLock { state in
            state.wake = nil
            handle(.wake, &state)
        }
    }
}

/// The clock of a process of many channels.
package struct HostClock: Sendable {
    /// The time since the process began.
    let now: @Sendable () -> Duration
    /// Returns at that time. Throws if the task is canceled earlier.
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    static func continuous() -> HostClock {
        let clock = ContinuousClock()
        let start = clock.now
        return HostClock(
            now: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
    }
}
