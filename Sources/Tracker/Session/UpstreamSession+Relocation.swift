import Fetch
import Playlist

// Finds the playlists again at other URLs, by loading the multivariant playlist once more.

extension UpstreamSession {
    mutating func settleMultivariantReload(_ outcome: FetchOutcome, at now: Duration) {
        locator.finishReload()
        do throws(TrackerError) {
            let (document, base) = try outcome.playlist(from: locator.upstream)
            switch document {
            case .multivariant(let playlist):
                recordIrregularities(of: playlist)
                try choose(from: playlist, base: base, at: now)
            case .media:
                // Without a choice of variants, the channel is at the upstream's own URL.
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
        var urls = try locator.update(from: playlist, base: base)
        if isInOutage, let redundant = locator.selectNextRedundantVariant() { urls = redundant }
        if (locator.variant?.bandwidth, locator.audio?.name) != (before.0?.bandwidth, before.1?.name) {
            reportVariant()
        }
        move(to: urls, at: now)
    }

    mutating func move(to urls: PlaylistLocator.URLs, at now: Duration) {
        for index in trackers.indices {
            if let url = urls[trackers[index].role] { move(index, to: url, at: now) }
        }
    }

    private mutating func move(_ index: Int, to url: String, at now: Duration) {
        let isNew = url != trackers[index].url
        cancel(trackers[index].move(to: url, at: now))
        if isNew { report(.moved(trackers[index].role, url: url)) }
    }

    mutating func reportVariant() {
        if let variant = locator.variant {
            report(.variantSelected(variant: variant, audio: locator.audio, subtitles: locator.subtitles))
        }
    }

    /// Loads the playlists that name the URLs again at once, because a token appears to have expired.
    mutating func requestFreshURLs(at now: Duration) {
        if locator.hasMultivariant { return locator.requestReload(at: now) }
        for index in trackers.indices { trackers[index].load.hasten(at: now) }
    }
}
