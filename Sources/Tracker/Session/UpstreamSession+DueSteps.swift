import Fetch

// What a session does in each step, whatever the input was, and when it has to be woken.

extension UpstreamSession {
    /// A part of a step. Any part may end the session, after which no other one is performed.
    enum DueStep {
        case endHostLimits, checkTimeouts, escalatePlaylistStalls, escalateMediaStall, startPlaylists
        case deliver, startResources, startSegments, raceLateSegments, endIfDrained
        case discardMedia

        /// The first parts of every step, in order.
        static let playlistSteps: [DueStep] = [
            .endHostLimits, .checkTimeouts, .escalatePlaylistStalls, .escalateMediaStall, .startPlaylists,
        ]
        /// The parts that follow, in order.
        ///
        /// Delivered segments make room for new ones. Resources precede new segments, because fetched segments may wait
        /// for them. New segments start with their own resources.
        static let mediaSteps: [DueStep] = [
            .deliver, .startResources, .startSegments, .raceLateSegments, .endIfDrained,
        ]
        /// The part that follows if only the playlists are followed.
        static let playlistOnlySteps: [DueStep] = [.discardMedia]

        var requestsMedia: Bool { [.startResources, .startSegments, .raceLateSegments].contains(self) }
    }

    /// Performs everything that is due by `now`.
    mutating func performDue(at now: Duration) {
        let steps = DueStep.playlistSteps + (policy.fetchesMedia ? DueStep.mediaSteps : DueStep.playlistOnlySteps)
        for step in steps where state != .over && !(isMediaPaused && step.requestsMedia) { perform(step, at: now) }
    }

    private mutating func perform(_ step: DueStep, at now: Duration) {
        switch step {
        case .endHostLimits: endHostLimits(at: now)
        case .checkTimeouts: checkTimeouts(at: now)
        case .escalatePlaylistStalls: escalatePlaylistStalls(at: now)
        case .escalateMediaStall: escalateMediaStall(at: now)
        case .startPlaylists: startPlaylists(at: now)
        case .deliver: deliver(at: now)
        case .startResources: startResources(at: now)
        case .startSegments: startSegments(at: now)
        case .raceLateSegments: raceLateSegments(at: now)
        case .endIfDrained: endIfDrained(at: now)
        case .discardMedia: discardMedia()
        }
    }

    /// The times at which something will be due.
    func deadlines(after now: Duration) -> [Duration?] {
        var deadlines = trackers.map { $0.nextDeadline(after: now) }
        deadlines += trackers.indices.map { nextLoss(of: $0)?.at }
        deadlines += trackers.map { $0.queue.headStartedAt.map { $0 + transferTimes.lateAfter } }
        deadlines += [locator.nextDeadline, cache.nextDeadline, noSegmentsDeadline, subtitleHold.deadline]
        deadlines += [limiter.nextDeadline(after: now), pacing.nextDeadline(after: now), mediaStall.nextDeadline]
        if case .opening(let opening) = state { deadlines += [opening.deadline, opening.retryAt] }
        return deadlines
    }

    /// Drops what is listed, because only the playlists are followed.
    private mutating func discardMedia() {
        for index in trackers.indices where !trackers[index].queue.isEmpty { trackers[index].queue = SegmentQueue() }
    }
}
