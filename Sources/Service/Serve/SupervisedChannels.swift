import Support

/// The channels that are not idle, with the times at which they are due and the order in which they wait.
///
/// The cost of each change and of each query, except `entries`, grows with the logarithm of the number of channels.
struct SupervisedChannels: Sendable {
    typealias Entry = ChannelSupervisor.Entry
    typealias Demand = ChannelSupervisor.Demand

    /// A channel at a moment, or in a queue.
    struct Ranked<Rank: Comparable & Sendable>: Comparable, Sendable {
        let rank: Rank
        let name: String

        static func < (left: Self, right: Self) -> Bool { (left.rank, left.name) < (right.rank, right.name) }
    }

    private let policy: ChannelSupervisor.Policy
    private(set) var entries: [String: Entry] = [:]
    /// The entries that are ranges of a provider's archive.
    private var ranges: Set<String> = []
    /// The demands that differ from the default, by channel.
    private var demands: [String: Demand] = [:]
    /// Connections of accounts with a limit.
    var connections: [String: Int] = [:]
    private var process = ChannelPool()
    /// The pool of each account, and the pool of the channels without an account.
    private var accounts: [String?: ChannelPool] = [:]

    /// When a channel changes its state by itself, or a request has been held too long.
    private var due = SortedSet<Ranked<Duration>>()
    /// When requests that wait for a place are refused.
    private var placeDeadlines = SortedSet<Ranked<Duration>>()
    /// Channels without viewers by the time when the viewers left: the ones kept warm, and the earlier ones.
    private var warm = SortedSet<Ranked<Duration>>()
    private var warmCount = 0
    private var cooling = SortedSet<Ranked<Duration>>()
    /// When the idle time of each channel in `cooling` ends.
    private var ends = SortedSet<Ranked<Duration>>()

    init(_ policy: ChannelSupervisor.Policy) { self.policy = policy }

    subscript(name: String) -> Entry? {
        get { entries[name] }
        set {
            if let old = entries.removeValue(forKey: name) { index(old, name, isMember: false) }
            guard let newValue else {
                ranges.remove(name)
                return
            }
            if ProviderRange(name: name) != nil { ranges.insert(name) }
            entries[name] = newValue
            index(newValue, name, isMember: true)
        }
    }

    /// Changes an entry in place, without copying its waiters.
    mutating func update(_ name: String, _ change: (inout Entry) -> Void) {
        guard var entry = entries.removeValue(forKey: name) else { return }
        index(entry, name, isMember: false)
        change(&entry)
        index(entry, name, isMember: true)
        entries[name] = entry
    }

    // MARK: - Demands

    func idle(of name: String) -> Duration { demands[name]?.idle ?? policy.idle }

    func isAlways(_ name: String) -> Bool { demands[name]?.isAlways ?? false }

    /// The account of a channel. A range of a provider's archive uses a connection of its channel's account.
    private func account(of name: String) -> String? {
        (demands[name] ?? ProviderRange(name: name).flatMap { demands[$0.slug] })?.account
    }

    mutating func setDemand(_ demand: Demand, of name: String) {
        // The channel's ranges are in the pool of its account too.
        let names = [name] + ranges.filter { ProviderRange(name: $0)?.slug == name }
        let concerned = names.map { ($0, entries[$0]) }
        for name in names { self[name] = nil }
        demands[name] = demand == Demand() ? nil : demand
        for (name, entry) in concerned { self[name] = entry }
    }

    // MARK: - Questions

    /// When something is due; nil: not before another input.
    var nextDue: Duration? {
        [due.first?.rank, placeDeadlines.first?.rank, ends.first?.rank].compactMap { $0 }.min()
    }

    /// When the channel is due; nil: not before another input.
    func dueTime(of name: String) -> Duration? { entries[name].flatMap { dueTime(of: $0, name) } }

    /// The channels that are due by `now`, ordered by name.
    func due(by now: Duration) -> [String] { names(due.prefix { $0.rank <= now }).sorted() }

    /// The channels without viewers whose idle time is over by `now`; those watched last first.
    func cooled(by now: Duration) -> [String] {
        names(ends.prefix { $0.rank <= now }).map { Ranked(rank: lingeringSince($0), name: $0) }
            .sorted(by: >).map(\.name)
    }

    /// The channels whose requests waited for a place until `now`, or are gone; in the order of the requests.
    func refusedPlaces(by now: Duration) -> [String] {
        names(placeDeadlines.prefix { $0.rank <= now }).map { Ranked(rank: entries[$0]?.queuedAt ?? 0, name: $0) }
            .sorted().map(\.name)
    }

    /// The first channel of each account whose requests wait for a place, in the order of the requests.
    var firstWaiting: [String] { names(accounts.values.compactMap(\.waiting.first).sorted()) }

    /// The first channel that may start now: its account and the process have a free place.
    var firstQueued: String? {
        guard process.runningCount < policy.runLimit ?? .max else { return nil }
        let open = accounts.filter { account, pool in pool.runningCount < limit(of: account) ?? .max }
        return open.values.compactMap(\.queued.first).min()?.name
    }

    /// The limit that keeps a channel from getting a place, and the channel without viewers that must end in its favor.
    enum Obstacle: Equatable {
        case account(String, connections: Int, longestUnwatched: String?)
        case process(limit: Int, longestUnwatched: String?)
    }

    /// nil if a place is free. If both limits are reached, ending a channel of the same account makes room in both.
    func obstacle(to name: String) -> Obstacle? {
        if let account = account(of: name), let limit = limit(of: account), let pool = accounts[account],
            pool.demandedCount >= limit
        {
            return .account(account, connections: limit, longestUnwatched: pool.unwatched.first?.name)
        }
        guard let limit = policy.runLimit, process.demandedCount >= limit else { return nil }
        return .process(limit: limit, longestUnwatched: process.unwatched.first?.name)
    }

    private func limit(of account: String?) -> Int? { account.flatMap { connections[$0] } }

    private func names<Rank>(_ ranked: [Ranked<Rank>]) -> [String] {
        StepCounter.add(ranked.count)
        return ranked.map(\.name)
    }

    private func lingeringSince(_ name: String) -> Duration {
        if case .lingering(_, let since)? = entries[name]?.state { since } else { .zero }
    }
}

// MARK: - Indexes

extension SupervisedChannels {
    /// Adds an entry to the indexes and counts that it belongs to, or removes it from them.
    private mutating func index(_ entry: Entry, _ name: String, isMember: Bool) {
        StepCounter.add(1)
        if let time = dueTime(of: entry, name) { due.set(Ranked(rank: time, name: name), isMember) }
        if let deadline = entry.refusedAt { placeDeadlines.set(Ranked(rank: deadline, name: name), isMember) }
        let (account, since) = (account(of: name), unwatchedSince(entry, name))
        process.index(entry, name, unwatchedSince: since, isMember)
        accounts[account, default: ChannelPool()].index(entry, name, unwatchedSince: since, isMember)
        if accounts[account]?.count == 0 { accounts[account] = nil }
        guard case .lingering(_, let since) = entry.state else { return }
        let lingering = Ranked(rank: since, name: name)
        if isMember { insertLingering(lingering) } else { removeLingering(lingering) }
    }

    /// Since when nobody watches a running channel; nil if somebody does, or the channel needs no viewers.
    private func unwatchedSince(_ entry: Entry, _ name: String) -> Duration? {
        switch entry.state {
        case .lingering(_, let since): since
        case .starting where !entry.isInUse && !isAlways(name): entry.lastSeen
        default: nil
        }
    }

    /// When the entry's first change without an input is due; nil: none is. Lingering channels are in `ends`.
    private func dueTime(of entry: Entry, _ name: String) -> Duration? {
        // The waiters are in the order of their deadlines.
        if let waiter = entry.waiters.first { return waiter.deadline }
        guard entry.streams == 0 else { return nil }
        let isAlways = isAlways(name)
        return switch entry.state {
        case .queued, .starting: isAlways ? nil : entry.lastSeen + idle(of: name)
        case .running: isAlways ? nil : entry.presentUntil
        case .failed(_, let until): isAlways ? until : until + ChannelSupervisor.longestPause
        case .lingering, .ending: nil
        }
    }

    private func end(of lingering: Ranked<Duration>) -> Ranked<Duration> {
        Ranked(rank: lingering.rank + idle(of: lingering.name), name: lingering.name)
    }

    private mutating func insertLingering(_ channel: Ranked<Duration>) {
        warm.insert(channel)
        warmCount += 1
        guard warmCount > policy.keepWarm, let oldest = warm.first else { return }
        warm.remove(oldest)
        warmCount -= 1
        cooling.insert(oldest)
        ends.insert(end(of: oldest))
    }

    private mutating func removeLingering(_ channel: Ranked<Duration>) {
        if let oldest = warm.first, oldest <= channel {
            warm.remove(channel)
            warmCount -= 1
            guard let next = cooling.last else { return }
            cooling.remove(next)
            ends.remove(end(of: next))
            warm.insert(next)
            warmCount += 1
        } else {
            cooling.remove(channel)
            ends.remove(end(of: channel))
        }
    }
}

/// Channels that share a number of places: the channels of one account of a provider, or all channels of the process.
private struct ChannelPool: Sendable {
    typealias Ranked = SupervisedChannels.Ranked

    /// Channels that are not idle.
    private(set) var count = 0
    /// Runs that have not ended.
    private(set) var runningCount = 0
    /// Channels that have a place among the running ones, or wait for one.
    private(set) var demandedCount = 0
    /// Channels that may start once a place is free, in the order of their requests.
    private(set) var queued = SortedSet<Ranked<UInt64>>()
    /// Channels whose requests wait for a place, in the order of the requests.
    private(set) var waiting = SortedSet<Ranked<UInt64>>()
    /// Channels that nobody watches, by the time when the viewers left.
    private(set) var unwatched = SortedSet<Ranked<Duration>>()

    /// Adds an entry to the pool, or removes it.
    mutating func index(
        _ entry: ChannelSupervisor.Entry, _ name: String, unwatchedSince: Duration?, _ isMember: Bool
    ) {
        let difference = isMember ? 1 : -1
        count += difference
        if entry.state.run != nil { runningCount += difference }
        if entry.isDemanded { demandedCount += difference }
        if entry.isQueued { queued.set(Ranked(rank: entry.queuedAt, name: name), isMember) }
        if entry.refusedAt != nil { waiting.set(Ranked(rank: entry.queuedAt, name: name), isMember) }
        if let since = unwatchedSince { unwatched.set(Ranked(rank: since, name: name), isMember) }
    }
}

extension ChannelSupervisor.Entry {
    /// Whether the channel may start once a place is free.
    var isQueued: Bool { state == .queued && isDemanded }

    /// When the requests that wait for a place are refused; at once if they have left; nil: none waits.
    var refusedAt: Duration? { waiters.isEmpty ? placeDeadline.map { _ in .zero } : placeDeadline }
}
