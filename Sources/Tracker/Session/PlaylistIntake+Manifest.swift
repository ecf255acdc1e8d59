import DASH
import Fetch
import Playlist

// The playlists of a DASH manifest, which is loaded as the main playlist is.

extension PlaylistIntake {
    /// Follows the tracks of a manifest.
    ///
    /// - Returns: whether the main playlist was derived.
    mutating func open(
        _ manifest: DASHManifest, _ answer: SessionRequests.Answer, _ media: inout MediaIntake, at now: Duration
    ) throws(TrackerError) -> Bool {
        var intake = ManifestIntake(policy.variant)
        intake.accept(manifest, answer, startDate: policy.startDate, isMainLoad: true, at: now)
        let urls = try locator.update(
            from: intake.master(at: locator.upstream), base: intake.location ?? locator.upstream)
        self.manifest = intake
        media.renditions = makeTrackers(urls, at: now)
        media.renditions[0].beganLoad(as: answer.id, at: now)
        for index in media.renditions.indices.dropFirst() { media.renditions[index].load.close() }
        reportVariant(&media)
        return try list(&media, at: now)
    }

    mutating func read(
        _ manifest: DASHManifest, _ answer: SessionRequests.Answer, isMainLoad: Bool, _ media: inout MediaIntake,
        at now: Duration
    ) throws(TrackerError) -> Bool {
        self.manifest?.accept(manifest, answer, startDate: policy.startDate, isMainLoad: isMainLoad, at: now)
        return try list(&media, at: now)
    }

    mutating func reload(
        _ manifest: DASHManifest, _ answer: SessionRequests.Answer, isInOutage: Bool, _ media: inout MediaIntake,
        at now: Duration
    ) throws(TrackerError) {
        guard self.manifest != nil else { throw TrackerError(.unexpectedPlaylistKind, url: locator.upstream) }
        _ = try read(manifest, answer, isMainLoad: false, &media, at: now)
        guard let intake = self.manifest else { return }
        let base = intake.location ?? locator.upstream
        move(
            to: try choose(from: intake.master(at: base), base: base, isInOutage: isInOutage, &media), &media, at: now)
    }

    /// Reads the answer to a request for the time or a segment index.
    ///
    /// - Returns: whether the main playlist was derived.
    mutating func settleManifestPart(
        _ answer: SessionRequests.Answer, _ media: inout MediaIntake, at now: Duration
    ) -> Bool {
        do throws(TrackerError) {
            media.requests.recordFault(try manifest?.settle(answer, at: now) ?? nil)
            return try list(&media, at: now)
        } catch {
            media.requests.recordFault(FetchFault(error))
            failed(0, error, retryAfter: answer.outcome.retryAfter, &media, at: now)
            return false
        }
    }

    /// Derives the lists that time alone has changed. Returns whether the main playlist was derived.
    mutating func listDue(_ media: inout MediaIntake, at now: Duration) -> Bool {
        guard manifest?.hasChanged(at: now) == true else { return false }
        return (try? list(&media, at: now)) ?? false
    }

    /// Reads what is new in the playlists that follow from the manifest and the time.
    ///
    /// - Returns: whether the main playlist was derived.
    private mutating func list(_ media: inout MediaIntake, at now: Duration) throws(TrackerError) -> Bool {
        var isMainListed = false
        for index in media.renditions.indices {
            let (role, url) = (media.renditions[index].role, media.renditions[index].url)
            guard let playlist = manifest?.playlist(at: url, at: now) else { continue }
            media.renditions[index].updateInterval = manifest?.growthInterval ?? .zero
            let load = role == .main ? manifest?.unlisted : nil
            do throws(TrackerError) {
                try follow(index, playlist, url, load?.freshness, &media, at: now)
            } catch {
                if role == .main { throw error }
                failed(index, error, &media, at: now)
            }
            guard role == .main else { continue }
            isMainListed = true
            if let load { scheduleLoad(since: load.began, &media) }
        }
        return isMainListed
    }

    /// Loads the manifest again not before it changes. A live one that has become static is loaded as a playlist with an
    /// ENDLIST is: a packager writes such a one when it ends, and is restarted.
    private mutating func scheduleLoad(since began: Duration, _ media: inout MediaIntake) {
        manifest?.unlisted = nil
        if let interval = manifest?.updateInterval {
            media.renditions[0].load.postpone(until: began + interval)
        } else if !media.renditions[0].mayReopen {
            media.renditions[0].load.close()
        }
    }
}
