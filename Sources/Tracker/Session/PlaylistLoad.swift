import Fetch

/// The state of one media playlist's loads: when the next one starts, and how the last one ended.
struct PlaylistLoad: Sendable {
    private enum State: Equatable, Sendable {
        case due(at: Duration)
        case loading(FetchID, until: Duration)
        /// Nothing will be added to the playlist.
        case complete
    }

    private var state: State
    private var schedule: PollingSchedule
    private(set) var failures = FailureReport()

    init(_ mode: PollingMode, at now: Duration) {
        state = .due(at: now)
        schedule = PollingSchedule(mode)
    }

    var polling: PollingState { schedule.state }

    /// Returns the request of the next load, a blocking one if the server may hold back its answer for `longestHold`.
    func request(_ url: String, longestHold: Duration) -> FetchRequest {
        FetchRequest(
            .mediaPlaylist, url: schedule.directed(url), duration: schedule.isBlocking ? longestHold : nil)
    }

    /// The time at which the next load starts, or the one in flight times out.
    var deadline: Duration? {
        switch state {
        case .due(let at), .loading(_, until: let at): at
        case .complete: nil
        }
    }

    var isInFlight: Bool { if case .loading = state { true } else { false } }

    var timeout: Duration? { if case .loading(_, let until) = state { until } else { nil } }

    func isDue(at now: Duration) -> Bool { if case .due(let at) = state { at <= now } else { false } }

    mutating func began(as id: FetchID, limit: Duration, longestHold: Duration, at now: Duration) {
        state = .loading(id, until: now + limit + (schedule.isBlocking ? longestHold : .zero))
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

    mutating func postpone(until time: Duration) {
        if case .due(let at) = state { state = .due(at: max(at, time)) }
    }

    /// Loads as soon as the schedule permits, because the playlist may list something new.
    mutating func hasten(at now: Duration) {
        if case .due(let at) = state { state = .due(at: min(at, schedule.earliest(at: now))) }
    }

    mutating func close() { state = .complete }

    /// Records a failed load. Returns whether the failure is new.
    ///
    /// - Parameters:
    ///   - pause: the delay that the answer asks for.
    ///   - retry: when to load again, if not by the schedule.
    mutating func failed(
        _ error: TrackerError, pause: Duration, retry: Duration?, targetDuration: Duration, at now: Duration
    ) -> Bool {
        let next = schedule.next(afterFailureAt: now, targetDuration: targetDuration)
        state = (retry ?? next).map { .due(at: max($0, now + pause)) } ?? .complete
        return failures.record(error)
    }

    mutating func succeeded() { failures.clear() }

    mutating func ended(_ reading: PollingSchedule.Reading, at now: Duration) {
        state = schedule.next(after: reading, at: now).map { .due(at: $0) } ?? .complete
    }
}
