import Playlist

// Delivers what is ready, in playlist order, and ends the renditions.

extension UpstreamSession {
    /// Delivers, for each rendition, what is ready before the first segment that is waited for.
    mutating func deliver(at now: Duration) {
        let isHeld = holdsForSubtitles(at: now)
        for index in trackers.indices where trackers[index].role.isSubtitles || !isHeld {
            while let ready = nextReady(index, at: now) {
                let role = trackers[index].role
                switch ready {
                case .segment(let segment):
                    delivering.append(segment, of: role)
                    deliver(.segment(segment), of: role)
                    if role == .main { mainDelivered(at: now) }
                case .lost(let loss):
                    report(.lost(role, loss))
                    if role == .main { mediaStall.recordFailure(loss.reason) }
                    deliver(.lost(loss), of: role)
                }
            }
        }
    }

    private mutating func holdsForSubtitles(at now: Duration) -> Bool {
        guard let main = trackers.first, !main.cursor.hasEnded, trackers.last?.role.isSubtitles == true else {
            return false
        }
        let awaitsSubtitles = trackers.contains { $0.role.isSubtitles && $0.isOnItsWay }
        return subtitleHold.holds(isBurst: main.queue.count > 1, awaitsSubtitles: awaitsSubtitles, at: now)
    }

    /// Records that media was delivered that waits for its audio and subtitles.
    private mutating func mainDelivered(at now: Duration) {
        for index in trackers.indices.dropFirst() { trackers[index].queue.otherDelivered(cache, at: now) }
    }

    /// Returns what is ready next, after requesting the keys and maps that it waits for.
    private mutating func nextReady(_ index: Int, at now: Duration) -> SegmentQueue.Ready? {
        for resource in trackers[index].queue.headResources { cache.request(resource, at: now) }
        trackers[index].queue.updateReadiness(cache, at: now)
        if let ready = trackers[index].popReady(cache) { return ready }
        guard let loss = nextLoss(of: index), loss.at <= now else { return nil }
        for id in trackers[index].queue.headRequests { cancel(id) }
        if trackers[index].queue.acceptHeldBody() { return trackers[index].popReady(cache) }
        return trackers[index].loseHead(loss.cause, cache).map { .lost($0) }
    }

    /// When the next segment of a rendition is lost, unless it arrives before.
    func nextLoss(of index: Int) -> SegmentPatience.Loss? {
        // Once the video has ended, nothing of the others falls behind, and they must not keep the session for ever.
        let isFinished = trackers[index].cursor.hasEnded || trackers[0].cursor.hasEnded && trackers[0].queue.isEmpty
        let patience = trackers[index].patience(policy.patience, isFinished: isFinished)
        return trackers[index].queue.patienceHead(cache).flatMap { patience.loss(of: $0) }
    }

    /// Delivers the ends of renditions that are drained, and ends the session after the last one.
    ///
    /// A companion that does not end with the main rendition is waited for until its outage.
    mutating func endIfDrained(at now: Duration) {
        guard state == .following else { return }
        let mainIsDrained = trackers.first?.isDrained(at: now) ?? false
        for index in trackers.indices where !trackers[index].hasDeliveredEnd {
            let isAbandoned = mainIsDrained && trackers[index].isSilent
            guard trackers[index].isDrained(at: now) || isAbandoned else { continue }
            trackers[index].hasDeliveredEnd = true
            deliver(.ended(dateRanges: trackers[index].dateRangesAtEnd), of: trackers[index].role)
        }
        if trackers.allSatisfy(\.hasDeliveredEnd) { finish(.drained) }
    }
}

extension RenditionTracker {
    /// Whether the queue is empty and the playlist is in an outage, or was never joined.
    fileprivate var isSilent: Bool {
        guard queue.isEmpty else { return false }
        switch stallEscalation.state {
        case .idle: return true
        case .expecting(_, let step): return step.map { $0 >= .outage } ?? false
        }
    }
}
