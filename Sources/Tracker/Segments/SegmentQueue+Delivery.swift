import Fetch
import Playlist

// Removes what is ready from the head of the queue.

extension SegmentQueue {
    enum Ready {
        case segment(TrackedSegment)
        case lost(SegmentLoss)
    }

    /// The keys and maps that the head needs, once its body was fetched.
    var headResources: [FetchRequest] {
        guard let headSegment, case .fetched = headSegment.progress else { return [] }
        return headSegment.requests.resources
    }

    /// Removes and returns the next segment or loss, if it is ready.
    mutating func popReady(_ cache: ResourceCache) -> Ready? {
        while head < entries.count {
            switch entries[head] {
            case .discontinuity:
                skipped.recordDiscontinuity()
                pop()
            case .loss(let loss, let segments):
                skipped.recordLoss(of: segments)
                pop()
                return .lost(loss)
            case .segment(let pending): return popReady(pending, cache)
            }
        }
        return nil
    }

    private mutating func popReady(_ pending: PendingSegment, _ cache: ResourceCache) -> Ready? {
        switch pending.progress {
        case .waiting, .fetching, .pausing: return nil
        case .failed: return .lost(lose(pending, .permanent, cache))
        case .fetched(let body, let url):
            if pending.requests.resources.contains(where: { cache.isPermanentFailure($0) }) {
                return .lost(lose(pending, .permanent, cache))
            }
            guard cache.holds(pending.requests.resources) else { return nil }
            let segment = tracked(pending, body: body, url: url, cache)
            skipped = SkippedSegments()
            pop()
            return .segment(segment)
        }
    }

    private func tracked(
        _ pending: PendingSegment, body: [UInt8], url: String, _ cache: ResourceCache
    ) -> TrackedSegment {
        let requests = pending.requests
        return TrackedSegment(
            segment: pending.segment, url: url, body: body,
            key: cache.body(of: requests.key), keyURL: requests.key?.url, map: cache.body(of: requests.map),
            mapKey: cache.body(of: requests.mapKey), mapKeyURL: requests.mapKey?.url,
            isAfterDiscontinuity: skipped.isAfterDiscontinuity, listedAt: pending.listedAt,
            skippedSegments: skipped.segments,
            listedDateRanges: skipped.listedDateRanges + pending.listedDateRanges)
    }

    private mutating func pop() {
        if case .segment(let pending) = entries[head], case .fetched(let body, _) = pending.progress {
            heldBytes -= body.count
        }
        otherDeliveredAt = nil
        entries[head] = .discontinuity  // frees the body
        head += 1
        guard head == entries.count || head >= 64 && head * 2 > entries.count else { return }
        entries.removeFirst(head)
        startedEnd = max(0, startedEnd - head)
        head = 0
    }
}

// MARK: - Loss

extension SegmentQueue {
    /// Records which segments could be delivered, but for the head.
    mutating func updateReadiness(_ cache: ResourceCache, at now: Duration) {
        for index in started.indices.dropFirst() {
            guard case .segment(var pending) = entries[index], pending.readyAt == nil,
                case .fetched = pending.progress, cache.holds(pending.requests.resources)
            else { continue }
            pending.readyAt = now
            entries[index] = .segment(pending)
        }
    }

    /// Records that another rendition delivered media at `now`, which waits for the head if that fails.
    mutating func otherDelivered(_ cache: ResourceCache, at now: Duration) {
        if patienceHead(cache)?.firstFailureAt != nil { otherDeliveredAt = otherDeliveredAt ?? now }
    }

    /// What is known about the segment to deliver next; nil if there is none.
    func patienceHead(_ cache: ResourceCache) -> SegmentPatience.Head? {
        guard let pending = headSegment else { return nil }
        let schedule = pending.failing(cache)
        return SegmentPatience.Head(
            duration: pending.segment.duration, listedAt: pending.listedAt, heldSince: heldSince(by: pending),
            firstFailureAt: schedule.firstFailureAt, isRefused: schedule.isRefused, retryAfter: schedule.retryAfter,
            removedAt: pending.removedAt)
    }

    /// Since when the head holds up media; nil if it holds up nothing, or could not be fetched yet.
    private func heldSince(by pending: PendingSegment) -> Duration? {
        let held = (startedSegments.dropFirst().compactMap(\.readyAt) + [otherDeliveredAt].compactMap { $0 }).min()
        guard let held, pending.waitsForHead else { return held }
        return pending.headStartedAt.map { max($0, held) }
    }

    /// Ends the attempts for the head with the short body that it has, if any. Returns whether it has one.
    mutating func acceptHeldBody() -> Bool {
        guard var pending = headSegment else { return false }
        let requestCount = headRequests.count
        guard pending.acceptHeldBody() else { return false }
        entries[head] = .segment(pending)
        inFlight -= requestCount
        if case .fetched(let body, _) = pending.progress { recordBody(byteCount: body.count) }
        return true
    }

    /// The requests in flight for the head.
    var headRequests: [FetchID] { headSegment?.attempt?.ids ?? [] }

    /// Removes the head, which is not waited for any longer. Returns the loss; nil if the head is no segment.
    mutating func loseHead(_ cause: SegmentLoss.Cause, _ cache: ResourceCache) -> SegmentLoss? {
        headSegment.map { lose($0, cause, cache) }
    }

    /// Removes `pending`, which is the head. Returns the loss.
    private mutating func lose(
        _ pending: PendingSegment, _ cause: SegmentLoss.Cause, _ cache: ResourceCache
    ) -> SegmentLoss {
        let number = pending.segment.mediaSequence
        inFlight -= headRequests.count
        addLost(pending.segment.duration, cause)
        skipped.recordLoss(of: [pending.segment], listedDateRanges: pending.listedDateRanges)
        pop()
        return SegmentLoss(mediaSequences: number..<number + 1, reason: pending.lossReason(cache), cause: cause)
    }
}

extension PendingSegment {
    /// The attempts for the media or, once it was fetched, for the first key or map that is missing.
    fileprivate func failing(_ cache: ResourceCache) -> RetrySchedule {
        guard case .fetched = progress else { return retrySchedule }
        return requests.resources.lazy.compactMap { cache.retrySchedule(of: $0) }.first { $0.failures > 0 }
            ?? RetrySchedule(seed: 0)
    }

    fileprivate func lossReason(_ cache: ResourceCache) -> SegmentLoss.Reason {
        guard case .fetched = progress, let missing = requests.resources.first(where: { !cache.holds([$0]) }) else {
            return retrySchedule.lastFailure?.lossReason ?? .unavailable(nil)
        }
        return missing.lossReason(cache.retrySchedule(of: missing)?.lastFailure)
    }
}
