import Playlist

// What a session does when nothing of what it lists can be published.

extension UpstreamSession {
    /// A list was read.
    mutating func noteListed(_ main: RenditionTracker, at now: Duration) {
        guard policy.fetchesMedia else { return }
        if main.cursor.hasEnded { return media.stop() }
        if !main.queue.isEmpty { media.listed(targetDuration: main.assumedTargetDuration, at: now) }
    }

    /// A segment was handed downstream. Sound that cannot be used is replaced with silence.
    mutating func received(_ delivery: Delivery, _ reception: Reception, at now: Duration) {
        guard let main = trackers.first, delivery.rendition == .main || reception == .published else { return }
        let silence = media.received(
            reception, owesMore: !main.queue.isEmpty, targetDuration: main.assumedTargetDuration, at: now)
        if main.cursor.hasEnded { media.stop() }
        if let silence { report(.mediaResumed(silence: silence)) }
    }

    mutating func climbMediaLadder(at now: Duration) {
        for step in media.climb(at: now) {
            // What can be read is at the right address.
            let seeksAddress = step == .redundantVariant || step == .rereadMultivariant
            let silence = media.silence(at: now)
            guard step != .late, !(seeksAddress && media.isReadable), take(step, at: now) else { continue }
            report(.mediaStalled(step, silence: silence, media.trouble))
            guard step == .giveUp else { continue }
            let reason = TrackerError.Reason.nothingUsable(for: silence, media.trouble)
            return finish(.gaveUp(TrackerError(reason, url: trackers.first?.address ?? book.upstream)))
        }
    }
}
