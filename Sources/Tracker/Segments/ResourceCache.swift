import Playlist

/// Keys and initialization sections: each fetched once, however many segments name it.
struct ResourceCache: Sendable {
    enum State: Equatable, Sendable {
        case absent, pending, held
        case failed(FetchFailure)
    }

    private struct Entry: Sendable {
        let request: FetchRequest
        var budget: RetryBudget
        var progress: Progress
    }

    private enum Progress: Sendable {
        case due(at: Duration)
        case fetching(FetchID)
        case held([UInt8])
        case failed(FetchFailure)
    }

    /// Beyond this many the oldest one that is not being fetched is forgotten; a segment that still needs it asks
    /// again.
    static let limit = 32

    /// Oldest first.
    private var entries: [Entry] = []

    func state(of request: FetchRequest) -> State {
        switch entries.first(where: { $0.request == request })?.progress {
        case nil: .absent
        case .due, .fetching: .pending
        case .held: .held
        case .failed(let failure): .failed(failure)
        }
    }

    func body(of request: FetchRequest?) -> [UInt8]? {
        guard case .held(let body) = entries.first(where: { $0.request == request })?.progress else { return nil }
        return body
    }

    /// A segment needs `request`. One that failed before gets another chance if `retriesFailed`.
    mutating func request(_ request: FetchRequest, retriesFailed: Bool, targetDuration: Duration, at now: Duration) {
        switch state(of: request) {
        case .pending, .held: return
        case .failed where !retriesFailed: return
        case .failed, .absent: break
        }
        entries.removeAll { $0.request == request }
        let budget = RetryBudget(targetDuration: targetDuration, at: now)
        entries.append(Entry(request: request, budget: budget, progress: .due(at: now)))
        evict()
    }

    private mutating func evict() {
        guard entries.count > Self.limit else { return }
        let oldest = entries.firstIndex { entry in
            switch entry.progress {
            case .held, .failed: true
            case .due, .fetching: false
            }
        }
        if let oldest { entries.remove(at: oldest) }
    }

    /// The next request whose try is due and permitted, now being fetched as `id`.
    mutating func start(
        as id: FetchID, at now: Duration, where isPermitted: (FetchRequest) -> Bool
    ) -> FetchRequest? {
        for index in entries.indices {
            guard case .due(let at) = entries[index].progress, at <= now, isPermitted(entries[index].request) else {
                continue
            }
            entries[index].progress = .fetching(id)
            return entries[index].request
        }
        return nil
    }

    /// A try ended. Returns what went wrong, if it did, and how often by now.
    mutating func settle(
        _ id: FetchID, _ outcome: FetchOutcome, at now: Duration
    ) -> FailedAttempt? {
        let index = entries.firstIndex { entry in
            if case .fetching(id) = entry.progress { true } else { false }
        }
        guard let index else { return nil }
        do {
            entries[index].progress = .held(try entries[index].request.media(in: outcome).body)
            return nil
        } catch {
            let verdict = entries[index].budget.failed(
                error.prospect, retryAfter: outcome.retryAfter, isListed: true, at: now)
            if case .retry(let next) = verdict {
                entries[index].progress = .due(at: next)
            } else {
                entries[index].progress = .failed(error)
            }
            return FailedAttempt(
                failure: error, failures: entries[index].budget.failures, isLast: verdict == .exhausted)
        }
    }

    var nextDeadline: Duration? {
        var earliest: Duration?
        for case .due(let at) in entries.map(\.progress) { earliest = min(earliest ?? at, at) }
        return earliest
    }
}
