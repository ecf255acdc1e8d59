import Playlist

/// Follows one media playlist of the channel: its URL, its loads, and its segments that are not delivered yet.
struct RenditionTracker: Sendable {
    let role: RenditionRole
    var url: String
    var load: PlaylistLoad
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
    private var irregularityLog = IrregularityLog()
    /// The date ranges of the last playlist, if it listed no new segment.
    var trailingDateRanges: [DateRange] = []

    /// - Parameter joinPoint: where to join; ignored for subtitles, which begin well before the video in any case.
    init(_ role: RenditionRole, url: String, giveUp: Duration?, joinPoint: JoinPoint = .edge, at now: Duration) {
        self.role = role
        self.url = url
        load = PlaylistLoad(at: now)
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

    /// Records that a playlist arrived. Returns its new irregularities, and the change of its target duration.
    mutating func record(_ playlist: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = playlist.targetDuration }
        load.succeeded()
        firstPlaylistAt = firstPlaylistAt ?? now
        lastPlaylistAt = now
        lastSegment = playlist.segments.last.map { LastSegmentIdentity($0) } ?? lastSegment
        if !playlist.irregularities.isEmpty { counts.irregularPlaylists += 1 }
        let irregularities = irregularityLog.recordNew(playlist.irregularities)
        let events = irregularities.map { UpstreamEvent.playlistIrregular(role, $0) }
        guard let targetDuration, targetDuration != playlist.targetDuration else { return events }
        return events + [.targetDurationChanged(role, from: targetDuration, to: playlist.targetDuration)]
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
            counts: counts)
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
