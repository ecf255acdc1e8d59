import Playlist

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
    var queue = SegmentQueue()
    var counts = TrackerCounts()
    var hasDeliveredEnd = false
    var endListState = EndListState.finished
    /// The last segment that any playlist listed.
    private(set) var lastSegment: LastSegmentIdentity?
    /// The time at which the numbers restarted last with known URLs.
    var renumberedAt: Duration?
    var lateCueTagCounter = LateCueTagCounter()
    /// The date ranges of the last playlist, if it listed no new segment.
    var trailingDateRanges: [DateRange] = []

    /// - Parameters:
    ///   - joinPoint: where to join; ignored for subtitles, which begin well before the video in any case.
    ///   - polling: how reloads are timed; subtitles keep to the standard's schedule.
    init(
        _ role: RenditionRole, url: String, giveUp: Duration?, joinPoint: JoinPoint = .edge,
        polling: PollingMode = .standard, startDate: ProgramDateTime? = nil, at now: Duration
    ) {
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

    /// Records that a playlist arrived. Returns the change of its target duration, if it changed.
    mutating func record(_ playlist: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = playlist.targetDuration }
        load.succeeded()
        firstPlaylistAt = firstPlaylistAt ?? now
        lastPlaylistAt = now
        lastSegment = playlist.segments.last.map { LastSegmentIdentity($0) } ?? lastSegment
        guard let targetDuration, targetDuration != playlist.targetDuration else { return [] }
        return [.targetDurationChanged(role, from: targetDuration, to: playlist.targetDuration)]
    }

    /// Removes and counts what is ready for delivery.
    mutating func popReady(_ cache: ResourceCache) -> SegmentQueue.Ready? {
        guard let ready = queue.popReady(cache) else { return nil }
        switch ready {
        case .segment: counts.delivered += 1
        case .lost(let loss):
            counts.lost += loss.count
            counts.discontinuities += 1
        }
        return ready
    }
}

extension RenditionTracker {
    var status: UpstreamStatus.Rendition {
        var status = UpstreamStatus.Rendition(
            role: role, url: url, targetDuration: targetDuration, nextMediaSequence: cursor.next,
            loadedAt: lastPlaylistAt,
            hasEnded: cursor.hasEnded, queued: queue.count, inFlight: queue.inFlight, heldBytes: queue.heldBytes,
            counts: counts, polling: load.polling)
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
