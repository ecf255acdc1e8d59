import Fetch

/// Which sources of a channel are open, and what each of them is for.
///
/// `transition(on:)` has one row for each legal pair of state and event. `decision(at:order:history:failbackDelay:)`
/// returns what is due at a time. A channel without backups knows only `idle`, `onPrimary` and `ended`.
///
///     onPrimary ──outage──▸ trying ──trial passed──▸ onBackup, primary monitored
///         ▴                 │    ▴                       │ primary healthy for a while
///         │                 └────┘ trial failed: next    │
///         └────trial passed──── failingBack ◂────────────┘
///
/// The source on trial may be the active one, with another variant. It is then published in place of that.
enum FailoverState: Sendable {
    case idle
    /// The primary is published. It may be in an outage and wait for the next trial.
    case onPrimary(SourceSession)
    case onBackup(SourceSession, PrimaryMonitor)
    /// The active source is in an outage, or there is none, and another source is tried. The monitor is nil unless a
    /// backup is active or was active last. It is paused while the primary is on trial.
    case trying(SourceTrial, Active, PrimaryMonitor?)
    /// A backup is active, and the primary, healthy for a while, is tried.
    case failingBack(SourceTrial, from: SourceSession)
    /// No source is active or on trial. The monitor goes on: the primary's health counts once a backup is active again.
    case searching(after: Predecessor, PrimaryMonitor?)
    case ended(after: Predecessor)

    enum Active: Sendable {
        case source(SourceSession)
        case none(after: Predecessor)
    }

    enum Event: Sendable {
        case primaryOpened(SourceSession)
        case trialStarted(SourceTrial)
        /// A trial of the primary was started because its monitor found it healthy, or because its variant of before may be
        /// there again.
        case failbackStarted(SourceTrial)
        case trialPassed
        /// The trial failed, is no longer needed, or its session has ended.
        case trialEnded
        /// The session with the active source has ended, and the channel goes on.
        case activeEnded(SessionEnd)
        /// The active source, or the one on trial, was opened again to follow another variant.
        case activeReopened(SourceSession)
        case trialReopened(SourceTrial)
        case monitorStarted(SourceSession)
        case monitorPaused(at: Duration)
        case channelEnded
    }

    struct Transition: Sendable {
        let next: FailoverState
        /// Sessions that `next` has no use for, in the order in which their fetches are canceled.
        var abandoned: [SourceSession?] = []
    }

    // MARK: - Transitions

    /// Returns the transition for `event`; nil if the event is not legal in this state.
    func transition(on event: Event) -> Transition? {
        switch (self, event) {
        case (.idle, .primaryOpened(let primary)):
            Transition(next: .onPrimary(primary))

        case (.onPrimary(let primary), .trialStarted(let trial)) where trial.fits(primary):
            Transition(next: .trying(trial, .source(primary), nil))
        case (.onPrimary(let primary), .failbackStarted(let trial)) where trial.source == 0 && trial.fits(primary):
            Transition(next: .failingBack(trial, from: primary))
        case (.onPrimary(let primary), .activeEnded(let end)):
            Transition(next: .searching(after: Predecessor(primary, lost: end), nil))

        case (.onBackup(let backup, let monitor), .trialStarted(let trial)) where trial.fits(backup):
            Self.trying(trial, .source(backup), monitor)
        case (.onBackup(let backup, let monitor), .failbackStarted(let trial))
        where trial.source == 0 && trial.otherVariant == nil && monitor.session != nil:
            Transition(next: .failingBack(trial, from: backup), abandoned: [monitor.session])
        case (.onBackup(let backup, let monitor), .activeEnded(let end)):
            Transition(next: .searching(after: Predecessor(backup, lost: end), monitor))
        case (.onBackup(let backup, let monitor), .monitorStarted(let session)) where monitor.session == nil:
            Transition(next: .onBackup(backup, monitor.started(session)))
        case (.onBackup(let backup, let monitor), .monitorPaused(let now)) where monitor.session != nil:
            Transition(next: .onBackup(backup, monitor.paused(at: now)), abandoned: [monitor.session])

        case (.trying(let trial, let active, let monitor), .trialPassed):
            Transition(next: .on(trial.session, monitor), abandoned: [active.session])
        case (.trying(let trial, let active, let monitor), .trialEnded):
            Transition(next: .on(active, monitor), abandoned: [trial.session])
        case (.trying(let other, .source(let backup), let monitor?), .failbackStarted(let trial))
        where trial.source == 0 && trial.otherVariant == nil && monitor.session != nil:
            Transition(next: .failingBack(trial, from: backup), abandoned: [monitor.session, other.session])
        case (.trying(let trial, .source(let session), let monitor), .activeEnded(let end)):
            Transition(next: .trying(trial, .none(after: Predecessor(session, lost: end)), monitor))
        case (.trying(let trial, .source(let backup), let monitor?), .monitorStarted(let session))
        where monitor.session == nil && trial.source != 0:
            Transition(next: .trying(trial, .source(backup), monitor.started(session)))
        case (.trying(let trial, .source(let backup), let monitor?), .monitorPaused(let now))
        where monitor.session != nil:
            Transition(next: .trying(trial, .source(backup), monitor.paused(at: now)), abandoned: [monitor.session])

        case (.failingBack(let trial, let backup), .trialPassed):
            Transition(next: .onPrimary(trial.session), abandoned: [backup])
        case (.failingBack(let trial, let backup), .trialEnded):
            Transition(next: .on(backup, nil), abandoned: [trial.session])
        case (.failingBack(let trial, let backup), .activeEnded(let end)):
            Transition(next: .trying(trial, .none(after: Predecessor(backup, lost: end)), nil))

        case (.onPrimary(let old), .activeReopened(let session)) where session.source == old.source:
            Transition(next: .onPrimary(session), abandoned: [old])
        case (.onBackup(let old, let monitor), .activeReopened(let session)) where session.source == old.source:
            Transition(next: .onBackup(session, monitor), abandoned: [old])
        case (.trying(let trial, .source(let old), let monitor), .activeReopened(let session))
        where session.source == old.source:
            Transition(next: .trying(trial, .source(session), monitor), abandoned: [old])
        case (.failingBack(let trial, let old), .activeReopened(let session)) where session.source == old.source:
            Transition(next: .failingBack(trial, from: session), abandoned: [old])
        case (.trying(let old, let active, let monitor), .trialReopened(let trial)) where trial.source == old.source:
            Transition(next: .trying(trial, active, monitor), abandoned: [old.session])
        case (.failingBack(let old, let session), .trialReopened(let trial)) where trial.source == old.source:
            Transition(next: .failingBack(trial, from: session), abandoned: [old.session])

        case (.searching(let predecessor, let monitor), .trialStarted(let trial)) where trial.otherVariant == nil:
            Self.trying(trial, .none(after: predecessor), monitor)

        case (_, .channelEnded):
            end.map { Transition(next: .ended(after: $0), abandoned: [active, trial?.session, monitor?.session]) }
        default: nil
        }
    }

    /// A trial of the primary takes the place of its monitor.
    private static func trying(_ trial: SourceTrial, _ active: Active, _ monitor: PrimaryMonitor?) -> Transition {
        guard trial.source == 0 else { return Transition(next: .trying(trial, active, monitor)) }
        return Transition(next: .trying(trial, active, monitor?.stopped()), abandoned: [monitor?.session])
    }

    /// The state in which `session` is active and nothing is tried.
    private static func on(_ session: SourceSession, _ monitor: PrimaryMonitor?) -> FailoverState {
        session.source == 0 ? .onPrimary(session) : .onBackup(session, monitor ?? PrimaryMonitor())
    }

    private static func on(_ active: Active, _ monitor: PrimaryMonitor?) -> FailoverState {
        switch active {
        case .source(let session): on(session, monitor)
        case .none(let predecessor): .searching(after: predecessor, monitor)
        }
    }

    /// The predecessor if the channel ends now; nil if it has not begun or has ended.
    private var end: Predecessor? {
        switch self {
        case .idle, .ended: nil
        default: active.map { Predecessor($0) } ?? predecessor
        }
    }

    // MARK: - Decisions

    /// The next thing that the channel has to do.
    enum Decision: Equatable, Sendable {
        case switchToTrial
        case endTrial
        case tryNext
        /// Try the primary's variant of before in order to publish it again.
        case returnVariant
        /// Try the primary in order to publish it again.
        case failBack
        case monitorPrimary
        case pauseMonitor
    }

    /// Returns the decision that is due at `now`; nil if none is.
    /// - Parameters:
    ///   - returnAt: when the primary's variant of before is due for a trial; nil if it is the one in use.
    ///   - edge: the end of what is published.
    func decision(
        at now: Duration, order: FailoverOrder, history: SourceHistory, failbackDelay: Duration,
        returnAt: Duration? = nil, edge: PublishedEdge
    ) -> Decision? {
        switch self {
        case .idle, .ended: return nil
        case .onPrimary(let session):
            if isInOutage { return order.nextAt <= now ? .tryNext : nil }
            guard let at = variantReturn(of: session, returnAt, failbackDelay) else { return nil }
            return at <= now ? .returnVariant : nil
        case .searching: return order.nextAt <= now ? .tryNext : nil
        case .onBackup(_, let monitor):
            if isInOutage, order.nextAt <= now { return .tryNext }
            return monitor.decision(at: now, failbackDelay: failbackDelay)
        case .trying(let trial, let active, let monitor):
            let decision = trial.decision(at: now, isNeeded: isInOutage, history: history, edge: edge)
            if let decision { return decision }
            guard case .source = active, trial.source != 0 else { return nil }
            return monitor?.decision(at: now, failbackDelay: failbackDelay)
        case .failingBack(let trial, _):
            return trial.decision(at: now, isNeeded: true, history: history, edge: edge)
        }
    }

    /// When the primary's variant of before is tried; nil if it is not.
    func variantReturn(_ returnAt: Duration?, _ failbackDelay: Duration) -> Duration? {
        guard case .onPrimary(let session) = self else { return nil }
        return variantReturn(of: session, returnAt, failbackDelay)
    }

    private func variantReturn(
        of session: SourceSession, _ returnAt: Duration?, _ failbackDelay: Duration
    ) -> Duration? {
        guard let returnAt, let since = session.healthySince else { return nil }
        return max(returnAt, since + failbackDelay)
    }

    // MARK: - Sessions that a state holds

    var hasEnded: Bool { if case .ended = self { true } else { false } }

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

    // MARK: - Passing inputs on

    // The payload leaves the state while a session handles its input: a session that is referenced twice would be copied.

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

extension SourceTrial {
    /// Whether the trial may be beside an active session: with another source, or with another variant of it.
    fileprivate func fits(_ active: SourceSession) -> Bool { (source == active.source) == (otherVariant != nil) }
}

extension FailoverState.Active {
    var session: SourceSession? { if case .source(let session) = self { session } else { nil } }
}

/// The source that was published last, when none is.
struct Predecessor: Sendable {
    let status: UpstreamStatus
    /// Why it is no longer published; nil if the channel ended with it.
    let loss: UpstreamStatus.Stall.Cause?

    /// - Parameter end: why the session ended; nil if the channel ends while `session` is published.
    init(_ session: SourceSession, lost end: SessionEnd? = nil) {
        status = session.status
        loss = end.map { .sourceLost(session.source, $0.error) }
    }
}

extension SessionEnd {
    fileprivate var error: TrackerError? {
        switch self {
        case .drained: nil
        case .failed(let error), .gaveUp(let error): error
        }
    }
}

/// Decides which of a channel's sources is tried next, and when.
///
/// Sources are tried in turn, and before each of them another variant of the active one. The pauses between trials double
/// until a segment is published.
struct FailoverOrder: Equatable, Sendable {
    enum Candidate: Equatable, Sendable {
        case source(Int)
        /// Another variant of the active source.
        case variant
    }

    /// The source that was published or tried last.
    private(set) var last = 0
    /// Whether a variant was tried last.
    private var triedVariant = false
    /// Earliest time of the next trial.
    private(set) var nextAt = Duration.zero
    private var backoff = Backoff()

    /// Returns what to try now, and advances to it.
    /// - Parameters:
    ///   - count: number of sources.
    ///   - active: the source that is published, which needs no trial; nil if none is.
    ///   - hasVariant: whether it has another variant.
    /// - Returns: nil if there is nothing but the active source.
    mutating func next(of count: Int, excluding active: Int?, hasVariant: Bool = false) -> Candidate? {
        guard count > (active == nil ? 0 : 1) else { return hasVariant ? .variant : nil }
        triedVariant = hasVariant && !triedVariant
        if triedVariant { return .variant }
        last = (last + 1) % count
        if last == active { last = (last + 1) % count }
        return .source(last)
    }

    /// Makes the source after `source` the next one to try. `source` is published, or was until now.
    mutating func resume(after source: Int) { (last, triedVariant) = (source, false) }

    /// Delays the next trial after one that failed.
    mutating func backOff(from now: Duration) { nextAt = now + backoff.next() }

    /// Makes the pauses short again. A pause that has begun stays as it is.
    mutating func resetBackoff() { (backoff, triedVariant) = (Backoff(), false) }
}

/// Events of a channel's sources in the current outage, so that each is reported once, and the sources that have ended.
struct SourceHistory: Equatable, Sendable {
    private var triedSources: Set<Int> = []
    private(set) var failures: [Int: TrackerError] = [:]
    /// Last segments of the sources that were published to their end. Such a source has no new media until its playlist
    /// ends with another segment.
    private var ends: [Int: LastSegmentIdentity] = [:]

    /// - Returns: the event to report; nil if it was reported in this outage.
    mutating func recordTrial(of source: Int, url: String) -> UpstreamEvent? {
        triedSources.insert(source).inserted ? .trialStarted(source: source, url: url) : nil
    }

    /// - Returns: the event to report; nil if it was reported in this outage.
    mutating func recordFailure(of source: Int, _ error: TrackerError) -> UpstreamEvent? {
        let isNew = !(failures[source]?.isEquivalent(to: error) ?? false)
        failures[source] = error
        return isNew ? .sourceFailed(source, error) : nil
    }

    /// Records that the active source is no longer published.
    mutating func recordEnd(of session: SourceSession, _ end: SessionEnd) -> UpstreamEvent? {
        switch end {
        case .drained:
            ends[session.source] = session.endIdentity
            return .sourceEnded(session.source)
        case .failed(let error), .gaveUp(let error): return recordFailure(of: session.source, error)
        }
    }

    /// Whether the playlist of `session` is the one that was published to its end.
    func wasPublishedToEnd(_ session: SourceSession) -> Bool {
        ends[session.source].map { $0 == session.endIdentity } ?? false
    }

    /// Records that `source` is published from now on. If its playlist ends later, that is another end.
    mutating func recordTakeover(of source: Int) { ends[source] = nil }

    /// Records that a segment was published. The next failure belongs to another outage.
    mutating func clearOutage() { (triedSources, failures) = ([], [:]) }
}
