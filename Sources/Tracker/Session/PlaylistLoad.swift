/// When one media playlist is loaded, and how its last load went.
struct PlaylistLoad: Sendable {
    private enum State: Equatable, Sendable {
        case due(at: Duration)
        case loading(FetchID, until: Duration)
        /// Nothing will be added to it.
        case complete
    }

    private var state: State
    private var schedule = ReloadSchedule()
    /// Of the last load; nil when it went well.
    private(set) var lastFailure: TrackerError?

    init(at now: Duration) { state = .due(at: now) }

    /// When something is to be done about it.
    var deadline: Duration? {
        switch state {
        case .due(let at), .loading(_, until: let at): at
        case .complete: nil
        }
    }

    /// When the load in flight will have taken too long.
    var overdue: Duration? { if case .loading(_, let until) = state { until } else { nil } }

    func isDue(at now: Duration) -> Bool { if case .due(let at) = state { at <= now } else { false } }

    /// The last load did not fail in the same way.
    func isNewFailure(_ error: TrackerError) -> Bool { !(lastFailure?.isEquivalent(to: error) ?? false) }

    /// - Parameter limit: how long it may take.
    mutating func began(as id: FetchID, limit: Duration, at now: Duration) {
        state = .loading(id, until: now + limit)
        schedule.began(at: now)
    }

    /// The load in flight has taken too long, or its address is no longer wanted.
    /// - Returns: what is to be cancelled.
    mutating func abandon(at now: Duration) -> FetchID? {
        guard case .loading(let id, _) = state else { return nil }
        state = .due(at: now)
        return id
    }

    /// It is at another address.
    /// - Returns: what is to be cancelled.
    mutating func restart(at now: Duration) -> FetchID? {
        defer { state = .due(at: now) }
        return abandon(at: now)
    }

    /// It may have news before it is due.
    mutating func hasten(at now: Duration) {
        if case .due(let at) = state { state = .due(at: min(at, schedule.earliest(at: now))) }
    }

    /// It is not loaded any more.
    mutating func close() { state = .complete }

    /// - Parameters:
    ///   - pause: that the answer asked for.
    ///   - retry: when to load again, if not by the schedule.
    mutating func failed(
        _ error: TrackerError, pause: Duration, retry: Duration?, targetDuration: Duration, at now: Duration
    ) {
        lastFailure = error
        let next = schedule.next(after: .failed, targetDuration: targetDuration, at: now)
        state = (retry ?? next).map { .due(at: max($0, now + pause)) } ?? .complete
    }

    /// A list came.
    mutating func succeeded() { lastFailure = nil }

    /// The list was read.
    mutating func ended(_ outcome: ReloadSchedule.Load, targetDuration: Duration, at now: Duration) {
        state = schedule.next(after: outcome, targetDuration: targetDuration, at: now).map { .due(at: $0) } ?? .complete
    }
}
