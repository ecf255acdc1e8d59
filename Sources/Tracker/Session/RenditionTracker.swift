import Playlist
import Support

/// Follows one media playlist of the channel: its URL, its loads, and its segments that are not delivered yet.
struct RenditionTracker: Sendable {
    let role: RenditionRole
    var url: String
    var load: PlaylistLoad
    /// The wall-clock date of session time zero; nil if unknown.
    let startDate: ProgramDateTime?
    private(set) var targetDuration: Duration?
    private(set) var firstPlaylistAt: Duration?
    private(set) var lastPlaylistAt: Duration?
    var cursor: SegmentCursor
    var stallEscalation: StallEscalation
    var queue: SegmentQueue
    /// How many segments may wait in the queue.
    var queueLimit = Int.max
    /// The media time that the last playlist listed.
    private var window = Duration.zero
    var counts = TrackerCounts()
    var hasDeliveredEnd = false
    var endListState = EndListState.finished
    /// The last segment that any playlist listed.
    private(set) var lastSegment: LastSegmentIdentity?
    /// The time at which the numbers restarted last with known URLs.
    var renumberedAt: Duration?
    var lateCueTagCounter = LateCueTagCounter()
    private var irregularityLog = IrregularityLog()
    /// The date ranges of the last playlist, if it listed no new segment.
    var trailingDateRanges: [DateRange] = []

    /// - Parameters:
    ///   - joinPoint: where to join; ignored for subtitles, which begin well before the video in any case.
    ///   - polling: how reloads are timed; subtitles keep to the standard's schedule.
    init(
        _ role: RenditionRole, url: String, giveUp: Duration?, joinPoint: JoinPoint = .edge,
        polling: PollingMode = .standard, startDate: ProgramDateTime? = nil, seed: UInt64 = 0, at now: Duration
    ) {
        queue = SegmentQueue(seed: seed)
        self.role = role
        self.url = url
        self.startDate = startDate
        load = PlaylistLoad(role.isSubtitles ? .standard : polling, at: now)
        cursor = SegmentCursor(policy: role.cursorPolicy, joinPoint: role.isSubtitles ? .edge : joinPoint)
        stallEscalation = StallEscalation(giveUp: role == .main ? giveUp : nil)
    }

    /// The playlist's target duration, or that of the standard's examples before a playlist was read.
    var assumedTargetDuration: Duration { targetDuration ?? .seconds(6) }

    /// The date ranges that no delivered segment carried.
    var dateRangesAtEnd: [DateRange] { queue.skipped.allDateRanges + trailingDateRanges }

    /// Whether nothing follows and everything was delivered.
    func isDrained(at now: Duration) -> Bool {
        cursor.hasEnded && queue.isEmpty && endListState.reopensUntil.map { $0 <= now } ?? true
    }

    /// Whether its playlist or its next segment is being fetched, and has not failed.
    var isOnItsWay: Bool { load.isInFlight || !queue.isEmpty && !queue.isRetrying }

    /// Records that a playlist arrived. Returns its new irregularities, and the change of its target duration.
    mutating func record(_ playlist: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = playlist.targetDuration }
        load.succeeded()
        firstPlaylistAt = firstPlaylistAt ?? now
        lastPlaylistAt = now
        if !playlist.segments.isEmpty {
            window = playlist.segments.reduce(.zero) { $0 + min($1.duration, .seconds(3600)) }
        }
        lastSegment = playlist.segments.last.map { LastSegmentIdentity($0) } ?? lastSegment
        if !playlist.irregularities.isEmpty { counts.irregularPlaylists += 1 }
        let irregularities = irregularityLog.recordNew(playlist.irregularities)
        counts.droppedByLimit.merge(playlist.dropped, uniquingKeysWith: +)
        let limits = irregularityLog.recordNew(playlist.dropped)
        let events =
            irregularities.map { UpstreamEvent.playlistIrregular(role, $0) }
            + limits.map { UpstreamEvent.playlistLimitExceeded(role, $0.limit, dropped: $0.count) }
        guard let targetDuration, targetDuration != playlist.targetDuration else { return events }
        return events + [.targetDurationChanged(role, from: targetDuration, to: playlist.targetDuration)]
    }

    /// Removes and counts what is ready for delivery.
    mutating func popReady(_ cache: ResourceCache) -> SegmentQueue.Ready? {
        guard let ready = queue.popReady(cache) else { return nil }
        switch ready {
        case .segment: counts.delivered += 1
        case .lost(let loss): counts.record(loss)
        }
        return ready
    }

    /// Removes and counts the segment to deliver next, which is not waited for any longer.
    mutating func loseHead(_ cause: SegmentLoss.Cause, _ cache: ResourceCache) -> SegmentLoss? {
        guard let loss = queue.loseHead(cause, cache) else { return nil }
        counts.record(loss)
        return loss
    }

    /// The rule for the segments of this rendition. The video does not wait for subtitles as long as for audio.
    ///
    /// - Parameters:
    ///   - configured: the operator's limit, if there is one.
    ///   - isFinished: whether nothing is added to the channel any more.
    func patience(_ configured: Duration?, isFinished: Bool) -> SegmentPatience {
        SegmentPatience(
            configured: role.isSubtitles ? min(configured ?? assumedTargetDuration, assumedTargetDuration) : configured,
            targetDuration: assumedTargetDuration, window: window, isFinished: isFinished)
    }
}

extension RenditionTracker {
    var status: UpstreamStatus.Rendition {
        var status = UpstreamStatus.Rendition(
            role: role, url: url, targetDuration: targetDuration, nextMediaSequence: cursor.next,
            loadedAt: lastPlaylistAt,
            hasEnded: cursor.hasEnded, queued: queue.count, inFlight: queue.inFlight, heldBytes: queue.heldBytes,
            counts: counts, polling: load.polling)
        status.counts.lostDurations = queue.lostDurations
        if case .expecting(let since, let step) = stallEscalation.state {
            status.grewAt = since
            status.stallStep = step
        }
        return status
    }
}

extension RenditionRole {
    fileprivate var cursorPolicy: CursorPolicy {
        switch self {
        case .main: .main
        case .audio: .companion
        case .subtitles: .subtitles
        }
    }
}
