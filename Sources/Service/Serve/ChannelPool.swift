import Support

/// Channels that share a number of places: those of one account of a provider, or all of the process.
struct ChannelPool: Sendable {
    private typealias Ranked = SupervisedChannels.Ranked

    /// Channels that are not idle.
    private(set) var count = 0
    /// Runs that are not over.
    private(set) var runningCount = 0
    /// Channels that have a place among those that may run, or wait for one.
    private(set) var demandedCount = 0
    /// Channels that may start once a place is free, in the order of their requests.
    private(set) var queued = SortedSet<SupervisedChannels.Ranked<UInt64>>()
    /// Channels whose requests wait for a place, in the order of the requests.
    private(set) var waiting = SortedSet<SupervisedChannels.Ranked<UInt64>>()
    /// Channels that nobody watches, by when the viewers left.
    private(set) var unwatched = SortedSet<SupervisedChannels.Ranked<Duration>>()

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

    /// When the requests that wait for a place are refused: at once if they are gone; nil: none waits.
    var refusedAt: Duration? { waiters.isEmpty ? placeDeadline.map { _ in .zero } : placeDeadline }
}
