import Playlist

// Removes what is ready from the head of the queue.

extension SegmentQueue {
    enum Ready {
        case segment(TrackedSegment)
        case lost(SegmentLoss)
    }

    /// The keys and maps that the head needs, once its body was fetched.
    var headResources: [FetchRequest] {
        guard head < entries.count, case .segment(let pending) = entries[head] else { return [] }
        if case .fetched = pending.progress { return pending.requests.resources }
        return []
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
        guard let ready = ready(pending, cache) else { return nil }
        if case .fetched(let body, _) = pending.progress { heldBytes -= body.count }
        switch ready {
        case .segment: skipped = SkippedSegments()
        case .lost: skipped.recordLoss(of: [pending.segment], listedDateRanges: pending.listedDateRanges)
        }
        pop()
        return ready
    }

    /// Returns the result for a segment; nil as long as it or one of its resources is pending.
    private func ready(_ pending: PendingSegment, _ cache: ResourceCache) -> Ready? {
        let number = pending.segment.mediaSequence
        func lost(_ reason: SegmentLoss.Reason) -> Ready {
            .lost(SegmentLoss(mediaSequences: number..<number + 1, reason: reason))
        }
        switch pending.progress {
        case .waiting, .fetching, .pausing: return nil
        case .failed(let failure): return lost(failure.lossReason)
        case .fetched(let body, let url):
            for request in pending.requests.resources {
                switch cache.state(of: request) {
                case .held: continue
                case .absent, .pending: return nil
                case .failed(let failure): return lost(request.lossReason(failure))
                }
            }
            return .segment(tracked(pending, body: body, url: url, cache))
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
        entries[head] = .discontinuity  // frees the body
        head += 1
        guard head == entries.count || head >= 64 && head * 2 > entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }
}
