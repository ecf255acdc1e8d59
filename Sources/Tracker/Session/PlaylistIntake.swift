import Playlist

/// Opens the upstream, loads the playlists of a session, and finds them again at other URLs.
struct PlaylistIntake: Sendable {
    private enum State: Equatable, Sendable {
        case idle
        case opening(Opening)
        case following
    }

    /// The state until the first media playlist is read. Failures end the session after a few attempts.
    private struct Opening: Equatable, Sendable {
        /// nil until the first request is admitted.
        var deadline: Duration?
        /// The time at which the upstream's URL is fetched first, or again; nil while it is not due.
        var retryAt: Duration?
        let began: Duration
        var backoff = Backoff()
        var failures = FailureReport()
    }

    private let policy: UpstreamSession.Policy
    private var state = State.idle
    private(set) var locator: PlaylistLocator
    /// Irregularities of the multivariant playlist.
    private var irregularityLog = IrregularityLog()

    init(upstream: String, policy: UpstreamSession.Policy) {
        self.policy = policy
        locator = PlaylistLocator(
            upstream: upstream, choice: policy.variant, maxSubtitles: policy.maxSubtitles,
            followsAudio: policy.followsAudio)
    }

    var isFollowing: Bool { state == .following }

    var phase: UpstreamStatus.Phase {
        switch state {
        case .idle: .idle
        case .opening: .opening
        case .following: .following
        }
    }

    /// Since when the upstream is being opened, and the last error, if there was one.
    var openingFailure: (error: TrackerError?, began: Duration)? {
        if case .opening(let opening) = state { (opening.failures.last, opening.began) } else { nil }
    }

    /// The times at which something will be due.
    func deadlines(_ renditions: [RenditionTracker]) -> [Duration?] {
        let deadlines = [locator.nextDeadline, noSegmentsDeadline(renditions)]
        guard case .opening(let opening) = state else { return deadlines }
        return deadlines + [opening.deadline, opening.retryAt]
    }

    mutating func open(at now: Duration) {
        if state == .idle { state = .opening(Opening(retryAt: now, began: now)) }
    }

    /// Starts the loads that are due: of the upstream's URL, of media playlists, of the multivariant playlist.
    mutating func start(
        _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests, at now: Duration
    ) {
        startOpening(&requests, at: now)
        for index in renditions.indices where requests.admits(renditions[index].url, at: now) {
            guard let request = renditions[index].startLoad(as: requests.nextID, at: now) else { continue }
            let role = renditions[index].role
            requests.start(request, for: .playlist(role), byteLimit: policy.limits.playlistBytes(of: role), at: now)
        }
        if requests.admits(locator.upstream, at: now), let request = locator.startReload(as: requests.nextID, at: now) {
            requests.start(request, for: .multivariantReload, at: now)
        }
    }
}

// MARK: - Opening

extension PlaylistIntake {
    private mutating func startOpening(_ requests: inout SessionRequests, at now: Duration) {
        guard case .opening(var opening) = state, let retryAt = opening.retryAt, retryAt <= now,
            requests.admits(locator.upstream, at: now)
        else { return }
        opening.retryAt = nil
        opening.deadline = opening.deadline ?? now + policy.openingLimit
        state = .opening(opening)
        requests.start(FetchRequest(.multivariantPlaylist, url: locator.upstream), for: .opening, at: now)
    }

    /// Reads the upstream's playlist: one media playlist, or a multivariant playlist with a choice of them.
    ///
    /// - Returns: whether it was the main media playlist.
    mutating func settleOpening(
        _ answer: SessionRequests.Answer, _ renditions: inout [RenditionTracker], _ cache: ResourceCache,
        _ requests: inout SessionRequests, at now: Duration
    ) -> Bool {
        do throws(TrackerError) {
            let (document, base) = try answer.outcome.playlist(from: locator.upstream)
            switch document {
            case .media(let playlist):
                var main = makeTracker(.main, locator.upstream, at: now)
                main.beganLoad(as: answer.id, at: now)
                renditions = [main]
                try follow(0, playlist, base, answer.outcome.cacheFreshness, &renditions, cache, &requests, at: now)
                return true
            case .multivariant(let playlist):
                let urls = try locator.update(from: playlist, base: base)
                renditions = makeTrackers(urls, at: now)
                reportVariant(&requests)
                recordIrregularities(of: playlist, &renditions, &requests)
            }
        } catch {
            requests.recordFault(FetchFault(error))
            openingFailed(error, retryAfter: answer.outcome.retryAfter, &renditions, &requests, at: now)
        }
        return false
    }

    private func makeTrackers(_ urls: PlaylistLocator.URLs, at now: Duration) -> [RenditionTracker] {
        let roles = [.main, .audio] + urls.subtitles.indices.map { RenditionRole.subtitles($0) }
        return roles.compactMap { role in urls[role].map { makeTracker(role, $0, at: now) } }
    }

    private func makeTracker(_ role: RenditionRole, _ url: String, at now: Duration) -> RenditionTracker {
        RenditionTracker(
            role, url: url, giveUp: policy.giveUp, joinPoint: policy.joinPoint, polling: policy.effectivePolling,
            startDate: policy.startDate, seed: policy.seed, at: now)
    }

    /// Schedules the next attempt, or ends the session.
    ///
    /// A delay that the answer asks for extends the time limit, because such an upstream is available.
    private mutating func openingFailed(
        _ error: TrackerError, retryAfter: Duration?, _ renditions: inout [RenditionTracker],
        _ requests: inout SessionRequests, at now: Duration
    ) {
        guard case .opening(var opening) = state else { return requests.finish(.failed(error)) }
        let isNew = opening.failures.record(error)
        let pause = min(retryAfter ?? .zero, HostLimiter.longestPause)
        opening.deadline = opening.deadline.map { $0 + pause }
        let retryAt = now + max(pause, opening.backoff.next())
        if error.isFinal || opening.backoff.failures >= policy.openingTries { return requests.finish(.failed(error)) }
        if renditions.isEmpty {
            opening.retryAt = retryAt
            if isNew { requests.report(.playlistFailed(.main, error)) }
        } else {
            requests.report(renditions[0].loadFailed(error, at: now, retry: retryAt))
        }
        state = .opening(opening)
    }
}

// MARK: - Media playlists

extension PlaylistIntake {
    /// Reads what is new in a media playlist.
    ///
    /// - Returns: whether the main playlist was read.
    mutating func settle(
        _ role: RenditionRole, _ answer: SessionRequests.Answer, _ renditions: inout [RenditionTracker],
        _ cache: ResourceCache, _ requests: inout SessionRequests, at now: Duration
    ) -> Bool {
        guard let index = renditions.firstIndex(where: { $0.role == role }) else { return false }
        let (url, outcome) = (renditions[index].url, answer.outcome)
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: url, variables: locator.variables)
            guard case .media(let playlist) = document else { throw TrackerError(.unexpectedPlaylistKind, url: url) }
            let hadFailed = renditions[index].load.failures.last != nil
            try follow(index, playlist, base, outcome.cacheFreshness, &renditions, cache, &requests, at: now)
            renditions[index].load.postpone(until: now + outcome.loadInterval)
            if hadFailed, role == .main { hastenFailedLoads(&renditions, at: now) }
            return role == .main
        } catch {
            requests.recordFault(FetchFault(error))
            failed(index, error, retryAfter: outcome.retryAfter, &renditions, &requests, at: now)
            return false
        }
    }

    /// Loads the other playlists that failed as soon as possible, because the upstream answers again.
    private func hastenFailedLoads(_ renditions: inout [RenditionTracker], at now: Duration) {
        for index in renditions.indices where renditions[index].load.failures.last != nil {
            renditions[index].load.hasten(at: now)
        }
    }

    private mutating func follow(
        _ index: Int, _ playlist: MediaPlaylist, _ base: String, _ freshness: CacheFreshness,
        _ renditions: inout [RenditionTracker], _ cache: ResourceCache, _ requests: inout SessionRequests,
        at now: Duration
    ) throws(TrackerError) {
        renditions[index].queueLimit = queueLimit(of: renditions[index], among: renditions)
        for event in try renditions[index].accept(playlist, base: base, freshness, cache, at: now) {
            requests.report(event)
        }
        if renditions[index].role == .main { state = .following }
    }

    private func queueLimit(of rendition: RenditionTracker, among renditions: [RenditionTracker]) -> Int {
        let media = renditions.filter { !$0.role.isSubtitles }
        let isJoined = renditions.first?.isJoined ?? false
        return policy.limits.queuedSegments(
            of: rendition.role, queued: isJoined ? media.reduce(0) { $0 + $1.queue.count } : nil,
            companions: max(0, media.count - 1), subtitles: renditions.count - media.count)
    }

    /// Records a failed load. Once opened, it counts as an unchanged playlist that is loaded again soon.
    ///
    /// A playlist with unsupported protection ends the session.
    private mutating func failed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration? = nil, _ renditions: inout [RenditionTracker],
        _ requests: inout SessionRequests, at now: Duration
    ) {
        let (isSubtitles, isNew) = (renditions[index].role.isSubtitles, renditions[index].load.failures.isNew(error))
        if !isSubtitles {
            if case .unsupportedProtection = error.reason { return requests.finish(.failed(error)) }
            if case .opening = state, renditions[index].role == .main {
                return openingFailed(error, retryAfter: retryAfter, &renditions, &requests, at: now)
            }
            // A playlist that has ended needs no further answer.
            if renditions[index].cursor.hasEnded { return renditions[index].load.close() }
        }
        requests.report(renditions[index].loadFailed(error, retryAfter: retryAfter, at: now))
        // Subtitles never end the channel, and request new URLs only once per failure.
        if error.mayBeFixedByNewURL, !isSubtitles || isNew { locator.requestReload(at: now) }
    }

    /// The time at which a playlist without segments ends the session.
    private func noSegmentsDeadline(_ renditions: [RenditionTracker]) -> Duration? {
        guard let main = renditions.first, !main.isJoined else { return nil }
        return main.firstPlaylistAt.map { $0 + policy.noSegmentsLimit }
    }

    mutating func checkTimeouts(
        _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests, at now: Duration
    ) {
        if case .opening(let opening) = state, let deadline = opening.deadline, deadline <= now {
            let error = opening.failures.last ?? TrackerError(.openingTimedOut, url: locator.upstream)
            return requests.finish(.failed(error))
        }
        if let deadline = noSegmentsDeadline(renditions), deadline <= now, let main = renditions.first {
            let error = TrackerError(.noSegments(for: policy.noSegmentsLimit), url: main.url, section: "4.3.2")
            return requests.finish(.failed(error))
        }
        for index in renditions.indices {
            guard let timeout = renditions[index].load.timeout, timeout <= now else { continue }
            requests.cancel(renditions[index].load.abandon(at: now))
            let error = TrackerError(.unreachable(.timedOut), url: renditions[index].url)
            requests.recordFault(FetchFault(error))
            failed(index, error, &renditions, &requests, at: now)
        }
    }
}

// MARK: - Other URLs

extension PlaylistIntake {
    /// Finds the playlists again at the URLs of a multivariant playlist that was loaded once more.
    mutating func settleReload(
        _ outcome: FetchOutcome, isInOutage: Bool, _ renditions: inout [RenditionTracker],
        _ requests: inout SessionRequests, at now: Duration
    ) {
        locator.finishReload()
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: locator.upstream)
            switch document {
            case .multivariant(let playlist):
                recordIrregularities(of: playlist, &renditions, &requests)
                let urls = try choose(from: playlist, base: base, isInOutage: isInOutage, &requests)
                move(to: urls, &renditions, &requests, at: now)
            case .media:
                // Without a choice of variants, the channel is at the upstream's own URL.
                if !renditions.isEmpty { move(0, to: locator.upstream, &renditions, &requests, at: now) }
            }
        } catch {
            requests.recordFault(FetchFault(error))
            if locator.reloadFailed(error) { requests.report(.multivariantReloadFailed(error)) }
        }
        if isInOutage { locator.requestReload(at: now) }
    }

    private mutating func choose(
        from playlist: MultivariantPlaylist, base: String, isInOutage: Bool, _ requests: inout SessionRequests
    ) throws(TrackerError) -> PlaylistLocator.URLs {
        let before = (locator.variant?.bandwidth, locator.audio?.name)
        let urls = try locator.update(from: playlist, base: base)
        let redundant = isInOutage ? locator.selectNextRedundantVariant() : nil
        if (locator.variant?.bandwidth, locator.audio?.name) != before { reportVariant(&requests) }
        return redundant ?? urls
    }

    private func move(
        to urls: PlaylistLocator.URLs, _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests,
        at now: Duration
    ) {
        for index in renditions.indices {
            if let url = urls[renditions[index].role] { move(index, to: url, &renditions, &requests, at: now) }
        }
    }

    private func move(
        _ index: Int, to url: String, _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests,
        at now: Duration
    ) {
        let isNew = url != renditions[index].url
        requests.cancel(renditions[index].move(to: url, at: now))
        if isNew { requests.report(.moved(renditions[index].role, url: url)) }
    }

    private func reportVariant(_ requests: inout SessionRequests) {
        if let variant = locator.variant {
            requests.report(.variantSelected(variant: variant, audio: locator.audio, subtitles: locator.subtitles))
        }
    }

    /// Counts a multivariant playlist with irregularities, and reports the new ones.
    private mutating func recordIrregularities(
        of playlist: MultivariantPlaylist, _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests
    ) {
        if !renditions.isEmpty {
            renditions[0].counts.droppedByLimit.merge(playlist.dropped, uniquingKeysWith: +)
            if !playlist.irregularities.isEmpty { renditions[0].counts.irregularPlaylists += 1 }
        }
        for (limit, count) in irregularityLog.recordNew(playlist.dropped) {
            requests.report(.playlistLimitExceeded(nil, limit, dropped: count))
        }
        for error in irregularityLog.recordNew(playlist.irregularities) {
            requests.report(.playlistIrregular(nil, error))
        }
    }

    /// Moves to the next redundant variant. Returns false if the upstream has none.
    @discardableResult
    mutating func tryRedundantVariant(
        _ renditions: inout [RenditionTracker], _ requests: inout SessionRequests, at now: Duration
    ) -> Bool {
        guard let urls = locator.selectNextRedundantVariant() else { return false }
        move(to: urls, &renditions, &requests, at: now)
        return true
    }

    /// Loads the playlists that name the URLs again at once, because a token appears to have expired.
    mutating func requestFreshURLs(_ renditions: inout [RenditionTracker], at now: Duration) {
        if requestReload(at: now) { return }
        for index in renditions.indices { renditions[index].load.hasten(at: now) }
    }

    /// Loads the multivariant playlist again. Returns false if there is none.
    @discardableResult
    mutating func requestReload(at now: Duration) -> Bool {
        locator.requestReload(at: now)
        return locator.hasMultivariant
    }

    /// Shortens the pause before the next reload, because the channel is healthy.
    mutating func resetBackoff() { locator.resetBackoff() }
}
