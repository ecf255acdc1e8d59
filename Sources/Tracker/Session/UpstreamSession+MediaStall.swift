import Playlist

// What a session does when nothing of what it lists can be published.

extension UpstreamSession {
    /// A list was read.
    mutating func recordListed(_ main: RenditionTracker, at now: Duration) {
        guard policy.fetchesMedia else { return }
        if main.cursor.hasEnded { return mediaStall.stop() }
        if !main.queue.isEmpty { mediaStall.expectMedia(targetDuration: main.assumedTargetDuration, at: now) }
    }

    /// A segment was handed downstream. Sound that cannot be used is replaced with silence.
    mutating func recordOutcome(_ delivery: Delivery, _ reception: DeliveryOutcome, at now: Duration) {
        guard let main = trackers.first, delivery.rendition == .main || reception == .published else { return }
        let silence = mediaStall.recordOutcome(
            reception, hasPending: !main.queue.isEmpty, targetDuration: main.assumedTargetDuration, at: now)
        if main.cursor.hasEnded { mediaStall.stop() }
        if let silence { report(.mediaResumed(silence: silence)) }
    }

    mutating func escalateMediaStall(at now: Duration) {
        for step in mediaStall.climb(at: now) {
            // What can be read is at the right address.
            let seeksAddress = step == .redundantVariant || step == .reloadMultivariant
            let silence = mediaStall.silence(at: now)
            guard step != .late, !(seeksAddress && mediaStall.isReadable), perform(step, at: now) else { continue }
            report(.mediaStalled(step, silence: silence, mediaStall.reason))
            guard step == .giveUp else { continue }
            let reason = TrackerError.Reason.nothingUsable(for: silence, mediaStall.reason)
            return finish(.gaveUp(TrackerError(reason, url: trackers.first?.url ?? locator.upstream)))
        }
    }
}
