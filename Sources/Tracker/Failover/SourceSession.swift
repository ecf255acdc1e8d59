/// One session with one of a channel's sources. A source may be opened again and again; each time it is another member,
/// and late answers to an earlier one reach nobody.
struct SourceSession: Sendable {
    /// 0 is the channel's own upstream; backups count from 1, in their order.
    let source: Int
    private let number: UInt64
    private var session: UpstreamSession
    /// When the session asked to be woken.
    private(set) var wakeAt: Duration?
    /// Since when its main playlist is followed without being late; nil while it is not.
    private(set) var healthySince: Duration?
    private var joinedAt: Duration?

    /// - Parameter number: of the session among those of the channel.
    init(source: Int, url: String, policy: UpstreamSession.Policy, number: UInt64) {
        self.source = source
        self.number = number
        session = UpstreamSession(upstream: url, policy: policy, number: number)
    }

    var status: UpstreamStatus { session.status }

    /// It lists nothing new, or nothing of what it lists can be published, and the last step before giving up was taken.
    var isInOutage: Bool { session.isInOutage }

    /// Where its main playlist has ended; nil of one that goes on.
    var endIdentity: LastSegmentIdentity? {
        guard let main = session.trackers.first, main.cursor.hasEnded else { return nil }
        return main.lastSegment
    }

    /// It listed something new after it was joined, or needs not: it is alive, and no old list that somebody still
    /// serves.
    var isAlive: Bool {
        guard let joinedAt, let main = session.trackers.first?.status else { return false }
        return main.hasEnded || main.grewAt.map { $0 > joinedAt } ?? false
    }

    private var hasEnded: Bool { session.trackers.first?.cursor.hasEnded ?? false }

    func owns(_ id: FetchID) -> Bool { id.number / FetchID.perSession == number }

    func isDue(at now: Duration) -> Bool { wakeAt.map { $0 <= now } ?? false }

    /// What the session does, but for its wakes.
    /// - Parameter gate: of the channel: what one source is asked counts for all that ask the same host.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, through gate: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        if case .wake = input { wakeAt = nil }
        let effects = withLimiter(&gate) { $0.handle(input, at: now) }.compactMap { translate($0, at: now) }
        let isHealthy = joinedAt != nil && session.mainStall == nil && !hasEnded
        healthySince = isHealthy ? healthySince ?? now : nil
        return effects
    }

    /// As the channel hears of it.
    private mutating func translate(_ effect: UpstreamSession.Effect, at now: Duration) -> UpstreamSession.Effect? {
        switch effect {
        case .fetch, .cancel, .probe, .end: return effect
        case .wake(let time):
            wakeAt = time
            return nil
        case .deliver(var delivery):
            delivery.source = source
            return .deliver(delivery)
        case .report(let event):
            if case .joined(let joined) = event, joined.rendition == .main { joinedAt = now }
            return .report(source == 0 ? event : .backup(source, event))
        }
    }

    /// A segment that it delivered is held. No more can be asked of it: to its session it is published.
    mutating func confirmHeld(_ delivery: Delivery, at now: Duration) {
        session.recordOutcome(delivery, .published, at: now)
    }

    /// Nothing of it is wanted any more.
    mutating func abandon(_ gate: inout HostLimiter) -> [UpstreamSession.Effect] {
        withLimiter(&gate) { $0.abandon() }.map { .cancel($0) }
    }

    /// The session has the channel's gate for one step.
    private mutating func withLimiter<Result>(
        _ gate: inout HostLimiter, perform step: (inout UpstreamSession) -> Result
    ) -> Result {
        swap(&session.limiter, &gate)
        defer { swap(&session.limiter, &gate) }
        return step(&session)
    }
}
