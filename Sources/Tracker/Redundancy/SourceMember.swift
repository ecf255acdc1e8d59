/// One session with one of a channel's sources. A source may be opened again and again; each time it is another member,
/// and late answers to an earlier one reach nobody.
struct SourceMember: Sendable {
    /// 0 is the channel's own upstream; backups count from 1, in their order.
    let source: Int
    private let number: UInt64
    private var session: UpstreamSession
    /// When the session asked to be woken.
    private(set) var wakeAt: Duration?
    /// Since when its main playlist is followed without being late; nil while it is not.
    private(set) var healthySince: Duration?
    private var joinedAt: Duration?
    /// Nothing of it is published yet: what it brings is held, which is all that can be asked of it.
    var isOnTrial = false

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
    var listedEnd: ListedEnd? {
        guard let main = session.trackers.first, main.cursor.hasEnded else { return nil }
        return main.lastListed
    }

    /// It listed something new after it was joined, or needs not: it is alive, and no old list that somebody still
    /// serves.
    var isAlive: Bool {
        guard let joinedAt, let main = session.status.renditions.first else { return false }
        return main.hasEnded || main.grewAt.map { $0 > joinedAt } ?? false
    }

    /// What the session does, but for its wakes.
    /// - Parameter gate: of the channel: what one source is asked counts for all that ask the same host.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, through gate: inout HostGate
    ) -> [UpstreamSession.Effect] {
        if case .wake = input { wakeAt = nil }
        swap(&session.gate, &gate)
        defer { swap(&session.gate, &gate) }
        var effects: [UpstreamSession.Effect] = []
        for effect in session.handle(input, at: now) {
            switch effect {
            case .fetch, .cancel: effects.append(effect)
            case .wake(let time): wakeAt = time
            case .deliver(var delivery):
                delivery.source = source
                effects.append(.deliver(delivery))
                if isOnTrial, delivery.isMainSegment { session.received(delivery, .published, at: now) }
            case .report(let event):
                if case .joined(let joined) = event, joined.rendition == .main { joinedAt = now }
                effects.append(.report(source == 0 ? event : .ofBackup(source, event)))
            case .examine, .end: effects.append(effect)
            }
        }
        let hasEnded = session.status.renditions.first?.hasEnded ?? false
        let isHealthy = joinedAt != nil && session.mainStall == nil && !hasEnded
        healthySince = isHealthy ? healthySince ?? now : nil
        return effects
    }

    func owns(_ id: FetchID) -> Bool { id.number / FetchID.perSession == number }

    /// Nothing of it is wanted any more.
    mutating func abandon(_ gate: inout HostGate) -> [UpstreamSession.Effect] {
        swap(&session.gate, &gate)
        defer { swap(&session.gate, &gate) }
        return session.abandon().map { .cancel($0) }
    }
}
