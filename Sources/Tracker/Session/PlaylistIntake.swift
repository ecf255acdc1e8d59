import Fetch
import Media
import Playlist
import Support

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
        /// How many redundant variants were tried in place of the first.
        var redundantVariants = 0
    }

    let policy: UpstreamSession.Policy
    private var state = State.idle
    /// nil unless the upstream was recognized as a media file, whose playlist is not loaded.
    private var file: FilePlaylist?
    /// Whether the origin sends no parts of what seemed to be a file.
    private var isNoFile = false
    var locator: PlaylistLocator
    /// nil unless the upstream was recognized as a DASH manifest, from which the playlists are derived.
    var manifest: ManifestIntake?
    var ladder: LadderDemand
    private var irregularityLog = IrregularityLog()
    /// Time in which nothing could be tried.
    private var untried = Duration.zero

    init(upstream: String, policy: UpstreamSession.Policy) {
        self.policy = policy
        ladder = LadderDemand(isOnDemand: policy.followsLadderOnDemand)
        locator = PlaylistLocator(upstream: upstream, policy)
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

    func deadlines(_ media: MediaIntake) -> [Duration?] {
        let deadlines =
            [locator.nextDeadline, noSegmentsDeadline(media)] + (manifest?.deadlines ?? []) + ladder.deadlines
        guard case .opening(let opening) = state else { return deadlines }
        return deadlines + [opening.deadline, opening.retryAt]
    }

    mutating func open(at now: Duration) {
        if state == .idle { state = .opening(Opening(retryAt: now, began: now)) }
    }

    /// Follows no playlist, because the upstream is a stream.
    mutating func followStream() { state = .following }

    /// Starts the loads that are due: of the upstream's URL, of media playlists, of the multivariant playlist.
    mutating func start(_ media: inout MediaIntake, at now: Duration) {
        startOpening(&media, at: now)
        if file != nil { return startFile(&media, at: now) }
        for index in media.renditions.indices where media.requests.admits(media.renditions[index].url, at: now) {
            guard let request = media.renditions[index].startLoad(as: media.requests.nextID, at: now) else { continue }
            let role = media.renditions[index].role
            media.requests.start(
                request, for: .playlist(role), byteLimit: policy.limits.playlistBytes(of: role), at: now)
        }
        if media.requests.admits(locator.master, at: now),
            let request = locator.startReload(as: media.requests.nextID, at: now)
        {
            media.requests.start(request, for: .multivariantReload, at: now)
        }
        manifest?.start(&media.requests, at: now)
    }

    // MARK: - Opening

    private mutating func startOpening(_ media: inout MediaIntake, at now: Duration) {
        guard case .opening(var opening) = state, let retryAt = opening.retryAt, retryAt <= now,
            media.requests.admits(locator.upstream, at: now)
        else { return }
        opening.retryAt = nil
        opening.deadline = opening.deadline ?? policy.opening.limit.map { now + $0 }
        state = .opening(opening)
        var request = file?.request ?? FetchRequest(.multivariantPlaylist, url: locator.upstream)
        request.acceptsFile = file == nil && !isNoFile
        media.requests.start(
            request, for: .opening, byteLimit: request.byteRange.map { Int(clamping: $0.length) }, at: now)
    }

    /// Reads the upstream's playlist: one media playlist, or a multivariant playlist with a choice of them.
    ///
    /// - Returns: whether it was the main media playlist.
    mutating func settleOpening(
        _ answer: SessionRequests.Answer, _ media: inout MediaIntake, at now: Duration
    ) -> Bool {
        do throws(TrackerError) {
            let isPart = file != nil
            if let playlist = try filePlaylist(answer.outcome, &media, at: now) {
                return try followFirst(playlist, locator.upstream, answer, &media, at: now)
            }
            guard !isPart, file == nil else { return false }
            let (document, base) = try answer.outcome.playlist(from: locator.upstream)
            switch document {
            case .playlist(.media(let playlist)): return try followFirst(playlist, base, answer, &media, at: now)
            case .playlist(.multivariant(let playlist)):
                let urls = try locator.update(from: playlist, base: base)
                media.renditions = makeTrackers(urls, at: now)
                reportVariant(&media)
                recordIrregularities(of: playlist, &media)
            case .manifest(let manifest): return try open(manifest, answer, &media, at: now)
            }
        } catch {
            (file, manifest) = (nil, nil)
            media.requests.recordFault(FetchFault(error))
            openingFailed(error, retryAfter: answer.outcome.retryAfter, &media, at: now)
        }
        return false
    }

    private mutating func followFirst(
        _ playlist: MediaPlaylist, _ base: String, _ answer: SessionRequests.Answer, _ media: inout MediaIntake,
        at now: Duration
    ) throws(TrackerError) -> Bool {
        var main = makeTracker(.main, locator.upstream, at: now)
        main.beganLoad(as: answer.id, at: now)
        media.renditions = [main]
        try follow(0, playlist, base, answer.outcome.cacheFreshness, &media, at: now)
        return true
    }

    func makeTrackers(_ urls: PlaylistLocator.URLs, at now: Duration) -> [RenditionTracker] {
        let roles: [RenditionRole] =
            [.main, .audio] + urls.furtherAudio.indices.map { .furtherAudio($0) }
            + (ladder.isOnDemand ? [] : urls.furtherVideo.indices.map { .furtherVideo($0) })
            + urls.subtitles.indices.map { .subtitles($0) }
        return roles.compactMap { role in urls[role].map { makeTracker(role, $0, at: now) } }
    }

    func makeTracker(_ role: RenditionRole, _ url: String, at now: Duration) -> RenditionTracker {
        RenditionTracker(
            role, url: url, joinPoint: role.isFurtherVideo && ladder.isOnDemand ? .edge : policy.joinPoint, policy,
            at: now)
    }

    /// Schedules the next attempt, or ends the session.
    ///
    /// A delay that the answer asks for extends the time limit, because such an upstream is available.
    private mutating func openingFailed(
        _ error: TrackerError, retryAfter: Duration?, _ media: inout MediaIntake, at now: Duration
    ) {
        guard case .opening(var opening) = state else { return media.requests.finish(.failed(error)) }
        let isNew = opening.failures.record(error)
        let pause = min(retryAfter ?? .zero, HostLimiter.longestPause)
        opening.deadline = opening.deadline.map { $0 + pause }
        // Viewers of an earlier process wait.
        let longest = policy.channelTargetDuration.map { max($0, .seconds(1)) } ?? Backoff.ceiling
        let retryAt = now + max(pause, min(opening.backoff.next(), longest))
        // A multivariant playlist was there, and names another variant.
        let tries = min(policy.opening.tries(after: error), locator.hasAlternative ? OpeningPatience().tries : .max)
        if opening.backoff.failures >= tries {
            guard opening.redundantVariants < locator.redundantVariantCount else {
                return media.requests.finish(.failed(error))
            }
            opening.redundantVariants += 1
            opening.backoff = Backoff()
            state = .opening(opening)
            media.requests.report(media.renditions[0].loadFailed(error, at: now, retry: now))
            tryRedundantVariant(&media, at: now)
            return
        }
        if media.renditions.isEmpty {
            opening.retryAt = retryAt
            if isNew { media.requests.report(.playlistFailed(.main, error)) }
        } else {
            media.requests.report(media.renditions[0].loadFailed(error, at: now, retry: retryAt))
            // Since the multivariant playlist was read, the token of the URL may have expired, or its host may have gone.
            let isEndless = tries == .max && opening.backoff.failures > 1
            if error.mayBeFixedByNewURL || isEndless { locator.requestReload(isUrgent: true, at: now) }
        }
        state = .opening(opening)
    }

    // MARK: - Media playlists

    /// Reads what is new in a media playlist.
    ///
    /// - Returns: whether the main playlist was read.
    mutating func settle(
        _ role: RenditionRole, _ answer: SessionRequests.Answer, _ media: inout MediaIntake, at now: Duration
    ) -> Bool {
        guard let index = media.renditions.firstIndex(where: { $0.role == role }) else { return false }
        let (url, outcome) = (media.renditions[index].url, answer.outcome)
        do throws(TrackerError) {
            if file != nil {
                guard let playlist = try filePlaylist(outcome, &media, at: now) else { return false }
                try follow(index, playlist, url, CacheFreshness(), &media, at: now)
                return true
            }
            let (document, base) = try outcome.playlist(from: url, variables: locator.variables)
            if case .manifest(let manifest) = document, self.manifest != nil {
                return try read(manifest, answer, isMainLoad: role == .main, &media, at: now)
            }
            if case .playlist(.multivariant(let playlist)) = document, role == .main, state != .following {
                media.renditions = makeTrackers(try locator.descend(into: playlist, at: url, base: base), at: now)
                reportVariant(&media)
                return false
            }
            guard case .playlist(.media(let playlist)) = document, manifest == nil else {
                throw TrackerError(.unexpectedPlaylistKind, url: url)
            }
            let hadFailed = media.renditions[index].load.failures.last != nil
            try follow(index, playlist, base, outcome.cacheFreshness, &media, at: now)
            media.renditions[index].load.postpone(until: now + outcome.loadInterval)
            // The upstream answers again.
            for index in media.renditions.indices
            where hadFailed && role == .main && media.renditions[index].load.failures.last != nil {
                media.renditions[index].load.hasten(at: now)
            }
            return role == .main
        } catch {
            media.requests.recordFault(FetchFault(error))
            failed(index, error, retryAfter: outcome.retryAfter, &media, at: now)
            return false
        }
    }

    mutating func follow(
        _ index: Int, _ playlist: MediaPlaylist, _ base: String, _ freshness: CacheFreshness?,
        _ media: inout MediaIntake,
        at now: Duration
    ) throws(TrackerError) {
        media.renditions[index].queueLimit = queueLimit(of: media.renditions[index].role, media)
        for event in try media.renditions[index].accept(playlist, base: base, freshness, media.cache, at: now) {
            media.requests.report(event)
        }
        if media.renditions[index].role == .main, state != .following {
            state = .following
            ladder.isOnDemand = policy.followsLadderOnDemand && !playlist.isComplete
        }
        if let file, file.hasMore, media.renditions[index].queue.count < file.queuedAhead {
            _ = media.renditions[index].load.restart(at: now)
        }
    }

    private func queueLimit(of role: RenditionRole, _ media: MediaIntake) -> Int {
        let queues = media.renditions.filter { !$0.role.isSubtitles }.map(\.queue)
        let isJoined = media.renditions.first?.isJoined ?? false
        return policy.limits.queuedSegments(
            of: role, queued: isJoined ? queues.reduce(0) { $0 + $1.count } : nil,
            companions: max(0, queues.count - 1), subtitles: media.renditions.count - queues.count)
    }

    /// Records a failed load. Once opened, it counts as an unchanged playlist that is loaded again soon.
    ///
    /// A playlist with unsupported protection ends the session.
    mutating func failed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration? = nil, _ media: inout MediaIntake, at now: Duration
    ) {
        let (role, isNew) = (media.renditions[index].role, media.renditions[index].load.failures.isNew(error))
        if !role.isOptional {
            if case .unsupportedProtection = error.reason { return media.requests.finish(.failed(error)) }
            if case .opening = state, role == .main {
                return openingFailed(error, retryAfter: retryAfter, &media, at: now)
            }
        }
        if !role.isSubtitles {
            // A playlist that has ended needs no further answer.
            if media.renditions[index].cursor.hasEnded { return media.renditions[index].load.close() }
        }
        media.requests.report(media.renditions[index].loadFailed(error, retryAfter: retryAfter, at: now))
        if role == .audio, media.renditions[index].isUnopened {
            let isOver = media.renditions[index].counts[.failedPlaylistLoads] >= OpeningPatience().tries
            if error.isFinal || isOver { return abandonAudio(index, error, &media) }
        }
        // Subtitles and further audio never end the channel, and request new URLs less often.
        if error.mayBeFixedByNewURL { locator.requestReload(isUrgent: !role.isOptional || isNew, at: now) }
    }

    /// Follows the audio of the variant itself, because its audio rendition never had a playlist.
    private mutating func abandonAudio(_ index: Int, _ error: TrackerError, _ media: inout MediaIntake) {
        guard let audio = locator.audio else { return }
        media.drop(at: index)
        locator.abandonAudio()
        media.requests.report(.audioAbandoned(audio, error))
        reportVariant(&media)
    }

    private func noSegmentsDeadline(_ media: MediaIntake) -> Duration? {
        guard let main = media.renditions.first, !main.isJoined, let limit = policy.opening.emptyLimit else {
            return nil
        }
        return main.firstPlaylistAt.map { $0 + untried + limit }
    }

    mutating func postponeGivingUp(by time: Duration) {
        untried += time
        guard case .opening(var opening) = state else { return }
        opening.deadline = opening.deadline.map { $0 + time }
        state = .opening(opening)
    }

    mutating func checkTimeouts(_ media: inout MediaIntake, at now: Duration) {
        if case .opening(let opening) = state, let deadline = opening.deadline, deadline <= now {
            let error = opening.failures.last ?? TrackerError(.openingTimedOut, url: locator.upstream)
            return media.requests.finish(.failed(error))
        }
        if let deadline = noSegmentsDeadline(media), deadline <= now, let main = media.renditions.first,
            let limit = policy.opening.emptyLimit
        {
            let error = TrackerError(.noSegments(for: limit), url: main.url, section: "4.3.2")
            return media.requests.finish(.failed(error))
        }
        for index in media.renditions.indices {
            guard let timeout = media.renditions[index].load.timeout, timeout <= now else { continue }
            media.requests.cancel(media.renditions[index].load.abandon(at: now))
            let error = TrackerError(.unreachable(.timedOut), url: media.renditions[index].url)
            media.requests.recordFault(FetchFault(error))
            failed(index, error, &media, at: now)
        }
    }

    // MARK: - Files

    /// The time limit for one part of a file's index.
    private static let partLimit = Duration.seconds(30)

    /// Reads an answer as the beginning of a media file, or as a part of its index.
    ///
    /// - Returns: the file's playlist; nil if the upstream is no file, or more of its index is needed, which is requested.
    private mutating func filePlaylist(
        _ outcome: FetchOutcome, _ media: inout MediaIntake, at now: Duration
    ) throws(TrackerError) -> MediaPlaylist? {
        if file == nil {
            guard case .success(let answer) = outcome, answer.isMediaFile, !isNoFile else { return nil }
            file = FilePlaylist(url: locator.upstream, answer, policy)
        } else {
            do throws(TrackerError) { try file?.append(outcome) } catch {
                // What says that it has ranges and has none may be a stream that has no end either.
                guard error.reason == .noByteRanges, file?.mayBeStream == true, media.renditions.isEmpty else {
                    throw error
                }
                (file, isNoFile) = (nil, true)
            }
            media.requests.forwardFile = file?.forwardFile
            if let map = file?.initialization { media.cache.hold(map.bytes, of: map.request) }
            if let playlist = file?.playlist(at: now) { return playlist }
        }
        if case .opening(var opening) = state {
            (opening.retryAt, opening.deadline) = (now, now + Self.partLimit)
            state = .opening(opening)
        }
        return nil
    }

    /// Lists what has come, and reads more of the index while little is waiting.
    private mutating func startFile(_ media: inout MediaIntake, at now: Duration) {
        guard !media.renditions.isEmpty, media.renditions[0].load.isDue(at: now) else { return }
        if let request = file?.request {
            guard media.requests.admits(request.url, at: now) else { return }
            media.renditions[0].beganLoad(as: media.requests.nextID, at: now)
            media.requests.start(
                request, for: .playlist(.main), byteLimit: request.byteRange.map { Int(clamping: $0.length) }, at: now)
        } else if let playlist = file?.playlist(at: now) {
            media.renditions[0].beganLoad(as: media.requests.nextID, at: now)
            do throws(TrackerError) {
                try follow(0, playlist, locator.upstream, CacheFreshness(), &media, at: now)
            } catch { failed(0, error, &media, at: now) }
        }
    }

    // MARK: - Other URLs

    /// Finds the playlists again at the URLs of a multivariant playlist that was loaded once more.
    mutating func settleReload(
        _ answer: SessionRequests.Answer, isInOutage: Bool, _ media: inout MediaIntake, at now: Duration
    ) {
        let outcome = answer.outcome
        locator.finishReload()
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: locator.master)
            switch document {
            case .playlist(.multivariant(let playlist)):
                recordIrregularities(of: playlist, &media)
                let urls = try choose(from: playlist, base: base, isInOutage: isInOutage, &media)
                move(to: urls, &media, at: now)
            case .manifest(let manifest): try reload(manifest, answer, isInOutage: isInOutage, &media, at: now)
            case .playlist(.media):
                // Without a choice of variants, the channel is at the upstream's own URL.
                if !media.renditions.isEmpty { move(0, to: locator.master, &media, at: now) }
            }
        } catch {
            media.requests.recordFault(FetchFault(error))
            if locator.reloadFailed(error) { media.requests.report(.multivariantReloadFailed(error)) }
        }
        if isInOutage { locator.requestReload(at: now) }
    }

    mutating func choose(
        from playlist: MultivariantPlaylist, base: String, isInOutage: Bool, _ media: inout MediaIntake
    ) throws(TrackerError) -> PlaylistLocator.URLs {
        let before = (locator.variant?.bandwidth, locator.audio?.name)
        let urls = try locator.update(from: playlist, base: base)
        let redundant = isInOutage ? locator.selectNextRedundantVariant() : nil
        if (locator.variant?.bandwidth, locator.audio?.name) != before { reportVariant(&media) }
        return redundant ?? urls
    }

    func move(to urls: PlaylistLocator.URLs, _ media: inout MediaIntake, at now: Duration) {
        // A manifest is loaded once for all renditions.
        for index in media.renditions.indices where manifest == nil || media.renditions[index].role == .main {
            if let url = urls[media.renditions[index].role] { move(index, to: url, &media, at: now) }
        }
    }

    private func move(_ index: Int, to url: String, _ media: inout MediaIntake, at now: Duration) {
        let isNew = url != media.renditions[index].url
        media.requests.cancel(media.renditions[index].move(to: url, at: now))
        if isNew { media.requests.report(.moved(media.renditions[index].role, url: url)) }
    }

    func reportVariant(_ media: inout MediaIntake) {
        for event in locator.selection { media.requests.report(event) }
    }

    /// Counts a multivariant playlist with irregularities, and reports the new ones.
    private mutating func recordIrregularities(of playlist: MultivariantPlaylist, _ media: inout MediaIntake) {
        if !media.renditions.isEmpty {
            media.renditions[0].counts.droppedByLimit.merge(playlist.dropped, uniquingKeysWith: +)
            if !playlist.irregularities.isEmpty { media.renditions[0].counts[.irregularPlaylists] += 1 }
        }
        for (limit, count) in irregularityLog.recordNew(playlist.dropped) {
            media.requests.report(.playlistLimitExceeded(nil, limit, dropped: count))
        }
        for error in irregularityLog.recordNew(playlist.irregularities) {
            media.requests.report(.playlistIrregular(nil, error))
        }
    }

    /// Moves to the next redundant variant. Returns false if the upstream has none.
    @discardableResult
    mutating func tryRedundantVariant(_ media: inout MediaIntake, at now: Duration) -> Bool {
        guard let urls = locator.selectNextRedundantVariant() else { return false }
        move(to: urls, &media, at: now)
        return true
    }

    /// Loads the playlists that name the URLs again at once, because a token appears to have expired.
    mutating func requestFreshURLs(_ media: inout MediaIntake, at now: Duration) {
        if requestReload(at: now) { return }
        for index in media.renditions.indices { media.renditions[index].load.hasten(at: now) }
    }

    /// Loads the multivariant playlist again. Returns false if there is none.
    @discardableResult
    mutating func requestReload(at now: Duration) -> Bool {
        locator.requestReload(at: now)
        return locator.hasMultivariant
    }
}
