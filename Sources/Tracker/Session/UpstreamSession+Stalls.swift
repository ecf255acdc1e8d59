import Playlist

// What a session does while nothing new is listed, or nothing of what is listed can be published.

extension UpstreamSession {
    /// The last step taken for the silence of the main playlist; nil while it is on time or nothing is expected of it.
    var mainStall: StallEscalation.Step? { trackers.first?.stallEscalation.lastStep }

    /// Whether the main playlist or its media has been silent up to the last step before giving up.
    var isInOutage: Bool { [mainStall, mediaStall.lastStep].contains { $0.map { $0 >= .outage } ?? false } }

    mutating func escalatePlaylistStalls(at now: Duration) {
        for index in trackers.indices {
            for step in trackers[index].stallEscalation.escalate(at: now) {
                let role = trackers[index].role
                let silence = trackers[index].stallEscalation.silence(at: now)
                guard role == .main || step != .redundantVariant, perform(step, at: now) else { continue }
                report(.stalled(role, step, silence: silence))
                guard step == .giveUp else { continue }
                return finish(.gaveUp(TrackerError(.silent(for: silence), url: trackers[index].url)))
            }
        }
    }

    mutating func escalateMediaStall(at now: Duration) {
        for step in mediaStall.escalate(at: now) {
            // Segments that can be read come from the right URL.
            let needsNewURL = step == .redundantVariant || step == .reloadMultivariant
            let silence = mediaStall.silence(at: now)
            guard step != .late, !(needsNewURL && mediaStall.isReadable), perform(step, at: now) else { continue }
            report(.mediaStalled(step, silence: silence, mediaStall.reason))
            guard step == .giveUp else { continue }
            let reason = TrackerError.Reason.nothingUsable(for: silence, mediaStall.reason)
            return finish(.gaveUp(TrackerError(reason, url: trackers.first?.url ?? locator.upstream)))
        }
    }

    /// Performs a step of an escalation, except giving up. Returns false if the upstream has no means for it.
    private mutating func perform(_ step: StallEscalation.Step, at now: Duration) -> Bool {
        switch step {
        case .late, .giveUp: return true
        case .redundantVariant: return tryRedundantVariant(at: now)
        case .reloadMultivariant:
            guard locator.hasMultivariant else { return false }
            locator.requestReload(at: now)
        case .outage: locator.requestReload(at: now)
        }
        return true
    }
}

extension UpstreamSession {
    /// Moves to the next redundant variant. Returns false if the upstream has none.
    @discardableResult
    mutating func tryRedundantVariant(at now: Duration) -> Bool {
        guard let urls = locator.selectNextRedundantVariant() else { return false }
        move(to: urls, at: now)
        return true
    }
}

// MARK: - Media

extension UpstreamSession {
    /// Starts to wait for a publication after a playlist was read.
    mutating func expectMedia(of main: RenditionTracker, at now: Duration) {
        guard policy.fetchesMedia else { return }
        if main.cursor.hasEnded { return mediaStall.stop() }
        if !main.queue.isEmpty { mediaStall.expectMedia(targetDuration: main.assumedTargetDuration, at: now) }
    }

    /// Records the outcome of a delivery. A refused audio segment does not count, because silence replaces it.
    mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        delivering.remove(delivery)
        guard let main = trackers.first, delivery.rendition == .main || outcome == .published else { return }
        let silence = mediaStall.recordOutcome(
            outcome, hasPending: !main.queue.isEmpty, targetDuration: main.assumedTargetDuration, at: now)
        if main.cursor.hasEnded { mediaStall.stop() }
        if let silence { report(.mediaResumed(silence: silence)) }
    }
}
