/// The channel's own upstream while a backup is published: its playlists are followed, and nothing of what they list is
/// fetched. Nobody needs to hear of it.
struct PrimaryMonitor: Sendable {
    private enum State: Sendable {
        case paused(until: Duration)
        case monitoring(SourceSession)
    }

    private var state = State.paused(until: .zero)
    private var backoff = Backoff()

    var member: SourceSession? { if case .monitoring(let member) = state { member } else { nil } }

    /// When it is to be looked at again; nil while it is.
    var nextAt: Duration? { if case .paused(let next) = state { next } else { nil } }

    func isDue(at now: Duration) -> Bool { nextAt.map { $0 <= now } ?? false }

    mutating func start(
        _ member: SourceSession, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        state = .monitoring(member)
        return handle(.start, at: now, limiter: &limiter)
    }

    /// - Returns: what concerns the upstream.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        guard case .monitoring(var member) = state else { return [] }
        // Held once only, it is changed where it is.
        state = .paused(until: .zero)
        let effects = member.handle(input, at: now, limiter: &limiter)
        state = effects.contains(where: \.isEnd) ? .paused(until: now + backoff.next()) : .monitoring(member)
        return effects.filter(\.concernsUpstream)
    }

    /// Its list has ended. Later it is asked whether it has another one by now.
    mutating func pause(at now: Duration, limiter: inout HostLimiter) -> [UpstreamSession.Effect] {
        guard case .monitoring(var member) = state else { return [] }
        state = .paused(until: now + backoff.next())
        return member.abandon(&limiter)
    }

    /// Whatever becomes of it, it is looked at as before the first time.
    mutating func stop(limiter: inout HostLimiter) -> [UpstreamSession.Effect] {
        backoff.reset()
        guard case .monitoring(var member) = state else { return [] }
        state = .paused(until: .zero)
        return member.abandon(&limiter)
    }
}

extension UpstreamSession.Effect {
    fileprivate var isEnd: Bool { if case .end = self { true } else { false } }

    fileprivate var concernsUpstream: Bool {
        switch self {
        case .fetch, .cancel, .wake: true
        case .deliver, .probe, .report, .end: false
        }
    }
}
