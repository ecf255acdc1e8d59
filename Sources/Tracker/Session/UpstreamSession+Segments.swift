import Playlist

// Fetches the segments that are listed, with their keys and maps.

extension UpstreamSession {
    /// Starts the keys and maps that are due, oldest request first.
    mutating func startResources(at now: Duration) {
        while let request = cache.start(as: nextID, at: now, where: { limiter.admits($0.url, at: now) }) {
            fetch(request, for: .resource(request))
        }
    }

    /// Starts segments as far as the policy allows, the earliest in playing time first, then their keys and maps.
    mutating func startSegments(at now: Duration) {
        let started = startMedia(at: now) + startSubtitles(at: now)
        for (index, requests) in started {
            for resource in requests.resources { start(resource, for: index, at: now) }
        }
    }

    private typealias Started = (index: Int, requests: SegmentRequests)

    private mutating func startMedia(at now: Duration) -> [Started] {
        var started: [Started] = []
        while mediaInFlight < policy.maxInFlight, let next = nextStart(at: now),
            let requests = start(next.startable, of: next.index, at: now)
        {
            started.append((next.index, requests))
        }
        return started
    }

    /// Starts one segment of each subtitle rendition that has none in flight.
    private mutating func startSubtitles(at now: Duration) -> [Started] {
        var started: [Started] = []
        for index in trackers.indices where trackers[index].role.isSubtitles && isInStep(index) {
            guard trackers[index].queue.inFlight == 0, let next = trackers[index].queue.startable(at: now),
                limiter.admits(next.url, at: now), let requests = start(next, of: index, at: now)
            else { continue }
            started.append((index, requests))
        }
        return started
    }

    private mutating func start(
        _ startable: SegmentQueue.Startable, of index: Int, at now: Duration
    ) -> SegmentRequests? {
        let targetDuration = trackers[index].assumedTargetDuration
        let requests = trackers[index].queue.start(startable, as: nextID, targetDuration: targetDuration, at: now)
        guard let requests else { return nil }
        fetch(requests.media, for: .segment(trackers[index].role, requests.media))
        return requests
    }

    /// Starts a key or map of a segment that was just started, if it is not there yet and the host's limit permits.
    private mutating func start(_ resource: FetchRequest, for index: Int, at now: Duration) {
        request(resource, retriesFailed: true, for: index, at: now)
        let started = cache.start(as: nextID, at: now) { $0 == resource && limiter.admits($0.url, at: now) }
        if let started { fetch(started, for: .resource(started)) }
    }

    mutating func request(_ request: FetchRequest, retriesFailed: Bool, for index: Int, at now: Duration) {
        let targetDuration = trackers[index].assumedTargetDuration
        cache.request(request, retriesFailed: retriesFailed, targetDuration: targetDuration, at: now)
    }
}

// MARK: - Choice of the next segment

extension UpstreamSession {
    /// The largest lead of a rendition over another one, in target durations.
    private static let lead = 2
    /// The same for subtitles, which begin before the video and so have more of their playlist at the same moment.
    private static let subtitleLead = 16

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

    /// Whether the rendition is not far ahead of another one that has segments to fetch.
    ///
    /// Media that is presented together arrives together, even if the segments of one rendition are small. A rendition
    /// that fails, or has subtitles, delays no other.
    private func isInStep(_ index: Int) -> Bool {
        let isSubtitles = trackers[index].role.isSubtitles
        let lead = trackers[index].assumedTargetDuration * (isSubtitles ? Self.subtitleLead : Self.lead)
        return trackers.allSatisfy { other in
            other.role.isSubtitles || other.queue.isEmpty || other.queue.isRetrying
                || trackers[index].queue.startedDuration - other.queue.startedDuration <= lead
        }
    }

    /// Audio and video segments in flight.
    private var mediaInFlight: Int {
        trackers.reduce(0) { $0 + ($1.role.isSubtitles ? 0 : $1.queue.inFlight) }
    }

    /// Audio and video bytes held, and in flight if those segments are as large as the largest of the last two.
    private var expectedBytes: Int {
        trackers.reduce(0) { sum, tracker in
            tracker.role.isSubtitles
                ? sum
                : sum + tracker.queue.heldBytes + (tracker.queue.inFlight + 1) * tracker.queue.recentSize
        }
    }
}

// MARK: - Answers

extension UpstreamSession {
    mutating func settleSegment(
        _ role: RenditionRole, _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) {
        guard let index = index(of: role) else { return }
        guard let attempt = trackers[index].queue.settle(id, request, outcome, at: now) else { return }
        trackers[index].counts.failedTries += 1
        if role == .main { mediaStall.recordFailure(attempt.failure.lossReason) }
        reportFailure(attempt, of: request, at: now)
    }

    mutating func settleResource(
        _ request: FetchRequest, _ id: FetchID, _ outcome: FetchOutcome, at now: Duration
    ) {
        if let attempt = cache.settle(id, outcome, at: now) {
            failedResourceTries += 1
            mediaStall.recordFailure(request.lossReason(attempt.failure))
            reportFailure(attempt, of: request, at: now)
        } else if request.purpose == .key {
            report(.keyFetched(url: request.url))
        }
    }

    private mutating func reportFailure(_ attempt: FailedAttempt, of request: FetchRequest, at now: Duration) {
        count(FetchFault(attempt.failure))
        let prospect = attempt.failure.prospect
        // A limited host was reported when its limit began.
        if prospect != .hostLimited || attempt.isLast {
            report(.fetchFailed(request, attempt.failure, failures: attempt.failures, isLast: attempt.isLast))
        }
        if prospect == .newURL { requestFreshURLs(at: now) }
    }
}
