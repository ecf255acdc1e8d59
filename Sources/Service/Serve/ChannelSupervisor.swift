package import Support

/// Decides which channels of a process run, from the requests of their viewers.
///
/// A channel that is not in `channels` is idle and costs nothing. A viewer is present while one of the viewer's
/// requests is held or one of its streams is open, and for `Policy.absence` after a request for a playlist or a
/// segment. A run is one reader of a channel's upstream. The driver starts and ends runs as the effects say, and
/// reports when a run has ended.
package struct ChannelSupervisor: Sendable {
    package struct Policy: Equatable, Sendable {
        /// How long a channel runs after the last sign of a viewer.
        var idle = Duration.seconds(30)
        /// The longest time for which a request is held. hls.js and Kodi give up after 20 s.
        var startLimit = Duration.seconds(15)
        /// The most concurrent runs that the operator permits; nil: no limit.
        package var maxRunning: Int?
        /// The most concurrent runs for which the process has descriptors; nil: no limit.
        package var descriptorLimit: Int?
        /// The number of channels that continue without viewers: the ones watched last.
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

        /// The most concurrent runs; nil: no limit.
        var runLimit: Int? { [maxRunning, descriptorLimit].compactMap { $0 }.min() }
    }

    /// When a channel runs, as its configuration states.
    package struct Demand: Equatable, Sendable {
        /// Whether it runs without viewers.
        var isAlways = false
        /// How long it runs after the last sign of a viewer; nil: as long as the policy says.
        var idle: Duration?
        /// The account whose connections it shares; nil: none.
        var account: String?
    }

    /// One reader of a channel's upstream.
    package struct Run: Hashable, Sendable {
        package let channel: String
        let number: UInt64
    }

    enum State: Equatable, Sendable {
        /// A viewer waits, and the channel starts when another channel has ended.
        case queued
        case starting(Run)
        case running(Run)
        /// No viewer has been present since `since`.
        case lingering(Run, since: Duration)
        case ending(Run)
        /// The last run failed. The channel is not started again before `until`.
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
        /// The number of open streams of the current run.
        var streams = 0
        /// When a viewer was last present.
        var lastSeen: Duration
        /// Until when a viewer without an open stream counts as present.
        var presentUntil = Duration.zero
        /// Failures since a run last published for long enough.
        var failures = 0
        /// When the current run first published.
        var publishedAt: Duration?
        /// The channel has no place among the running ones, and its requests wait for a place until this time; nil: it
        /// has a place, or needs none. A player that changes the channel requests the next one before it has closed the
        /// last.
        var placeDeadline: Duration?
        /// Order of arrival among queued channels.
        var queuedAt: UInt64 = 0
    }

    /// The failure of a channel's last run.
    struct Failure: Equatable, Sendable {
        let reason: FailureText
        let time: Duration
    }

    package enum Input: Equatable, Sendable {
        /// A request that needs the channel running. It is answered with an effect `.answer`.
        case requested(String, waiter: UInt64, isStream: Bool)
        /// The client of a held request has left.
        case abandoned(String, waiter: UInt64)
        case streamOpened(Run)
        case streamClosed(Run)
        /// The first segment of the run can be played.
        case published(Run)
        /// The run has ended and its upstream is no longer read. `failure`: the reason, unless the run was asked to
        /// end.
        case ended(Run, failure: FailureText?)
        /// The channel left the list, or its entry changed.
        case retired(String)
        /// The new demands of channels, as their configuration states. Channels that are not named keep theirs.
        case demanded([String: Demand])
        /// The numbers of connections of accounts. An account that is not named has no limit.
        case connected([String: Int])
        /// Time has passed.
        case wake
    }

    enum Refusal: Equatable, Sendable {
        case startTimedOut
        /// The maximum number of channels is running, and each of them has a viewer.
        case full(limit: Int)
        /// Each connection of the account is used by a channel with a viewer.
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
    /// The longest time from a request for a stream to the opening of the stream.
    private static let openingTime = Duration.seconds(1)
    /// How long a request waits for a place.
    static let placeTime = Duration.seconds(2)

    let policy: Policy
    /// A channel that always runs has an entry as long as its demand says so.
    var channels: SupervisedChannels
    /// The last failures of channels that have not published since.
    private(set) var failures: [String: Failure] = [:]
    private var runCount: UInt64 = 0
    private var queueCount: UInt64 = 0

    init(_ policy: Policy) {
        self.policy = policy
        channels = SupervisedChannels(policy)
    }

    /// Whether the channel is not idle, or its last failure is remembered.
    func isKnown(_ name: String) -> Bool { channels[name] != nil || failures[name] != nil }

    /// When `.wake` is due; nil: not before another input.
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

    /// Records a request for a running channel: its viewer is present. This has no immediate effect.
    /// - Returns: the run; nil if the channel does not publish.
    mutating func recordRequest(of name: String, isStream: Bool = false, at now: Duration) -> Run? {
        switch channels[name]?.state {
        case .running(let run), .lingering(let run, _):
            recordPresence(in: name, isStream: isStream, at: now) { $0.state = .running(run) }
            return run
        default: return nil
        }
    }

    /// Records a viewer of a channel, and the changes that follow.
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

    /// Forgets a held request. A channel that was queued only for this request becomes idle again.
    private mutating func abandon(_ name: String, waiter id: UInt64, at now: Duration) {
        guard channels[name]?.waiters.contains(where: { $0.id == id }) == true else { return }
        channels.update(name) { entry in
            entry.waiters.removeAll { $0.id == id }
            entry.lastSeen = now
        }
        let isOver = channels[name].map { $0.state == .queued && $0.waiters.isEmpty } ?? false
        if isOver, !channels.isAlways(name) { channels[name] = nil }
    }

    /// Gives free places to the channels that wait for one, and refuses channels that have waited too long.
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

    /// Whether no request waits for the channel's place any more.
    private func isGone(_ name: String) -> Bool { channels[name]?.waiters.isEmpty == true }

    /// Whether one more channel may run, now or after another one has ended.
    private func hasPlace(_ name: String) -> Bool {
        channels.obstacle(to: name) == nil || unwatchedRun(inPlaceOf: name) != nil
    }

    /// The run to end in favor of a channel: among the runs whose place would help, the one idle longest.
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

    /// Queues the channels that always run from now on. Channels that no longer always run get their idle time.
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

    /// Starts queued channels in the order of their requests, as long as places are free.
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
        failures[run.channel] = nil
        answer(run.channel, nil, at: now, &effects) { _ in true }
    }

    /// Answers the held requests that `isAnswered` selects. Their viewers count as present until now.
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
        failures[name] = nil
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
        // A run resets the failure count only after publishing for `longestPause`.
        if let since = channels[run.channel]?.publishedAt, now - since >= Self.longestPause { entry.failures = 0 }
        let pause = min(Self.firstPause * (1 << min(entry.failures, 6)), Self.longestPause)
        entry.failures += 1
        channels[run.channel] = entry
        // Clients choose the names of ranges, so these are not remembered.
        if ProviderRange(name: run.channel) == nil { failures[run.channel] = Failure(reason: reason, time: now) }
        answer(run.channel, .failed(reason: reason, retryAfter: pause), at: now, &effects) { _ in true }
        channels[run.channel]?.state = .failed(reason: reason, until: now + pause)
    }

    /// Handles everything that is due: refuses requests that were held too long, and ends channels without viewers.
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
    /// The run that has not ended.
    var run: ChannelSupervisor.Run? {
        switch self {
        case .queued, .failed: nil
        case .starting(let run), .running(let run), .lingering(let run, _), .ending(let run): run
        }
    }
}

extension ChannelSupervisor.Entry {
    /// Whether the channel has a place among the running ones, or waits for one.
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
