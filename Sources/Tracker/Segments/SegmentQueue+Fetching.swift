import Playlist

// Starts and settles the attempts for queued segments.

extension SegmentQueue {
    /// A segment for which an attempt can start.
    struct Startable {
        fileprivate let index: Int
        /// Whether nothing can be delivered before this segment, so that it may not be held back.
        let isHead: Bool
        let url: String
    }

    /// Returns the first segment for which an attempt can start.
    func startable(at now: Duration) -> Startable? {
        for index in head..<entries.count {
            guard case .segment(let pending) = entries[index], pending.isDue(at: now) else { continue }
            return Startable(index: index, isHead: index == head, url: pending.requests.media.url)
        }
        return nil
    }

    /// Starts an attempt as `id`. Returns all requests of its segment.
    mutating func start(
        _ startable: Startable, as id: FetchID, targetDuration: Duration, at now: Duration
    ) -> SegmentRequests? {
        guard case .segment(var pending) = entries[startable.index] else { return nil }
        if pending.budget == nil { addStarted(pending.segment.duration) }
        pending.start(as: id, targetDuration: targetDuration, at: now)
        entries[startable.index] = .segment(pending)
        inFlight += 1
        return pending.requests
    }

    /// Records the end of an attempt. Returns its failure, if it failed.
    mutating func settle(
        _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) -> FailedAttempt? {
        guard let index = index(of: id), case .segment(var pending) = entries[index] else { return nil }
        inFlight -= 1
        let failure = pending.settle(
            request, outcome, acceptsShort: shortRetriesInVain >= Self.maxShortRetriesInVain, at: now)
        if let helped = pending.shortRetryHelped { shortRetriesInVain = helped ? 0 : shortRetriesInVain + 1 }
        entries[index] = .segment(pending)
        if case .fetched(let body, _) = pending.progress { recordBody(byteCount: body.count) }
        return failure
    }

    /// Returns the end of the next pause between two attempts that has not passed by `now`.
    func nextRetry(after now: Duration) -> Duration? {
        var earliest: Duration?
        for index in head..<entries.count {
            guard case .segment(let pending) = entries[index] else { continue }
            if case .waiting = pending.progress { break }
            guard case .pausing(let until, _) = pending.progress, until > now else { continue }
            earliest = min(earliest ?? until, until)
        }
        return earliest
    }

    private func index(of id: FetchID) -> Int? {
        (head..<entries.count).first { index in
            guard case .segment(let pending) = entries[index], case .fetching(id) = pending.progress else {
                return false
            }
            return true
        }
    }
}
