import Fetch
import Playlist
import Support

// Fetches the segments that are listed, with their keys and maps.

extension UpstreamSession {
    /// Starts the keys and maps that are due and still needed, oldest request first.
    mutating func startResources(at now: Duration) {
        cache.removeUnneeded(at: now) { request in
            trackers.contains { $0.queue.needs(request) }
        }
        while let request = startDueResource(at: now, where: { _ in true }) {
            fetchResource(request, at: now)
        }
    }

    /// Starts segments as far as the policy allows, the earliest in playing time first, then their keys and maps.
    mutating func startSegments(at now: Duration) {
        let started = startMedia(at: now) + startSubtitles(at: now)
        for requests in started {
            for resource in requests.resources { start(resource, at: now) }
        }
    }

    private mutating func startMedia(at now: Duration) -> [SegmentRequests] {
        var started: [SegmentRequests] = []
        while mediaInFlight < policy.maxInFlight, let next = nextStart(at: now),
            let requests = start(next.startable, of: next.index, at: now)
        {
            started.append(requests)
        }
        return started
    }

    /// Starts one segment of each subtitle rendition that has none in flight.
    private mutating func startSubtitles(at now: Duration) -> [SegmentRequests] {
        var started: [SegmentRequests] = []
        for index in trackers.indices where trackers[index].role.isSubtitles && mayStart(index) && isInStep(index) {
            guard trackers[index].queue.inFlight == 0, let next = startable(index, at: now),
                let requests = start(next, of: index, at: now)
            else { continue }
            started.append(requests)
        }
        return started
    }

    private mutating func start(
        _ startable: SegmentQueue.Startable, of index: Int, at now: Duration
    ) -> SegmentRequests? {
        let byteLimit = byteLimit(of: startable, in: trackers[index])
        let role = trackers[index].role
        let isHeld = !startable.isHead && !role.isSubtitles
        let started = trackers[index].queue.start(
            startable, as: nextID, byteLimit: isHeld ? byteLimit : nil, at: now)
        guard let (requests, timeouts) = started else { return nil }
        fetch(requests.media, for: .segment(role, requests.media), timeouts: timeouts, byteLimit: byteLimit, at: now)
        return requests
    }

    /// The largest body of a segment; nil: the configured one. If another segment is delivered before it, the body would
    /// be held: then it is smaller, and a larger one is fetched again when it comes next.
    private func byteLimit(of startable: SegmentQueue.Startable, in tracker: RenditionTracker) -> Int? {
        let largest = policy.limits.headBytes(of: tracker.role)
        if tracker.role.isSubtitles { return largest }
        guard startable.isHead else { return min(largest, heldLimit(of: tracker), roomAhead) }
        return tracker.role == .main ? nil : largest
    }

    /// The largest body that is held: an equal part of the room, or twice the size of the last ones.
    private func heldLimit(of tracker: RenditionTracker) -> Int {
        max(policy.limits.aheadBytes / max(1, policy.maxInFlight - 1), tracker.queue.recentSize * 2)
    }

    /// The bytes that may still be fetched ahead of the segments to deliver next.
    private var roomAhead: Int {
        trackers.reduce(policy.limits.aheadBytes - delivering.byteCount) { room, tracker in
            tracker.role.isSubtitles ? room : room - tracker.queue.heldBytes - tracker.queue.reservedBytes
        }
    }

    private func admission(at now: Duration) -> FetchAdmission {
        FetchAdmission(limiter: limiter, pacing: pacing, now: now)
    }

    private func startable(_ index: Int, at now: Duration) -> SegmentQueue.Startable? {
        trackers[index].queue.startable(admission(at: now), isFinished: trackers[index].cursor.hasEnded)
    }

    /// Starts a second request for each segment that is late and that nothing can be delivered before.
    ///
    /// The first one to end cancels the other. A request that hangs costs no more than that of another connection.
    mutating func raceLateSegments(at now: Duration) {
        for index in trackers.indices where !trackers[index].role.isSubtitles {
            guard let request = trackers[index].queue.lateHead(before: now - transferTimes.lateAfter),
                admission(at: now).admits(request.url)
            else { continue }
            // Without room for a body as large as the last ones, the first request has to do.
            let byteLimit = min(policy.limits.headBytes(of: trackers[index].role), roomAhead)
            guard byteLimit > 0, byteLimit >= trackers[index].queue.recentSize else { continue }
            let target = FetchTarget.segment(trackers[index].role, request)
            trackers[index].queue.raceHead(as: nextID, byteLimit: byteLimit)
            fetch(request, for: target, timeouts: 0, isRace: true, byteLimit: byteLimit, at: now)
        }
    }

    /// Starts a key or map of a segment that was just started, if it is not there yet and the host's limit permits.
    private mutating func start(_ resource: FetchRequest, at now: Duration) {
        cache.request(resource, at: now)
        let started = startDueResource(at: now) { $0 == resource }
        if let started { fetchResource(started, at: now) }
    }

    private mutating func startDueResource(
        at now: Duration, where isWanted: (FetchRequest) -> Bool
    ) -> FetchRequest? {
        let admission = admission(at: now)
        return cache.start(as: nextID, at: now) { isWanted($0) && admission.admits($0.url) }
    }

    private mutating func fetchResource(_ request: FetchRequest, at now: Duration) {
        let timeouts = cache.retrySchedule(of: request)?.timeouts ?? 0
        fetch(request, for: .resource(request), timeouts: timeouts, at: now)
    }
}

// MARK: - Choice of the next segment

extension UpstreamSession {
    /// The largest lead of a rendition over another one, in target durations.
    private static let lead = 2
    /// The same for subtitles, which begin before the video and so have more of their playlist at the same moment.
    private static let subtitleLead = 16

    private func nextStart(at now: Duration) -> (index: Int, startable: SegmentQueue.Startable)? {
        let media = trackers.indices.filter { !trackers[$0].role.isSubtitles && mayStart($0) }
        let candidates = media.filter(isInStep).compactMap { index in
            startable(index, at: now).map { (index: index, startable: $0) }
        }
        let (hasRoom, room) = (expectedBytes < policy.limits.aheadBytes, roomAhead)
        let mayStartHead = delivering.byteCount == 0 || room >= 0
        return candidates.filter { candidate in
            candidate.startable.isHead
                ? mayStartHead : hasRoom && room > trackers[candidate.index].queue.recentSize
        }.min {
            trackers[$0.index].queue.startedDuration < trackers[$1.index].queue.startedDuration
        }
    }

    /// Whether the main rendition was joined, which all others belong to.
    private func mayStart(_ index: Int) -> Bool {
        guard let main = trackers.first, index > 0 else { return true }
        return main.cursor.next != nil || main.cursor.hasEnded
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
    mutating func settleSegment(_ role: RenditionRole, _ request: FetchRequest, _ answer: Answer, at now: Duration) {
        guard let index = index(of: role),
            let (settlement, superseded) = trackers[index].queue.settle(answer.id, request, answer.outcome, at: now)
        else { return }
        cancel(superseded)
        switch settlement {
        case .fetched: recordSuccess(of: request, took: answer.took, at: now)
        case .postponed: trackers[index].counts.postponedSegments += 1
        case .failed(let attempt):
            trackers[index].counts.failedTries += 1
            if role == .main { mediaStall.recordFailure(attempt.failure.lossReason) }
            reportFailure(attempt, of: request, at: now)
            let isCounted = attempt.failure.prospect != .hostLimited && !role.isSubtitles
            if isCounted, attempt.failures % Self.failuresPerVariant == 0 { tryRedundantVariant(at: now) }
        }
    }

    /// Failed attempts for one segment after which another redundant variant is tried (RFC 8216 §4.3.4.2).
    private static let failuresPerVariant = 4

    mutating func settleResource(_ request: FetchRequest, _ answer: Answer, at now: Duration) {
        if let attempt = cache.settle(answer.id, answer.outcome, at: now) {
            failedResourceTries += 1
            mediaStall.recordFailure(request.lossReason(attempt.failure))
            reportFailure(attempt, of: request, at: now)
        } else {
            recordSuccess(of: request, took: answer.took, at: now)
            if request.purpose == .key { report(.keyFetched(url: request.url)) }
        }
    }

    /// Retries at once what failed on the host that has answered.
    private mutating func recordSuccess(of request: FetchRequest, took duration: Duration, at now: Duration) {
        transferTimes.append(duration)
        pacing.succeeded(request.url)
        let host = URIReference.host(of: request.url)
        for index in trackers.indices { trackers[index].queue.retryEarly(on: host, at: now) }
        cache.retryEarly(on: host, at: now)
    }

    private mutating func reportFailure(_ attempt: FailedAttempt, of request: FetchRequest, at now: Duration) {
        count(FetchFault(attempt.failure))
        let prospect = attempt.failure.prospect
        if prospect == .open || prospect == .newURL { pacing.failed(request.url, at: now) }
        // A limited host was reported when its limit began. Of many failures fewer and fewer are reported.
        let isReported = attempt.failures.nonzeroBitCount == 1 && prospect != .hostLimited
        if isReported || attempt.isLast {
            report(.fetchFailed(request, attempt.failure, failures: attempt.failures, isLast: attempt.isLast))
        }
        // A URL that stays refused is asked for less and less often.
        if prospect == .newURL, attempt.failures.nonzeroBitCount == 1 { requestFreshURLs(at: now) }
    }
}
