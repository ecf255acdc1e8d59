import Fetch
import Playlist

// Loads the media playlists and reads what is new in them.

extension UpstreamSession {
    /// Starts the loads that are due: of the upstream's URL, of media playlists, of the multivariant playlist.
    mutating func startPlaylists(at now: Duration) {
        startOpening(at: now)
        for index in trackers.indices where limiter.admits(trackers[index].url, at: now) {
            guard let request = trackers[index].startLoad(as: nextID, at: now) else { continue }
            let role = trackers[index].role
            fetch(request, for: .playlist(role), byteLimit: policy.limits.playlistBytes(of: role), at: now)
        }
        guard limiter.admits(locator.upstream, at: now), let request = locator.startReload(as: nextID, at: now) else {
            return
        }
        fetch(request, for: .multivariantReload, at: now)
    }

    mutating func settlePlaylist(_ role: RenditionRole, _ outcome: FetchOutcome, at now: Duration) {
        guard let index = index(of: role) else { return }
        let url = trackers[index].url
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: url, variables: locator.variables)
            guard case .media(let playlist) = document else { throw TrackerError(.unexpectedPlaylistKind, url: url) }
            let hadFailed = trackers[index].load.failures.last != nil
            try follow(index, playlist, base, outcome.cacheFreshness, at: now)
            trackers[index].load.postpone(until: now + outcome.loadInterval)
            if hadFailed, role == .main { hastenFailedLoads(at: now) }
        } catch {
            count(FetchFault(error))
            playlistFailed(index, error, retryAfter: outcome.retryAfter, at: now)
        }
    }

    /// Loads the other playlists that failed as soon as possible, because the upstream answers again.
    private mutating func hastenFailedLoads(at now: Duration) {
        for index in trackers.indices where trackers[index].load.failures.last != nil {
            trackers[index].load.hasten(at: now)
        }
    }

    mutating func follow(
        _ index: Int, _ playlist: MediaPlaylist, _ base: String, _ freshness: CacheFreshness, at now: Duration
    ) throws(TrackerError) {
        trackers[index].queueLimit = queueLimit(of: trackers[index])
        let events = try trackers[index].accept(playlist, base: base, freshness, cache, at: now)
        for event in events { report(event) }
        guard trackers[index].role == .main else { return }
        if case .opening = state { state = .following }
        expectMedia(of: trackers[index], at: now)
        if trackers[index].stallEscalation.silence(at: now) == .zero, !isInOutage { locator.resetBackoff() }
    }

    private func queueLimit(of tracker: RenditionTracker) -> Int {
        let media = trackers.filter { !$0.role.isSubtitles }
        let isJoined = trackers.first?.cursor.next != nil || trackers.first?.cursor.hasEnded == true
        return policy.limits.queuedSegments(
            of: tracker.role, queued: isJoined ? media.reduce(0) { $0 + $1.queue.count } : nil,
            companions: max(0, media.count - 1), subtitles: trackers.count - media.count)
    }

    /// Records a failed load. Once opened, it counts as an unchanged playlist that is loaded again soon.
    ///
    /// A playlist with unsupported protection ends the session.
    private mutating func playlistFailed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration? = nil, at now: Duration
    ) {
        if trackers[index].role.isSubtitles { return subtitlesFailed(index, error, retryAfter: retryAfter, at: now) }
        if case .unsupportedProtection = error.reason { return finish(.failed(error)) }
        if case .opening = state, trackers[index].role == .main {
            return openingFailed(error, retryAfter: retryAfter, at: now)
        }
        // A playlist that has ended needs no further answer.
        if trackers[index].cursor.hasEnded { return trackers[index].load.close() }
        report(trackers[index].loadFailed(error, retryAfter: retryAfter, at: now))
        if error.mayBeFixedByNewURL { locator.requestReload(at: now) }
    }

    /// Records a failed load of subtitles, which never ends the channel and requests new URLs only once per failure.
    private mutating func subtitlesFailed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration?, at now: Duration
    ) {
        if error.mayBeFixedByNewURL, trackers[index].load.failures.isNew(error) { locator.requestReload(at: now) }
        report(trackers[index].loadFailed(error, retryAfter: retryAfter, at: now))
    }
}

// MARK: - Timeouts

extension UpstreamSession {
    /// The time at which a playlist without segments ends the session.
    var noSegmentsDeadline: Duration? {
        guard let main = trackers.first, main.cursor.next == nil, !main.cursor.hasEnded else { return nil }
        return main.firstPlaylistAt.map { $0 + policy.noSegmentsLimit }
    }

    mutating func checkTimeouts(at now: Duration) {
        if case .opening(let opening) = state, let deadline = opening.deadline, deadline <= now {
            let error = opening.failures.last ?? TrackerError(.openingTimedOut, url: locator.upstream)
            return finish(.failed(error))
        }
        if let deadline = noSegmentsDeadline, deadline <= now, let main = trackers.first {
            let error = TrackerError(.noSegments(for: policy.noSegmentsLimit), url: main.url, section: "4.3.2")
            return finish(.failed(error))
        }
        for index in trackers.indices {
            guard let timeout = trackers[index].load.timeout, timeout <= now else { continue }
            cancel(trackers[index].load.abandon(at: now))
            let error = TrackerError(.unreachable(.timedOut), url: trackers[index].url)
            count(FetchFault(error))
            playlistFailed(index, error, at: now)
        }
    }

    mutating func endHostLimits(at now: Duration) {
        for change in limiter.endExpiredLimits(at: now) { report(UpstreamEvent(change)) }
    }
}
