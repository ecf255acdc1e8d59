import Playlist

// How a session opens its playlists, follows them, and finds them again.

extension UpstreamSession {
    mutating func open(at now: Duration) {
        guard phase == .idle else { return }
        phase = .opening(Opening(retryAt: now, began: now))
    }

    /// The upstream's own address answered: one playlist to follow, or a choice of them.
    mutating func settleOpening(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) {
        do throws(TrackerError) {
            let (document, base) = try parsePlaylist(outcome, from: locator.upstream)
            switch document {
            case .media(let list):
                var main = tracker(.main, locator.upstream, at: now)
                main.beganLoad(as: id, at: now)
                trackers = [main]
                try follow(0, list, base, at: now)
            case .multivariant(let playlist):
                let addresses = try locator.update(from: playlist, base: base)
                trackers = [tracker(.main, addresses.main, at: now)]
                if let audio = addresses.audio { trackers.append(tracker(.audio, audio, at: now)) }
                for (index, address) in addresses.subtitles.enumerated() {
                    guard let address else { continue }
                    trackers.append(tracker(.subtitles(index), address, at: now))
                }
                reportChoice()
            }
        } catch {
            count(FetchFault(error))
            openingFailed(error, retryAfter: outcome.retryAfter, at: now)
        }
    }

    private func tracker(_ role: RenditionRole, _ address: String, at now: Duration) -> RenditionTracker {
        RenditionTracker(role, address: address, giveUp: policy.giveUp, joinsAt: policy.joinPoint, at: now)
    }

    mutating func settlePlaylist(_ role: RenditionRole, _ outcome: FetchOutcome, at now: Duration) {
        guard let index = index(of: role) else { return }
        let address = trackers[index].url
        do throws(TrackerError) {
            let (document, base) = try parsePlaylist(outcome, from: address, variables: locator.variables)
            guard case .media(let list) = document else { throw TrackerError(.unexpectedPlaylistKind, url: address) }
            try follow(index, list, base, at: now)
        } catch {
            count(FetchFault(error))
            playlistFailed(index, error, retryAfter: outcome.retryAfter, at: now)
        }
    }

    private mutating func follow(
        _ index: Int, _ list: MediaPlaylist, _ base: String, at now: Duration
    ) throws(TrackerError) {
        let events = try trackers[index].accept(list, base: base, cache, at: now)
        for event in events { report(event) }
        guard trackers[index].role == .main else { return }
        if case .opening = phase { phase = .following }
        recordListed(trackers[index], at: now)
        if trackers[index].stallEscalation.silence(at: now) == .zero, !isInOutage { locator.resetBackoff() }
    }

    /// A later answer that is no playlist counts as an unchanged one, asked for again soon; one that cannot be read
    /// by anybody without its keys ends the session.
    private mutating func playlistFailed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration? = nil, at now: Duration
    ) {
        if trackers[index].role.isSubtitles { return subtitlesFailed(index, error, retryAfter: retryAfter, at: now) }
        if case .unsupportedProtection = error.reason { return finish(.failed(error)) }
        if case .opening = phase, trackers[index].role == .main {
            return openingFailed(error, retryAfter: retryAfter, at: now)
        }
        // What has ended owes no answer.
        if trackers[index].cursor.hasEnded { return trackers[index].load.close() }
        report(trackers[index].loadFailed(error, retryAfter: retryAfter, at: now))
        if error.mayBeFixedByNewURL { locator.requestReload(at: now) }
    }

    /// Subtitles that cannot be had never end the channel, and ask for other addresses once, not at every try.
    private mutating func subtitlesFailed(
        _ index: Int, _ error: TrackerError, retryAfter: Duration?, at now: Duration
    ) {
        if error.mayBeFixedByNewURL, trackers[index].load.isNewFailure(error) { locator.requestReload(at: now) }
        report(trackers[index].loadFailed(error, retryAfter: retryAfter, at: now))
    }

    /// An upstream that says when to come again is alive: the time it asks for is not part of the opening's.
    private mutating func openingFailed(_ error: TrackerError, retryAfter: Duration?, at now: Duration) {
        guard case .opening(var opening) = phase else { return finish(.failed(error)) }
        let isNews = !(opening.lastError?.isEquivalent(to: error) ?? false)
        opening.lastError = error
        let asked = min(retryAfter ?? .zero, HostLimiter.longestPause)
        opening.deadline = opening.deadline.map { $0 + asked }
        let retryAt = now + max(asked, opening.backoff.next())
        if error.isFinal || opening.backoff.failures >= policy.openingTries { return finish(.failed(error)) }
        if let main = index(of: .main) {
            report(trackers[main].loadFailed(error, at: now, retry: retryAt))
        } else {
            opening.retryAt = retryAt
            if isNews { report(.playlistFailed(.main, error)) }
        }
        phase = .opening(opening)
    }
}

// MARK: - Finding it again

extension UpstreamSession {
    mutating func settleMultivariantReload(_ outcome: FetchOutcome, at now: Duration) {
        locator.finishReload()
        do throws(TrackerError) {
            let (document, base) = try parsePlaylist(outcome, from: locator.upstream)
            switch document {
            case .multivariant(let playlist): try choose(from: playlist, base: base, at: now)
            case .media:
                // There is nothing to choose any more: the channel is at its own address.
                if let main = index(of: .main) { move(main, to: locator.upstream, at: now) }
            }
        } catch {
            count(FetchFault(error))
            if locator.reloadFailed(error) { report(.multivariantReloadFailed(error)) }
        }
        if isInOutage { locator.requestReload(at: now) }
    }

    private mutating func choose(
        from playlist: MultivariantPlaylist, base: String, at now: Duration
    ) throws(TrackerError) {
        let before = (locator.variant, locator.audio)
        var addresses = try locator.update(from: playlist, base: base)
        if isInOutage, let other = locator.selectNextRedundantVariant() { addresses = other }
        if (locator.variant?.bandwidth, locator.audio?.name) != (before.0?.bandwidth, before.1?.name) { reportChoice() }
        move(to: addresses, at: now)
    }

    private mutating func move(to addresses: PlaylistLocator.URLs, at now: Duration) {
        for index in trackers.indices {
            if let address = addresses[trackers[index].role] { move(index, to: address, at: now) }
        }
    }

    private mutating func move(_ index: Int, to address: String, at now: Duration) {
        let isNew = address != trackers[index].url
        cancel(trackers[index].move(to: address, at: now))
        if isNew { report(.moved(trackers[index].role, url: address)) }
    }

    private mutating func reportChoice() {
        if let variant = locator.variant {
            report(.variantSelected(variant: variant, audio: locator.audio, subtitles: locator.subtitles))
        }
    }

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

    /// Does what a step of a ladder asks for, but for giving up.
    /// - Returns: false when there is nothing that it could be done with.
    mutating func perform(_ step: StallEscalation.Step, at now: Duration) -> Bool {
        switch step {
        case .late, .giveUp: return true
        case .redundantVariant:
            guard let addresses = locator.selectNextRedundantVariant() else { return false }
            move(to: addresses, at: now)
        case .reloadMultivariant:
            guard locator.hasMultivariant else { return false }
            locator.requestReload(at: now)
        case .outage: locator.requestReload(at: now)
        }
        return true
    }
}

// MARK: - What is due

extension UpstreamSession {
    /// When an empty playlist stops being patience's matter.
    var noSegmentsDeadline: Duration? {
        guard let main = trackers.first, main.cursor.next == nil, !main.cursor.hasEnded else { return nil }
        return main.firstPlaylistAt.map { $0 + policy.noSegmentsLimit }
    }

    mutating func checkDeadlines(at now: Duration) {
        if case .opening(let opening) = phase, let deadline = opening.deadline, deadline <= now {
            let error = opening.lastError ?? TrackerError(.openingTimedOut, url: locator.upstream)
            return finish(.failed(error))
        }
        if let deadline = noSegmentsDeadline, deadline <= now, let main = trackers.first {
            let error = TrackerError(.noSegments(for: policy.noSegmentsLimit), url: main.url, section: "4.3.2")
            return finish(.failed(error))
        }
        for index in trackers.indices {
            guard let overdue = trackers[index].load.overdue, overdue <= now else { continue }
            cancel(trackers[index].load.abandon(at: now))
            let error = TrackerError(.unreachable(.timedOut), url: trackers[index].url)
            count(FetchFault(error))
            playlistFailed(index, error, at: now)
        }
    }

    mutating func startPlaylists(at now: Duration) {
        if case .opening(var opening) = phase, let retryAt = opening.retryAt, retryAt <= now,
            limiter.admits(locator.upstream, at: now)
        {
            opening.retryAt = nil
            opening.deadline = opening.deadline ?? now + policy.openingLimit
            phase = .opening(opening)
            fetch(FetchRequest(.multivariantPlaylist, url: locator.upstream), for: .opening)
        }
        for index in trackers.indices where limiter.admits(trackers[index].url, at: now) {
            guard let request = trackers[index].startLoad(as: nextID, at: now) else { continue }
            fetch(request, for: .playlist(trackers[index].role))
        }
        guard limiter.admits(locator.upstream, at: now), let request = locator.startReload(as: nextID, at: now) else {
            return
        }
        fetch(request, for: .multivariantReload)
    }
}
