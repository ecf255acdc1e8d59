/// The state of one media playlist's loads: when the next one starts, and how the last one ended.
struct PlaylistLoad: Sendable {
    private enum State: Equatable, Sendable {
        case due(at: Duration)
        case loading(FetchID, until: Duration)
        /// Nothing will be added to the playlist.
        case complete
    }

    private var state: State
    private var schedule = ReloadSchedule()
    private(set) var failures = FailureReport()

    init(at now: Duration) { state = .due(at: now) }

    /// The time at which the next load starts, or the one in flight times out.
    var deadline: Duration? {
        switch state {
        case .due(let at), .loading(_, until: let at): at
        case .complete: nil
        }
    }

    var isInFlight: Bool { if case .loading = state { true } else { false } }

    /// The time at which the load in flight times out.
    var timeout: Duration? { if case .loading(_, let until) = state { until } else { nil } }

    func isDue(at now: Duration) -> Bool { if case .due(let at) = state { at <= now } else { false } }

    /// - Parameter limit: the time limit of the load.
    mutating func began(as id: FetchID, limit: Duration, at now: Duration) {
        state = .loading(id, until: now + limit)
        schedule.began(at: now)
    }

    /// Ends the load in flight. Returns the fetch to cancel.
    mutating func abandon(at now: Duration) -> FetchID? {
        guard case .loading(let id, _) = state else { return nil }
        state = .due(at: now)
        return id
    }

    /// Loads from another URL at once. Returns the fetch to cancel.
    mutating func restart(at now: Duration) -> FetchID? {
        defer { state = .due(at: now) }
        return abandon(at: now)
    }

    /// Loads as soon as the schedule permits, because the playlist may list something new.
    mutating func hasten(at now: Duration) {
        if case .due(let at) = state { state = .due(at: min(at, schedule.earliest(at: now))) }
    }

    /// Ends all loads.
    mutating func close() { state = .complete }

    /// Records a failed load. Returns whether the failure is new.
    ///
    /// - Parameters:
    ///   - pause: the delay that the answer asks for.
    ///   - retry: when to load again, if not by the schedule.
    mutating func failed(
        _ error: TrackerError, pause: Duration, retry: Duration?, targetDuration: Duration, at now: Duration
    ) -> Bool {
        let next = schedule.next(after: .failed, targetDuration: targetDuration, at: now)
        state = (retry ?? next).map { .due(at: max($0, now + pause)) } ?? .complete
        return failures.record(error)
    }

    /// Records that a playlist arrived.
    mutating func succeeded() { failures.clear() }

    /// Schedules the next load after the playlist was read.
    mutating func ended(_ outcome: ReloadSchedule.Load, targetDuration: Duration, at now: Duration) {
        state = schedule.next(after: outcome, targetDuration: targetDuration, at: now).map { .due(at: $0) } ?? .complete
    }
}
