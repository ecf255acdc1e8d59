/// Decides which channels of a process run, from the requests of their viewers.
///
/// A channel that is not in `channels` is idle and costs nothing. A viewer is present while a request of his is held or
/// a stream is open, and for `Policy.absence` after a request for a playlist or a segment. A run is one reader of a
/// channel's upstream. The driver starts and ends runs as the effects say, and reports when a run is over.
struct ChannelSupervisor: Equatable, Sendable {
    struct Policy: Equatable, Sendable {
        /// How long a channel runs after the last sign of a viewer.
        var idle = Duration.seconds(30)
        /// The longest time for which a request is held. hls.js and Kodi give up after 20 s.
        var startLimit = Duration.seconds(15)
        /// Runs at once; nil: no limit.
        var maxRunning: Int?
        /// Channels without viewers that go on running: those watched last.
        var keepWarm = 0
        /// The time after a request during which the viewer of a playlist is present: players ask once a target
        /// duration.
        var absence = Duration.seconds(12)
    }

    /// What the configuration of a channel says about when it runs.
    struct Demand: Equatable, Sendable {
        /// Whether it runs without viewers.
        var isAlways = false
        /// How long it runs after the last sign of a viewer; nil: as the policy says.
        var idle: Duration?
    }

    /// One reader of a channel's upstream.
    struct Run: Hashable, Sendable {
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
        case failed(reason: String, until: Duration)
    }

    /// A request that is held.
    struct Waiter: Equatable, Sendable {
        let id: UInt64
        let deadline: Duration
        let isStream: Bool
    }

    /// What is known of a channel that is not idle.
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
        /// Order of arrival among queued channels.
        var queuedAt: UInt64 = 0
    }

    enum Input: Equatable, Sendable {
        /// A request that needs the channel running; it is answered with an effect `.answer`.
        case requested(String, waiter: UInt64, isStream: Bool)
        case streamOpened(Run)
        case streamClosed(Run)
        /// The first segment of the run can be played.
        case published(Run)
        /// The run is over and its upstream is no longer read. `failure`: the reason, unless it was asked to end.
        case ended(Run, failure: String?)
        /// The channel left the list, or its entry changed.
        case retired(String)
        /// The channels whose configuration says when they run, after each change of the list.
        case demanded([String: Demand])
        /// Time has passed.
        case wake
    }

    enum Refusal: Equatable, Sendable {
        case startTimedOut
        /// As many channels run as may, and each of them has a viewer.
        case full(limit: Int)
        case failed(reason: String, retryAfter: Duration)
    }

    enum Effect: Equatable, Sendable {
        case start(Run)
        case end(Run)
        /// nil: the channel is running.
        case answer(UInt64, Refusal?)
    }

    /// Pauses after failures double from the first to the longest.
    private static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(60))
    /// The time after a request for a stream until the stream is open.
    private static let openingTime = Duration.seconds(1)

    let policy: Policy
    var channels: [String: Entry] = [:]
    /// Of channels that have one. Those that always run have an entry in `channels` as long as they are here.
    private var demands: [String: Demand] = [:]
    private var runCount: UInt64 = 0
    private var queueCount: UInt64 = 0

    init(_ policy: Policy) {
        self.policy = policy
    }

    /// Runs that are not over.
    var runningCount: Int { channels.values.count { $0.state.run != nil } }

    /// - Parameter now: time since the process began; never less than before.
    mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        var effects: [Effect] = []
        advance(to: now, &effects)
        switch input {
        case .requested(let name, let id, let isStream):
            let waiter = Waiter(id: id, deadline: now + policy.startLimit, isStream: isStream)
            request(name, waiter, at: now, &effects)
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
        case .demanded(let demands): replaceDemands(by: demands, at: now)
        case .wake: break
        }
        advance(to: now, &effects)
        startQueued(&effects)
        return effects
    }

    /// Records a request for a channel that runs: its viewer is present. Nothing follows from it at once.
    /// - Returns: the run; nil if the channel does not publish.
    mutating func recordRequest(of name: String, isStream: Bool = false, at now: Duration) -> Run? {
        switch channels[name]?.state {
        case .running(let run), .lingering(let run, _):
            channels[name]?.state = .running(run)
            recordPresence(in: name, isStream: isStream, at: now)
            return run
        default: return nil
        }
    }

    private mutating func recordPresence(in name: String, isStream: Bool, at now: Duration) {
        guard var entry = channels[name] else { return }
        entry.lastSeen = now
        entry.presentUntil = max(
            entry.presentUntil, now + min(isStream ? Self.openingTime : policy.absence, idle(of: name)))
        channels[name] = entry
    }

    private func idle(of name: String) -> Duration { demands[name]?.idle ?? policy.idle }

    private func isAlways(_ name: String) -> Bool { demands[name]?.isAlways ?? false }

    private mutating func update(_ run: Run, _ change: (inout Entry) -> Void) {
        guard var entry = channels[run.channel], entry.state.run == run else { return }
        change(&entry)
        channels[run.channel] = entry
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

// MARK: - Starting

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
        let isNew = entry.map { !$0.isDemanded } ?? true
        if isNew, let limit = policy.maxRunning, !hasPlace(within: limit, &effects) {
            effects.append(.answer(waiter.id, .full(limit: limit)))
            return
        }
        var next = entry ?? Entry(state: .queued, lastSeen: now)
        if next.state.run == nil, isNew { enqueue(&next) }
        next.waiters.append(waiter)
        next.lastSeen = now
        channels[name] = next
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
    private mutating func replaceDemands(by next: [String: Demand], at now: Duration) {
        let before = demands
        demands = next
        for (name, demand) in before where demand.isAlways && !isAlways(name) {
            channels[name]?.lastSeen = now
            if channels[name]?.state == .queued, channels[name]?.waiters.isEmpty == true { channels[name] = nil }
        }
        for name in next.filter(\.value.isAlways).keys.sorted() {
            if case .lingering(let run, _) = channels[name]?.state { channels[name]?.state = .running(run) }
            if channels[name] == nil { enqueue(Entry(state: .queued, lastSeen: now), as: name) }
        }
    }

    /// Whether one more channel may run, now or once another has ended. Ends the one idle longest if need be.
    private mutating func hasPlace(within limit: Int, _ effects: inout [Effect]) -> Bool {
        if channels.values.count(where: { $0.isDemanded }) < limit { return true }
        let lingering = channels.compactMap { name, entry -> (name: String, since: Duration, run: Run)? in
            guard case .lingering(let run, let since) = entry.state else { return nil }
            return (name, since, run)
        }
        guard let longest = lingering.min(by: { ($0.since, $0.name) < ($1.since, $1.name) }) else { return false }
        end(longest.run, &effects)
        return true
    }

    /// Starts queued channels in the order of their requests, as far as there are places.
    private mutating func startQueued(_ effects: inout [Effect]) {
        let queued = channels.filter { $0.value.state == .queued }.sorted { $0.value.queuedAt < $1.value.queuedAt }
        guard !queued.isEmpty else { return }
        var count = runningCount
        for (name, _) in queued where count < policy.maxRunning ?? .max {
            runCount += 1
            count += 1
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
        channels[name]?.waiters.removeAll(where: isAnswered)
        for waiter in answered {
            recordPresence(in: name, isStream: waiter.isStream, at: now)
            effects.append(.answer(waiter.id, refusal))
        }
    }
}

extension ChannelSupervisor.Entry {
    /// Whether the channel has a place among those that may run, or waits for one.
    fileprivate var isDemanded: Bool {
        switch state {
        case .queued, .starting, .running, .lingering: true
        case .ending: !waiters.isEmpty
        case .failed: false
        }
    }

    /// Whether a viewer waits or has a stream open.
    fileprivate var isInUse: Bool { streams > 0 || !waiters.isEmpty }
}

// MARK: - Ending

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

    private mutating func end(_ run: Run, failure: String?, at now: Duration, _ effects: inout [Effect]) {
        guard var entry = channels[run.channel], entry.state.run == run else { return }
        (entry.streams, entry.publishedAt) = (0, nil)
        if case .ending = entry.state {
            enqueue(&entry)
            channels[run.channel] = entry.waiters.isEmpty && !isAlways(run.channel) ? nil : entry
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
        for (name, entry) in channels.sorted(by: { $0.key < $1.key }) {
            if entry.waiters.contains(where: { $0.deadline <= now }) {
                answer(name, .startTimedOut, at: now, &effects) { $0.deadline <= now }
            }
            guard let due = channels[name].flatMap({ dueTime(of: name, $0) }), due <= now else { continue }
            switch entry.state {
            case .running(let run): channels[name]?.state = .lingering(run, since: entry.lastSeen)
            case .starting(let run): end(run, &effects)
            case .failed where isAlways(name): enqueue(entry, as: name)
            case .queued, .failed: channels[name] = nil
            case .lingering, .ending: break
            }
        }
        for (run, since) in cooling where since + idle(of: run.channel) <= now { end(run, &effects) }
    }

    /// When a channel changes its state by itself; nil: not before something happens.
    private func dueTime(of name: String, _ entry: Entry) -> Duration? {
        guard !entry.isInUse else { return nil }
        let isAlways = isAlways(name)
        return switch entry.state {
        case .queued, .starting: isAlways ? nil : entry.lastSeen + idle(of: name)
        case .running: isAlways ? nil : entry.presentUntil
        case .failed(_, let until): isAlways ? until : until + Self.longestPause
        case .lingering, .ending: nil
        }
    }

    /// The channels without viewers beyond those that are kept warm.
    private var cooling: ArraySlice<(run: Run, since: Duration)> {
        channels.values.compactMap { entry -> (run: Run, since: Duration)? in
            guard case .lingering(let run, let since) = entry.state else { return nil }
            return (run, since)
        }.sorted { ($0.since, $0.run.number) > ($1.since, $1.run.number) }.dropFirst(policy.keepWarm)
    }

    /// When `.wake` is due; nil: not before something happens.
    var nextWake: Duration? {
        let due = channels.compactMap { dueTime(of: $0, $1) }
        let deadlines = channels.values.flatMap { $0.waiters.map(\.deadline) }
        return (due + deadlines + cooling.map { $0.since + idle(of: $0.run.channel) }).min()
    }
}
