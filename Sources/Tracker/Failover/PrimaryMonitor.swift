import Fetch

/// Follows the playlists of the primary while a backup is published.
///
/// Nothing that the playlists list is fetched, and no event is reported.
struct PrimaryMonitor: Sendable {
    private enum State: Sendable {
        case paused(until: Duration)
        case monitoring(SourceSession)
    }

    private var state = State.paused(until: .zero)
    private var backoff = Backoff()

    var session: SourceSession? { if case .monitoring(let session) = state { session } else { nil } }

    /// Since when the primary has been healthy; nil while it is not, or not known to be.
    var healthySince: Duration? { session?.healthySince }

    /// Returns the decision about the primary that is due at `now`; nil if none is.
    func decision(at now: Duration, failbackDelay: Duration) -> FailoverState.Decision? {
        switch state {
        case .paused(let until): return until <= now ? .monitorPrimary : nil
        case .monitoring(let session):
            if let since = session.healthySince, since + failbackDelay <= now { return .failBack }
            return session.endIdentity != nil ? .pauseMonitor : nil
        }
    }

    func deadlines(failbackDelay: Duration) -> [Duration?] {
        switch state {
        case .paused(let until): [until]
        case .monitoring(let session): [session.wakeAt, session.healthySince.map { $0 + failbackDelay }]
        }
    }

    func started(_ session: SourceSession) -> PrimaryMonitor {
        var monitor = self
        monitor.state = .monitoring(session)
        return monitor
    }

    /// The monitor after the primary's playlist has ended. Later it is opened again: it may have another playlist then.
    func paused(at now: Duration) -> PrimaryMonitor {
        var monitor = self
        monitor.pause(at: now)
        return monitor
    }

    /// The monitor while the primary is on trial: it follows nothing, and its pauses are short again.
    func stopped() -> PrimaryMonitor {
        var monitor = PrimaryMonitor()
        if case .paused = state { monitor.state = state }
        return monitor
    }

    private mutating func pause(at now: Duration) { state = .paused(until: now + backoff.next()) }

    /// - Returns: the effects that concern the upstream.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        guard case .monitoring(var session) = state else { return [] }
        // The state gives the session up, so that it is not copied.
        state = .paused(until: .zero)
        let effects = session.handle(input, at: now, limiter: &limiter)
        if effects.contains(where: \.isEnd) { pause(at: now) } else { state = .monitoring(session) }
        return effects.filter(\.concernsUpstream)
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
