/// The channel's own upstream while a backup is published: its playlists are followed, and nothing of what they list is
/// fetched. Nobody needs to hear of it.
struct HomeWatch: Sendable {
    private enum State: Sendable {
        case resting(until: Duration)
        case watching(SourceMember)
    }

    private var state = State.resting(until: .zero)
    private var backoff = Backoff()

    var member: SourceMember? { if case .watching(let member) = state { member } else { nil } }

    /// When it is to be looked at again; nil while it is.
    var nextAt: Duration? { if case .resting(let next) = state { next } else { nil } }

    func isDue(at now: Duration) -> Bool { nextAt.map { $0 <= now } ?? false }

    mutating func begin(
        _ member: SourceMember, at now: Duration, through gate: inout HostGate
    ) -> [UpstreamSession.Effect] {
        state = .watching(member)
        return handle(.start, at: now, through: &gate)
    }

    /// - Returns: what concerns the upstream.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, through gate: inout HostGate
    ) -> [UpstreamSession.Effect] {
        guard case .watching(var member) = state else { return [] }
        // Held once only, it is changed where it is.
        state = .resting(until: .zero)
        let effects = member.handle(input, at: now, through: &gate)
        state = effects.contains(where: \.isEnd) ? .resting(until: now + backoff.next()) : .watching(member)
        return effects.filter(\.concernsUpstream)
    }

    /// Its list has ended. Later it is asked whether it has another one by now.
    mutating func rest(at now: Duration, through gate: inout HostGate) -> [UpstreamSession.Effect] {
        guard case .watching(var member) = state else { return [] }
        state = .resting(until: now + backoff.next())
        return member.abandon(&gate)
    }

    /// Whatever becomes of it, it is looked at as before the first time.
    mutating func stop(through gate: inout HostGate) -> [UpstreamSession.Effect] {
        backoff.reset()
        guard case .watching(var member) = state else { return [] }
        state = .resting(until: .zero)
        return member.abandon(&gate)
    }
}

extension UpstreamSession.Effect {
    fileprivate var isEnd: Bool { if case .end = self { true } else { false } }

    fileprivate var concernsUpstream: Bool {
        switch self {
        case .fetch, .cancel, .wake: true
        case .deliver, .examine, .report, .end: false
        }
    }
}
