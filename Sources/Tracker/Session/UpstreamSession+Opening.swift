import Fetch
import Playlist

// Opens the upstream: one media playlist, or a multivariant playlist with a choice of them.

extension UpstreamSession {
    /// The state until the first media playlist is read. Failures end the session after a few attempts.
    struct Opening: Equatable, Sendable {
        /// nil until the first request is admitted.
        var deadline: Duration?
        /// The time at which the upstream's URL is fetched first, or again; nil while it is not due.
        var retryAt: Duration?
        let began: Duration
        var backoff = Backoff()
        var failures = FailureReport()
    }

    mutating func open(at now: Duration) {
        guard state == .idle else { return }
        state = .opening(Opening(retryAt: now, began: now))
    }

    mutating func startOpening(at now: Duration) {
        guard case .opening(var opening) = state, let retryAt = opening.retryAt, retryAt <= now,
            limiter.admits(locator.upstream, at: now)
        else { return }
        opening.retryAt = nil
        opening.deadline = opening.deadline ?? now + policy.openingLimit
        state = .opening(opening)
        fetch(FetchRequest(.multivariantPlaylist, url: locator.upstream), for: .opening, at: now)
    }

    mutating func settleOpening(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) {
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: locator.upstream)
            switch document {
            case .media(let playlist):
                var main = makeTracker(.main, locator.upstream, at: now)
                main.beganLoad(as: id, at: now)
                trackers = [main]
                try follow(0, playlist, base, outcome.cacheFreshness, at: now)
            case .multivariant(let playlist):
                try makeTrackers(locator.update(from: playlist, base: base), at: now)
                reportVariant()
                recordIrregularities(of: playlist)
            }
        } catch {
            count(FetchFault(error))
            openingFailed(error, retryAfter: outcome.retryAfter, at: now)
        }
    }

    private mutating func makeTrackers(_ urls: PlaylistLocator.URLs, at now: Duration) {
        trackers = [makeTracker(.main, urls.main, at: now)]
        if let audio = urls.audio { trackers.append(makeTracker(.audio, audio, at: now)) }
        for (index, url) in urls.subtitles.enumerated() {
            if let url { trackers.append(makeTracker(.subtitles(index), url, at: now)) }
        }
    }

    private func makeTracker(_ role: RenditionRole, _ url: String, at now: Duration) -> RenditionTracker {
        RenditionTracker(
            role, url: url, giveUp: policy.giveUp, joinPoint: policy.joinPoint, polling: policy.effectivePolling,
            startDate: policy.startDate, seed: policy.seed, at: now)
    }

    /// Schedules the next attempt, or ends the session.
    ///
    /// A delay that the answer asks for extends the time limit, because such an upstream is available.
    mutating func openingFailed(_ error: TrackerError, retryAfter: Duration?, at now: Duration) {
        guard case .opening(var opening) = state else { return finish(.failed(error)) }
        let isNew = opening.failures.record(error)
        let pause = min(retryAfter ?? .zero, HostLimiter.longestPause)
        opening.deadline = opening.deadline.map { $0 + pause }
        let retryAt = now + max(pause, opening.backoff.next())
        if error.isFinal || opening.backoff.failures >= policy.openingTries { return finish(.failed(error)) }
        if let main = index(of: .main) {
            report(trackers[main].loadFailed(error, at: now, retry: retryAt))
        } else {
            opening.retryAt = retryAt
            if isNew { report(.playlistFailed(.main, error)) }
        }
        state = .opening(opening)
    }
}
