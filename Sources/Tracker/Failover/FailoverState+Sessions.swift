import Fetch

// The sessions that a state holds, whatever the state is.

extension FailoverState {
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// The session with the source that is published; nil if there is none.
    var active: SourceSession? {
        switch self {
        case .onPrimary(let session), .onBackup(let session, _), .failingBack(_, let session): session
        case .trying(_, let active, _): active.session
        case .idle, .searching, .ended: nil
        }
    }

    var trial: SourceTrial? {
        switch self {
        case .trying(let trial, _, _), .failingBack(let trial, _): trial
        case .idle, .onPrimary, .onBackup, .searching, .ended: nil
        }
    }

    var monitor: PrimaryMonitor? {
        switch self {
        case .onBackup(_, let monitor): monitor
        case .trying(_, _, let monitor), .searching(_, let monitor): monitor
        case .idle, .onPrimary, .failingBack, .ended: nil
        }
    }

    /// The source that was published last, if none is.
    var predecessor: Predecessor? {
        switch self {
        case .trying(_, .none(let predecessor), _), .searching(let predecessor, _), .ended(let predecessor): predecessor
        case .idle, .onPrimary, .onBackup, .trying, .failingBack: nil
        }
    }

    /// Whether another source is needed.
    var isInOutage: Bool { active?.isInOutage ?? true }

    /// Status of the source that is published, or was last; nil before the first.
    var activeStatus: UpstreamStatus? { active?.status ?? predecessor?.status }
}

// MARK: - Passing inputs on

// The payload leaves the state while a session handles its input: a session that is referenced twice would be copied.
extension FailoverState {
    mutating func handleActive(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        switch self {
        case .onPrimary(var session):
            self = .idle
            defer { self = .onPrimary(session) }
            return session.handle(input, at: now, limiter: &limiter)
        case .onBackup(var session, let monitor):
            self = .idle
            defer { self = .onBackup(session, monitor) }
            return session.handle(input, at: now, limiter: &limiter)
        case .trying(let trial, .source(var session), let monitor):
            self = .idle
            defer { self = .trying(trial, .source(session), monitor) }
            return session.handle(input, at: now, limiter: &limiter)
        case .failingBack(let trial, var session):
            self = .idle
            defer { self = .failingBack(trial, from: session) }
            return session.handle(input, at: now, limiter: &limiter)
        case .idle, .trying, .searching, .ended: return []
        }
    }

    mutating func handleTrial(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        updateTrial { $0.handle(input, at: now, limiter: &limiter) } ?? []
    }

    /// Records what would become downstream of a segment of the source on trial.
    mutating func recordProbe(_ outcome: DeliveryOutcome) {
        updateTrial { $0.recordProbe(outcome) }
    }

    @discardableResult
    private mutating func updateTrial<Result>(_ update: (inout SourceTrial) -> Result) -> Result? {
        switch self {
        case .trying(var trial, let active, let monitor):
            self = .idle
            defer { self = .trying(trial, active, monitor) }
            return update(&trial)
        case .failingBack(var trial, let session):
            self = .idle
            defer { self = .failingBack(trial, from: session) }
            return update(&trial)
        case .idle, .onPrimary, .onBackup, .searching, .ended: return nil
        }
    }

    mutating func handleMonitor(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        switch self {
        case .onBackup(let session, var monitor):
            self = .idle
            defer { self = .onBackup(session, monitor) }
            return monitor.handle(input, at: now, limiter: &limiter)
        case .trying(let trial, let active, var monitor?):
            self = .idle
            defer { self = .trying(trial, active, monitor) }
            return monitor.handle(input, at: now, limiter: &limiter)
        case .searching(let predecessor, var monitor?):
            self = .idle
            defer { self = .searching(after: predecessor, monitor) }
            return monitor.handle(input, at: now, limiter: &limiter)
        case .idle, .onPrimary, .trying, .failingBack, .searching, .ended: return []
        }
    }
}

extension FailoverState.Active {
    var session: SourceSession? { if case .source(let session) = self { session } else { nil } }
}
