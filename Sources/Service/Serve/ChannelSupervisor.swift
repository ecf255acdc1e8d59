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
        var absence = Duration.seconds(12)

        package init(
            idle: Duration = Duration.seconds(30), startLimit: Duration = Duration.seconds(15), maxRunning: Int? = nil,
            descriptorLimit: Int? = nil, keepWarm: Int = 0, absence: Duration = Duration.seconds(12)
        ) {
            self.idle = idle
            self.startLimit = startLimit
            self.maxRunning = maxRunning
            self.descriptorLimit = descriptorLimit
            self.keepWarm = keepWarm
            self.absence = absence
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
        case failed(reason: String, until: Duration)
    }

    /// A request that is held.
    package struct Waiter: Equatable, Sendable {
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
        case ended(Run, failure: String?)
        /// The channel left the list, or its entry changed.
        case retired(String)
        /// When channels run, as their configuration says now. Those that are not named stay as they are.
        case demanded([String: Demand])
        /// The connections of accounts. One that is not named has no limit.
        case connected([String: Int])
        /// Time has passed.
        case wake
    }

    package enum Refusal: Equatable, Sendable {
        case startTimedOut
        /// As many channels run as may, and each of them has a viewer.
        case full(limit: Int)
        /// Each connection of the account has a channel with a viewer.
        case accountFull(String, connections: Int)
        case failed(reason: String, retryAfter: Duration)
    }

    package enum Effect: Equatable, Sendable {
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

    package let policy: Policy
    /// Channels that always run have an entry as long as their demand says so.
    package var channels: SupervisedChannels
    var runCount: UInt64 = 0
    var queueCount: UInt64 = 0

    package init(_ policy: Policy) {
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
    mutating func recordPresence(
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
