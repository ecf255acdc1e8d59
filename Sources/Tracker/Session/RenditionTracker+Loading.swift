import Fetch
import Playlist
import Support

// Starts, moves and reschedules the loads of a media playlist.

extension RenditionTracker {
    mutating func startLoad(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard load.isDue(at: now) else { return nil }
        beganLoad(as: id, at: now)
        return load.request(url, longestHold: longestHold)
    }

    /// Records the start of a load, which may have started before its answer was known to be this playlist.
    mutating func beganLoad(as id: FetchID, at now: Duration) {
        load.began(as: id, limit: loadLimit, longestHold: longestHold, at: now)
        counts.loads += 1
    }

    /// The time limit of a load, after which the playlist is requested again.
    private var loadLimit: Duration { max(.seconds(10), assumedTargetDuration * 2) }

    /// The time for which a server may hold back its answer to a blocking reload.
    private var longestHold: Duration {
        min(assumedTargetDuration * BlockingReload.targetDurationsHeld, BlockingReload.longestHold)
    }

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
    /// - Parameter update: what the playlist listed.
    mutating func finishLoad(
        of playlist: MediaPlaylist, _ update: PlaylistUpdate, _ freshness: CacheFreshness, at now: Duration
    ) {
        var reading = PollingSchedule.Reading(
            outcome: outcome(of: playlist, grew: update.firstNew != nil, at: now),
            targetDuration: playlist.targetDuration, freshness: freshness)
        if let first = update.firstNew {
            // Sums of longer durations would overflow some day.
            reading.newSegments = playlist.segments.filter { $0.mediaSequence >= first }
                .map { min($0.duration, .seconds(86_400)) }
        }
        reading.isDisconnected = update.isDisconnected
        reading.datedEnd = startDate.flatMap { playlist.datedEnd(since: $0) }
        if playlist.serverControl?.canBlockReload == true { reading.blockingNext = playlist.window?.upperBound }
        load.ended(reading, at: now)
    }

    private func outcome(of playlist: MediaPlaylist, grew: Bool, at now: Duration) -> ReloadSchedule.Load {
        let unchanged = ReloadSchedule.Load.unchanged(longestSegment: playlist.segments.lazy.map(\.duration).max())
        if cursor.hasEnded { return endListState.reopensUntil.map { now < $0 } ?? false ? unchanged : .complete }
        guard grew, let last = playlist.segments.last else { return unchanged }
        return .grew(lastSegment: last.duration)
    }
}

extension MediaPlaylist {
    /// When the last segment ends by its date, as a time since `start`; nil without a date.
    fileprivate func datedEnd(since start: ProgramDateTime) -> Duration? {
        guard let last = segments.last, let begin = programDateTimes.last ?? nil else { return nil }
        return .milliseconds(begin.milliseconds(since: start)) + last.duration
    }
}
