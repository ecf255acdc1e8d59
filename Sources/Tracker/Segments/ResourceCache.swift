import Playlist

/// Keys and initialization sections, each fetched once for all segments that need it.
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

    /// The number of entries kept. A segment that still needs an evicted resource requests it again.
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

    /// The time of the earliest attempt that is not in flight.
    var nextDeadline: Duration? {
        entries.lazy.compactMap { entry in
            if case .due(let at) = entry.progress { at } else { nil }
        }.min()
    }

    /// Adds a resource that a segment needs, unless it is there already.
    ///
    /// - Parameter retriesFailed: whether a resource that failed gets a new budget.
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

    /// Removes the oldest entry that is neither due nor in flight, if there are too many.
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

    /// Starts the next attempt that is due and permitted, as `id`. Returns its request.
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

    /// Records the end of an attempt. Returns its failure, if it failed.
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
}
