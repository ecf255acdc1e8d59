import Playlist

// Starts, moves and reschedules the loads of a media playlist.

extension RenditionTracker {
    mutating func startLoad(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard load.isDue(at: now) else { return nil }
        beganLoad(as: id, at: now)
        return FetchRequest(.mediaPlaylist, url: url)
    }

    /// Records the start of a load, which may have started before its answer was known to be this playlist.
    mutating func beganLoad(as id: FetchID, at now: Duration) {
        load.began(as: id, limit: loadLimit, at: now)
        counts.loads += 1
    }

    /// The time limit of a load, after which the playlist is requested again.
    private var loadLimit: Duration { max(.seconds(10), assumedTargetDuration * 2) }

    func nextDeadline(after now: Duration) -> Duration? {
        [stallEscalation.nextDeadline, queue.nextRetry(after: now), endListState.reopensUntil, load.deadline]
            .compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Follows the same rendition at another URL, with the same cursor. Returns the load to cancel.
    mutating func move(to newURL: String, at now: Duration) -> FetchID? {
        // A finished playlist is loaded again only if refused segments may have new URLs.
        let isNeeded = newURL != url || load.failures.last != nil || queue.awaitsPlaylist
        guard !cursor.hasEnded || queue.awaitsPlaylist, isNeeded else { return nil }
        url = newURL
        return load.restart(at: now)
    }

    /// Records a failed load. Returns the event for a new failure.
    ///
    /// - Parameters:
    ///   - retryAfter: the delay that the answer asks for, honored for as long as a load may take.
    ///   - retry: when to load again, if not by the schedule.
    mutating func loadFailed(
        _ error: TrackerError, retryAfter: Duration? = nil, at now: Duration, retry: Duration? = nil
    ) -> UpstreamEvent? {
        counts.failedLoads += 1
        let pause = min(retryAfter ?? .zero, loadLimit)
        let isNew = load.failed(error, pause: pause, retry: retry, targetDuration: assumedTargetDuration, at: now)
        return isNew ? .playlistFailed(role, error) : nil
    }

    /// Schedules the next load after a playlist was read.
    ///
    /// - Parameter grew: whether the playlist listed something new.
    mutating func finishLoad(of playlist: MediaPlaylist, grew: Bool, at now: Duration) {
        load.ended(outcome(of: playlist, grew: grew, at: now), targetDuration: playlist.targetDuration, at: now)
    }

    private func outcome(of playlist: MediaPlaylist, grew: Bool, at now: Duration) -> ReloadSchedule.Load {
        let unchanged = ReloadSchedule.Load.unchanged(longestSegment: playlist.segments.lazy.map(\.duration).max())
        if cursor.hasEnded { return endListState.reopensUntil.map { now < $0 } ?? false ? unchanged : .complete }
        guard grew, let last = playlist.segments.last else { return unchanged }
        return .grew(lastSegment: last.duration)
    }
}
