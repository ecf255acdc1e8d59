import Playlist

// How a session fetches what its playlists list, and hands it on in order.

extension UpstreamSession {
    mutating func settleSegment(
        _ role: RenditionRole, _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) {
        guard let index = index(of: role) else { return }
        guard let trouble = trackers[index].queue.settle(id, request, outcome, at: now) else { return }
        trackers[index].counts.failedTries += 1
        report(.tryFailed(request, trouble.failure, failures: trouble.failures, isLast: trouble.isLast))
        let isRefused = trouble.failure.status == 401 || trouble.failure.status == 403
        if trouble.isLast, isRefused { book.wantReread(at: now) }
    }

    mutating func settleResource(
        _ request: FetchRequest, _ id: FetchID, _ outcome: FetchOutcome, at now: Duration
    ) {
        if let trouble = shelf.settle(id, outcome, at: now) {
            failedResourceTries += 1
            report(.tryFailed(request, trouble.failure, failures: trouble.failures, isLast: trouble.isLast))
        } else if request.purpose == .key {
            report(.keyFetched(url: request.url))
        }
    }

    /// Hands over, for each rendition, what is ready up to the first thing that is not.
    mutating func deliver(at now: Duration) {
        for index in trackers.indices {
            while let content = nextContent(index, at: now) {
                let role = trackers[index].role
                if case .lost(let loss) = content { report(.lost(role, loss)) }
                hand(content, of: role)
            }
        }
    }

    private mutating func nextContent(_ index: Int, at now: Duration) -> Delivery.Content? {
        for request in trackers[index].queue.resourcesOfHead {
            want(request, retriesFailed: false, for: index, at: now)
        }
        return trackers[index].popReady(shelf)
    }

    private mutating func want(_ request: FetchRequest, retriesFailed: Bool, for index: Int, at now: Duration) {
        let targetDuration = trackers[index].assumedTargetDuration
        shelf.want(request, retriesFailed: retriesFailed, targetDuration: targetDuration, at: now)
    }

    /// Starts tries as far as the policy allows; what plays earlier goes first.
    mutating func startSegments(at now: Duration) {
        while trackers.reduce(0, { $0 + $1.queue.inFlight }) < policy.maxInFlight, let next = nextStart(at: now) {
            let targetDuration = trackers[next.index].assumedTargetDuration
            let started = trackers[next.index].queue.start(
                next.startable, as: nextID, targetDuration: targetDuration, at: now)
            guard let started else { return }
            for resource in started.resources { want(resource, retriesFailed: true, for: next.index, at: now) }
            fetch(started.media, for: .segment(trackers[next.index].role, started.media))
        }
    }

    private func nextStart(at now: Duration) -> (index: Int, startable: SegmentQueue.Startable)? {
        let candidates = trackers.indices.filter(isInStep).compactMap { index in
            trackers[index].queue.startable(at: now).map { (index: index, startable: $0) }
        }
        let hasRoom = expectedBytes < policy.maxInFlightBytes
        return candidates.filter { hasRoom || $0.startable.isHead }.min {
            trackers[$0.index].queue.startedDuration < trackers[$1.index].queue.startedDuration
        }
    }

    /// Whether this rendition is not far ahead of another one that has segments to fetch: what plays together comes
    /// together, however small the segments of the one are. One that fails holds back nobody.
    private func isInStep(_ index: Int) -> Bool {
        let lead = trackers[index].assumedTargetDuration * 2
        return trackers.allSatisfy { other in
            other.queue.isEmpty || other.queue.isRetrying
                || trackers[index].queue.startedDuration - other.queue.startedDuration <= lead
        }
    }

    /// Bytes held, and bytes to come if what is in flight is as large as the largest lately.
    private var expectedBytes: Int {
        trackers.reduce(0) { sum, tracker in
            sum + tracker.queue.heldBytes + (tracker.queue.inFlight + 1) * tracker.queue.recentSize
        }
    }

    mutating func startResources(at now: Duration) {
        while let request = shelf.start(as: nextID, at: now) { fetch(request, for: .resource(request)) }
    }

    /// A companion that does not end when the main rendition does is not waited for beyond an outage.
    mutating func endIfDrained() {
        guard phase == .following else { return }
        let mainIsDrained = trackers.first?.isDrained ?? false
        for index in trackers.indices where !trackers[index].hasDeliveredEnd {
            let isLeftBehind = mainIsDrained && trackers[index].isSilent
            guard trackers[index].isDrained || isLeftBehind else { continue }
            trackers[index].hasDeliveredEnd = true
            hand(.ended, of: trackers[index].role)
        }
        if trackers.allSatisfy(\.hasDeliveredEnd) { finish(.drained) }
    }
}

extension RenditionTracker {
    /// An outage, with nothing left in the queue; or never joined.
    fileprivate var isSilent: Bool {
        guard queue.isEmpty else { return false }
        switch ladder.state {
        case .idle: return true
        case .expecting(_, let climbed): return climbed.map { $0 >= .outage } ?? false
        }
    }
}
