package import Support

/// Decides which channels of a process run, from the requests of their viewers.
///
/// A channel that is not in `channels` is idle and costs nothing. A viewer is present while a request of his is held or
/// a stream is open, and for `Policy.absence` after a request for a playlist or a segment. A run is one reader of a
/// channel's upstream. The driver starts and ends runs as the effects say, and reports when a run is over.
package struct ChannelSupervisor: Sendable {
    package struct Policy: Equatable, Sendable {
        /// How long a channel runs after the last sign of a viewer.
        var idle = Duration.seconds(30)
        /// The longest time for which a request is held. hls.js and Kodi give up after 20 s.
        var startLimit = Duration.seconds(15)
        /// Runs at once as the operator says; nil: no limit.
        package var maxRunning: Int?
        /// Runs at once for which the process has descriptors; nil: no limit.
        package var descriptorLimit: Int?
        /// Channels without viewers that go on running: those watched last.
        var keepWarm = 0
        /// The time after a request during which the viewer of a playlist is present: players ask once a target
        /// duration.
        let absence = Duration.seconds(12)

        package init(
            idle: Duration = Duration.seconds(30), startLimit: Duration = Duration.seconds(15), maxRunning: Int? = nil,
            descriptorLimit: Int? = nil, keepWarm: Int = 0
        ) {
            self.idle = idle
            self.startLimit = startLimit
            self.maxRunning = maxRunning
            self.descriptorLimit = descriptorLimit
            self.keepWarm = keepWarm
        }

        /// Runs at once; nil: no limit.
        var runLimit: Int? { [maxRunning, descriptorLimit].compactMap { $0 }.min() }
    }

    /// The times at which a channel runs, as its configuration says.
    package struct Demand: Equatable, Sendable {
        /// Whether it runs without viewers.
        var isAlways = false
        /// How long it runs after the last sign of a viewer; nil: as the policy says.
        var idle: Duration?
        /// The account whose connections it shares; nil: none.
        var account: String?
    }

    /// One reader of a channel's upstream.
    package struct Run: Hashable, Sendable {
        let channel: String
        let number: UInt64
    }

    enum State: Equatable, Sendable {
        /// A viewer waits, and the channel starts once another one has ended.
        case queued
        case starting(Run)
        case running(Run)
        /// No viewer is present since that time.
        case lingering(Run, since: Duration)
        case ending(Run)
        /// The last run failed. The channel is not started again before that time.
        case failed(reason: FailureText, until: Duration)
    }

    /// A request that is held.
    struct Waiter: Equatable, Sendable {
        let id: UInt64
        let deadline: Duration
        let isStream: Bool
    }

    /// The state of a channel that is not idle, with its viewers.
    struct Entry: Equatable, Sendable {
        var state: State
        var waiters: [Waiter] = []
        /// Open streams of the current run.
        var streams = 0
        /// When a viewer was present last.
        var lastSeen: Duration
        /// A viewer who has no open stream is present until then.
        var presentUntil = Duration.zero
        /// Failures since a run lasted for long.
        var failures = 0
        /// When the current run published first.
        var publishedAt: Duration?
        /// The channel has no place among those that may run, and its requests wait for one until then; nil: it has one, or
        /// needs none. A player that changes the channel asks for the next before it has closed the last.
        var placeDeadline: Duration?
        /// Order of arrival among queued channels.
        var queuedAt: UInt64 = 0
    }

    package enum Input: Equatable, Sendable {
        /// A request that needs the channel running; it is answered with an effect `.answer`.
        case requested(String, waiter: UInt64, isStream: Bool)
        /// The client of a request that is held has left.
        case abandoned(String, waiter: UInt64)
        case streamOpened(Run)
        case streamClosed(Run)
        /// The first segment of the run can be played.
        case published(Run)
        /// The run is over and its upstream is no longer read. `failure`: the reason, unless it was asked to end.
        case ended(Run, failure: FailureText?)
        /// The channel left the list, or its entry changed.
        case retired(String)
        /// When channels run, as their configuration says now. Those that are not named stay as they are.
        case demanded([String: Demand])
        /// The connections of accounts. One that is not named has no limit.
        case connected([String: Int])
        /// Time has passed.
        case wake
    }

    enum Refusal: Equatable, Sendable {
        case startTimedOut
        /// As many channels run as may, and each of them has a viewer.
        case full(limit: Int)
        /// Each connection of the account has a channel with a viewer.
        case accountFull(String, connections: Int)
        case failed(reason: FailureText, retryAfter: Duration)
    }

    enum Effect: Equatable, Sendable {
        case start(Run)
        case end(Run)
        /// nil: the channel is running.
        case answer(UInt64, Refusal?)
    }

    /// Pauses after failures double from the first to the longest.
    static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(60))
    /// The time after a request for a stream until the stream is open.
    private static let openingTime = Duration.seconds(1)
    /// How long a request waits for a place.
    static let placeTime = Duration.seconds(2)

    let policy: Policy
    /// Channels that always run have an entry as long as their demand says so.
    var channels: SupervisedChannels
    private var runCount: UInt64 = 0
    private var queueCount: UInt64 = 0

    init(_ policy: Policy) {
        self.policy = policy
        channels = SupervisedChannels(policy)
    }

    /// When `.wake` is due; nil: not before something happens.
    var nextWake: Duration? { channels.nextDue }

    /// - Parameter now: time since the process began; never less than before.
    mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        var effects: [Effect] = []
        advance(to: now, &effects)
        switch input {
        case .requested(let name, let id, let isStream):
            let waiter = Waiter(id: id, deadline: now + policy.startLimit, isStream: isStream)
            request(name, waiter, at: now, &effects)
        case .abandoned(let name, let id): abandon(name, waiter: id, at: now)
        case .streamOpened(let run):
            update(run) {
                $0.streams += 1
                if case .lingering = $0.state { $0.state = .running(run) }
            }
        case .streamClosed(let run):
            update(run) {
                $0.streams -= 1
                $0.lastSeen = now
            }
        case .published(let run): publish(run, at: now, &effects)
        case .ended(let run, let failure): end(run, failure: failure, at: now, &effects)
        case .retired(let name): retire(name, &effects)
        case .demanded(let demands): apply(demands, at: now)
        case .connected(let connections): channels.connections = connections
        case .wake: break
        }
        advance(to: now, &effects)
        findPlaces(at: now, &effects)
        startQueued(&effects)
        return effects
    }

    /// Records a request for a channel that runs: its viewer is present. Nothing follows from it at once.
    /// - Returns: the run; nil if the channel does not publish.
    mutating func recordRequest(of name: String, isStream: Bool = false, at now: Duration) -> Run? {
        switch channels[name]?.state {
        case .running(let run), .lingering(let run, _):
            recordPresence(in: name, isStream: isStream, at: now) { $0.state = .running(run) }
            return run
        default: return nil
        }
    }

    /// Records a viewer of a channel, with what else changes then.
    private mutating func recordPresence(
        in name: String, isStream: Bool, at now: Duration, with change: (inout Entry) -> Void = { _ in }
    ) {
        let presence = min(isStream ? Self.openingTime : policy.absence, channels.idle(of: name))
        channels.update(name) { entry in
            change(&entry)
            entry.lastSeen = now
            entry.presentUntil = max(entry.presentUntil, now + presence)
        }
    }

    private mutating func update(_ run: Run, _ change: (inout Entry) -> Void) {
        guard channels[run.channel]?.state.run == run else { return }
        channels.update(run.channel, change)
    }
}

// MARK: - Requests, places and the start of runs

extension ChannelSupervisor {
    private mutating func request(
        _ name: String, _ waiter: Waiter, at now: Duration, _ effects: inout [Effect]
    ) {
        if recordRequest(of: name, isStream: waiter.isStream, at: now) != nil {
            effects.append(.answer(waiter.id, nil))
            return
        }
        let entry = channels[name]
        if case .failed(let reason, let until) = entry?.state, now < until {
            effects.append(.answer(waiter.id, .failed(reason: reason, retryAfter: until - now)))
            return
        }
        if entry == nil { channels[name] = Entry(state: .queued, lastSeen: now) }
        let needsPlace = entry.map { !$0.isDemanded && $0.placeDeadline == nil } ?? true
        if needsPlace { queueCount += 1 }
        channels.update(name) { [queueCount] entry in
            if needsPlace {
                if entry.state.run == nil { entry.state = .queued }
                (entry.queuedAt, entry.placeDeadline) = (queueCount, now + Self.placeTime)
            }
            entry.waiters.append(waiter)
            entry.lastSeen = now
        }
    }

    /// Forgets a request that is held. A channel that only waited to be started for it is idle again.
    private mutating func abandon(_ name: String, waiter id: UInt64, at now: Duration) {
        guard channels[name]?.waiters.contains(where: { $0.id == id }) == true else { return }
        channels.update(name) { entry in
            entry.waiters.removeAll { $0.id == id }
            entry.lastSeen = now
        }
        let isOver = channels[name].map { $0.state == .queued && $0.waiters.isEmpty } ?? false
        if isOver, !channels.isAlways(name) { channels[name] = nil }
    }

    /// Gives places to the channels that wait for one, as far as there are some, and refuses those that waited for too long.
    private mutating func findPlaces(at now: Duration, _ effects: inout [Effect]) {
        while let name = channels.firstWaiting.first(where: { isGone($0) || hasPlace($0) }) {
            if isGone(name) {
                refusePlace(name, at: now, &effects)
            } else {
                if let run = unwatchedRun(inPlaceOf: name) { end(run, &effects) }
                channels.update(name) { $0.placeDeadline = nil }
            }
        }
        for name in channels.refusedPlaces(by: now) { refusePlace(name, at: now, &effects) }
    }

    /// Whether nobody waits for the place any more.
    private func isGone(_ name: String) -> Bool { channels[name]?.waiters.isEmpty == true }

    /// Whether one more channel may run, now or once another one has ended.
    private func hasPlace(_ name: String) -> Bool {
        channels.obstacle(to: name) == nil || unwatchedRun(inPlaceOf: name) != nil
    }

    /// The run that ends for a channel: of those that have the place that it needs, the one idle longest.
    private func unwatchedRun(inPlaceOf name: String) -> Run? {
        switch channels.obstacle(to: name) {
        case .account(_, _, let unwatched?), .process(_, let unwatched?): channels[unwatched]?.state.run
        case .account, .process, nil: nil
        }
    }

    private mutating func refusePlace(_ name: String, at now: Duration, _ effects: inout [Effect]) {
        let refusal: Refusal =
            if case .account(let account, let connections, _) = channels.obstacle(to: name) {
                .accountFull(account, connections: connections)
            } else { .full(limit: policy.runLimit ?? 0) }
        answer(name, refusal, at: now, &effects) { _ in true }
        channels.update(name) { $0.placeDeadline = nil }
        if channels[name]?.state == .queued, !channels.isAlways(name) { channels[name] = nil }
    }

    private mutating func enqueue(_ entry: Entry, as name: String) {
        var entry = entry
        enqueue(&entry)
        channels[name] = entry
    }

    private mutating func enqueue(_ entry: inout Entry) {
        queueCount += 1
        (entry.state, entry.queuedAt) = (.queued, queueCount)
    }

    /// Queues the channels that always run from now on. Those that do no longer have their idle time.
    private mutating func apply(_ demands: [String: Demand], at now: Duration) {
        for (name, demand) in demands.sorted(by: { $0.key < $1.key }) {
            let wasAlways = channels.isAlways(name)
            channels.setDemand(demand, of: name)
            if demand.isAlways {
                if case .lingering(let run, _) = channels[name]?.state { channels[name]?.state = .running(run) }
                if channels[name] == nil { enqueue(Entry(state: .queued, lastSeen: now), as: name) }
                channels[name]?.placeDeadline = nil
            } else if wasAlways {
                channels[name]?.lastSeen = now
                if channels[name]?.state == .queued, channels[name]?.waiters.isEmpty == true { channels[name] = nil }
            }
        }
    }

    /// Starts queued channels in the order of their requests, as far as there are places.
    private mutating func startQueued(_ effects: inout [Effect]) {
        while let name = channels.firstQueued {
            runCount += 1
            let run = Run(channel: name, number: runCount)
            channels[name]?.state = .starting(run)
            effects.append(.start(run))
        }
    }

    private mutating func publish(_ run: Run, at now: Duration, _ effects: inout [Effect]) {
        guard case .starting(run) = channels[run.channel]?.state else { return }
        channels[run.channel]?.state = .running(run)
        channels[run.channel]?.publishedAt = now
        answer(run.channel, nil, at: now, &effects) { _ in true }
    }

    /// Answers the held requests that `isAnswered` selects. Their viewers were present until now.
    private mutating func answer(
        _ name: String, _ refusal: Refusal?, at now: Duration, _ effects: inout [Effect],
        where isAnswered: (Waiter) -> Bool
    ) {
        let answered = channels[name]?.waiters.filter(isAnswered) ?? []
        guard !answered.isEmpty else { return }
        channels.update(name) { $0.waiters.removeAll(where: isAnswered) }
        for waiter in answered {
            recordPresence(in: name, isStream: waiter.isStream, at: now)
            effects.append(.answer(waiter.id, refusal))
        }
    }
}

// MARK: - The end of runs

extension ChannelSupervisor {
    private mutating func end(_ run: Run, _ effects: inout [Effect]) {
        channels[run.channel]?.state = .ending(run)
        effects.append(.end(run))
    }

    private mutating func retire(_ name: String, _ effects: inout [Effect]) {
        switch channels[name]?.state {
        case .starting(let run), .running(let run), .lingering(let run, _): end(run, &effects)
        case .failed: channels[name] = nil
        case .queued, .ending, nil: break
        }
    }

    private mutating func end(_ run: Run, failure: FailureText?, at now: Duration, _ effects: inout [Effect]) {
        guard var entry = channels[run.channel], entry.state.run == run else { return }
        (entry.streams, entry.publishedAt) = (0, nil)
        if case .ending = entry.state {
            enqueue(&entry)
            channels[run.channel] = entry.waiters.isEmpty && !channels.isAlways(run.channel) ? nil : entry
            return
        }
        let reason = failure ?? "The channel has ended."
        // A run that published something old, or for a moment, is no success.
        if let since = channels[run.channel]?.publishedAt, now - since >= Self.longestPause { entry.failures = 0 }
        let pause = min(Self.firstPause * (1 << min(entry.failures, 6)), Self.longestPause)
        entry.failures += 1
        channels[run.channel] = entry
        answer(run.channel, .failed(reason: reason, retryAfter: pause), at: now, &effects) { _ in true }
        channels[run.channel]?.state = .failed(reason: reason, until: now + pause)
    }

    /// Carries out what is due: refuses requests that were held too long, and ends channels without viewers.
    private mutating func advance(to now: Duration, _ effects: inout [Effect]) {
        for name in channels.due(by: now) {
            guard let entry = channels[name] else { continue }
            answer(name, .startTimedOut, at: now, &effects) { $0.deadline <= now }
            if let due = channels.dueTime(of: name), due <= now { expire(name, entry, &effects) }
        }
        for name in channels.cooled(by: now) {
            if let run = channels[name]?.state.run { end(run, &effects) }
        }
    }

    private mutating func expire(_ name: String, _ entry: Entry, _ effects: inout [Effect]) {
        switch entry.state {
        case .running(let run): channels[name]?.state = .lingering(run, since: entry.lastSeen)
        case .starting(let run): end(run, &effects)
        case .failed where channels.isAlways(name): enqueue(entry, as: name)
        case .queued, .failed: channels[name] = nil
        case .lingering, .ending: break
        }
    }
}

extension ChannelSupervisor.State {
    /// The run that is not over.
    var run: ChannelSupervisor.Run? {
        switch self {
        case .queued, .failed: nil
        case .starting(let run), .running(let run), .lingering(let run, _), .ending(let run): run
        }
    }
}

extension ChannelSupervisor.Entry {
    /// Whether the channel has a place among those that may run, or waits for one.
    var isDemanded: Bool {
        guard placeDeadline == nil else { return false }
        return switch state {
        case .queued, .starting, .running, .lingering: true
        case .ending: !waiters.isEmpty
        case .failed: false
        }
    }

    /// Whether a viewer waits or has a stream open.
    var isInUse: Bool { streams > 0 || !waiters.isEmpty }
}
