import Playlist

// How a session fetches what its playlists list, and hands it on in order.

extension UpstreamSession {
    mutating func settleSegment(
        _ role: RenditionRole, _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) {
        guard let index = index(of: role) else { return }
        guard let trouble = trackers[index].queue.settle(id, request, outcome, at: now) else { return }
        trackers[index].counts.failedTries += 1
        if role == .main { mediaStall.recordFailure(trouble.failure.lossReason) }
        reportFailure(trouble, of: request, at: now)
    }

    private mutating func reportFailure(_ trouble: FailedAttempt, of request: FetchRequest, at now: Duration) {
        count(FetchFault(trouble.failure))
        let prospect = trouble.failure.prospect
        // That the host is metered was told when it began.
        if prospect != .hostLimited || trouble.isLast {
            report(.fetchFailed(request, trouble.failure, failures: trouble.failures, isLast: trouble.isLast))
        }
        if prospect == .newURL { requestFreshURLs(at: now) }
    }

    /// A token has expired, by all appearances: what names the addresses is read again, at once.
    private mutating func requestFreshURLs(at now: Duration) {
        if locator.hasMultivariant { return locator.requestReload(at: now) }
        for index in trackers.indices { trackers[index].load.hasten(at: now) }
    }

    mutating func settleResource(
        _ request: FetchRequest, _ id: FetchID, _ outcome: FetchOutcome, at now: Duration
    ) {
        if let trouble = cache.settle(id, outcome, at: now) {
            failedResourceTries += 1
            mediaStall.recordFailure(request.lossReason(trouble.failure))
            reportFailure(trouble, of: request, at: now)
        } else if request.purpose == .key {
            report(.keyFetched(url: request.url))
        }
    }

    /// Hands over, for each rendition, what is ready up to the first thing that is not.
    mutating func deliver(at now: Duration) {
        for index in trackers.indices {
            while let content = nextContent(index, at: now) {
                let role = trackers[index].role
                if case .lost(let loss) = content {
                    report(.lost(role, loss))
                    if role == .main { mediaStall.recordFailure(loss.reason) }
                }
                deliver(content, of: role)
            }
        }
    }

    private mutating func nextContent(_ index: Int, at now: Duration) -> Delivery.Content? {
        for resource in trackers[index].queue.headResources {
            request(resource, retriesFailed: false, for: index, at: now)
        }
        return trackers[index].popReady(cache)
    }

    private mutating func request(_ request: FetchRequest, retriesFailed: Bool, for index: Int, at now: Duration) {
        let targetDuration = trackers[index].assumedTargetDuration
        cache.request(request, retriesFailed: retriesFailed, targetDuration: targetDuration, at: now)
    }

    /// Starts tries as far as the policy allows; what plays earlier goes first.
    mutating func startSegments(at now: Duration) {
        while mediaInFlight < policy.maxInFlight, let next = nextStart(at: now) {
            guard start(next.startable, of: next.index, at: now) else { return }
        }
        for index in trackers.indices where trackers[index].role.isSubtitles && isInStep(index) {
            guard trackers[index].queue.inFlight == 0, let next = trackers[index].queue.startable(at: now),
                limiter.admits(next.url, at: now)
            else { continue }
            _ = start(next, of: index, at: now)
        }
    }

    /// Of picture and sound.
    private var mediaInFlight: Int {
        trackers.reduce(0) { $0 + ($1.role.isSubtitles ? 0 : $1.queue.inFlight) }
    }

    private mutating func start(_ startable: SegmentQueue.Startable, of index: Int, at now: Duration) -> Bool {
        let targetDuration = trackers[index].assumedTargetDuration
        let started = trackers[index].queue.start(startable, as: nextID, targetDuration: targetDuration, at: now)
        guard let started else { return false }
        for resource in started.resources { request(resource, retriesFailed: true, for: index, at: now) }
        fetch(started.media, for: .segment(trackers[index].role, started.media))
        return true
    }

    private func nextStart(at now: Duration) -> (index: Int, startable: SegmentQueue.Startable)? {
        let media = trackers.indices.filter { !trackers[$0].role.isSubtitles }
        let candidates = media.filter(isInStep).compactMap { index in
            trackers[index].queue.startable(at: now).map { (index: index, startable: $0) }
        }
        let hasRoom = expectedBytes < policy.maxInFlightBytes
        let permitted = candidates.filter { limiter.admits($0.startable.url, at: now) }
        return permitted.filter { hasRoom || $0.startable.isHead }.min {
            trackers[$0.index].queue.startedDuration < trackers[$1.index].queue.startedDuration
        }
    }

    /// Whether this rendition is not far ahead of another one that has segments to fetch: what plays together comes
    /// together, however small the segments of the one are. One that fails holds back nobody, and subtitles never do.
    private func isInStep(_ index: Int) -> Bool {
        let isSubtitles = trackers[index].role.isSubtitles
        let lead = trackers[index].assumedTargetDuration * (isSubtitles ? Self.subtitleLead : Self.lead)
        return trackers.allSatisfy { other in
            other.role.isSubtitles || other.queue.isEmpty || other.queue.isRetrying
                || trackers[index].queue.startedDuration - other.queue.startedDuration <= lead
        }
    }

    /// Target durations.
    private static let lead = 2
    /// Subtitles begin further back than the picture, so that they have had more of their playlist at the same moment.
    private static let subtitleLead = 16

    /// Bytes of picture and sound held, and bytes to come if what is in flight is as large as the largest lately.
    private var expectedBytes: Int {
        trackers.reduce(0) { sum, tracker in
            tracker.role.isSubtitles
                ? sum
                : sum + tracker.queue.heldBytes + (tracker.queue.inFlight + 1) * tracker.queue.recentSize
        }
    }

    /// Nobody wants what is listed.
    mutating func discardMedia() {
        for index in trackers.indices where !trackers[index].queue.isEmpty { trackers[index].queue = SegmentQueue() }
    }

    mutating func startResources(at now: Duration) {
        while let request = cache.start(as: nextID, at: now, where: { limiter.admits($0.url, at: now) }) {
            fetch(request, for: .resource(request))
        }
    }

    /// A companion that does not end when the main rendition does is not waited for beyond an outage.
    mutating func endIfDrained(at now: Duration) {
        guard phase == .following else { return }
        let mainIsDrained = trackers.first?.isDrained(at: now) ?? false
        for index in trackers.indices where !trackers[index].hasDeliveredEnd {
            let isLeftBehind = mainIsDrained && trackers[index].isSilent
            guard trackers[index].isDrained(at: now) || isLeftBehind else { continue }
            trackers[index].hasDeliveredEnd = true
            deliver(.ended(dateRanges: trackers[index].dateRangesAtEnd), of: trackers[index].role)
        }
        if trackers.allSatisfy(\.hasDeliveredEnd) { finish(.drained) }
    }
}

extension RenditionTracker {
    /// An outage, with nothing left in the queue; or never joined.
    fileprivate var isSilent: Bool {
        guard queue.isEmpty else { return false }
        switch stallEscalation.state {
        case .idle: return true
        case .expecting(_, let climbed): return climbed.map { $0 >= .outage } ?? false
        }
    }
}
