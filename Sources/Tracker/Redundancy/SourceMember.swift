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

    /// Fetches of one session, far more than it will ever make.
    private static let fetches: UInt64 = 1 << 40

    init(source: Int, number: UInt64, session: UpstreamSession) {
        self.source = source
        self.number = number
        self.session = session
    }

    var status: UpstreamStatus { session.status }

    /// Its main playlist lists nothing new, and the last step before giving up was taken.
    var isInOutage: Bool { session.mainStall.map { $0 >= .outage } ?? false }

    /// It listed something new after it was joined, or needs not: it is alive, and no old list that somebody still
    /// serves.
    var isAlive: Bool {
        guard let joinedAt, let main = session.status.renditions.first else { return false }
        return main.hasEnded || main.grewAt.map { $0 > joinedAt } ?? false
    }

    /// What the session does: fetches under names of the channel's, then the rest in order.
    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        if case .wake = input { wakeAt = nil }
        var effects: [UpstreamSession.Effect] = []
        for effect in session.handle(input, at: now) {
            switch effect {
            case .fetch(let id, let request): effects.append(.fetch(outer(id), request))
            case .cancel(let id): effects.append(.cancel(outer(id)))
            case .wake(let time): wakeAt = time
            case .deliver(var delivery):
                delivery.source = source
                effects.append(.deliver(delivery))
            case .report(let event):
                if case .joined(let joined) = event, joined.rendition == .main { joinedAt = now }
                effects.append(.report(source == 0 ? event : .ofBackup(source, event)))
            case .end: effects.append(effect)
            }
        }
        let hasEnded = session.status.renditions.first?.hasEnded ?? false
        let isHealthy = joinedAt != nil && session.mainStall == nil && !hasEnded
        healthySince = isHealthy ? healthySince ?? now : nil
        return effects
    }

    /// Its own name of a fetch; nil when the fetch is another member's.
    func inner(_ id: FetchID) -> FetchID? {
        id.number / Self.fetches == number ? FetchID(number: id.number % Self.fetches) : nil
    }

    /// Nothing of it is wanted any more.
    mutating func abandon() -> [UpstreamSession.Effect] { session.abandon().map { .cancel(outer($0)) } }

    private func outer(_ id: FetchID) -> FetchID { FetchID(number: number * Self.fetches + id.number) }
}
