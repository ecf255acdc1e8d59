import Playlist

/// One media playlist of the channel: where it is, when it is loaded, what is still owed from it.
struct RenditionTracker: Sendable {
    let role: RenditionRole
    private(set) var url: String
    var load: PlaylistLoad
    private(set) var targetDuration: Duration?
    private(set) var firstPlaylistAt: Duration?
    private(set) var lastPlaylistAt: Duration?
    private(set) var cursor: SegmentCursor
    var stallEscalation: StallEscalation
    var queue = SegmentQueue()
    var counts = TrackerCounts()
    var hasDeliveredEnd = false
    private var endListState = EndListState.finished
    /// The last segment that a list had.
    private(set) var lastSegment: LastSegmentIdentity?
    /// When the numbers began anew last, and addresses said how.
    private var renumberedAt: Duration?
    private var lateCueTagCounter = LateCueTagCounter()
    /// Of the last list, when it brought nothing else.
    private var trailingDateRanges: [DateRange] = []

    /// - Parameter joinsAt: as the cursor's; subtitles begin well before the picture in any case.
    init(
        _ role: RenditionRole, address: String, giveUp: Duration?, joinsAt: JoinPoint = .edge, at now: Duration
    ) {
        self.role = role
        self.url = address
        load = PlaylistLoad(at: now)
        cursor = SegmentCursor(policy: role.cursorPolicy, joinsAt: role.isSubtitles ? .edge : joinsAt)
        stallEscalation = StallEscalation(giveUp: role == .main ? giveUp : nil)
    }

    /// The playlist's own, or what the standard's examples have, as long as none was read.
    var assumedTargetDuration: Duration { targetDuration ?? .seconds(6) }

    /// Waited for a load longer than this, an origin is asked anew.
    private var loadLimit: Duration { max(.seconds(10), assumedTargetDuration * 2) }

    /// What the end has to bring, because no segment did.
    var dateRangesAtEnd: [DateRange] { queue.undeliveredDateRanges + trailingDateRanges }

    /// Nothing more to come, and nothing left to hand over.
    func isDrained(at now: Duration) -> Bool {
        cursor.hasEnded && queue.isEmpty && endListState.reopensUntil.map { $0 <= now } ?? true
    }

    /// After so long without it, counting anew is news again.
    private static let renumberingReportInterval = Duration.seconds(60)
}

extension MediaPlaylist {
    /// EXT-X-TARGETDURATION, or what its last segments last where that is more; but no more than a few times as much.
    fileprivate var usualDuration: Duration {
        let longest = segments.suffix(3).map(\.duration).max() ?? .zero
        return max(targetDuration, min(longest, targetDuration * 4))
    }
}

// MARK: - Loading

extension RenditionTracker {
    mutating func startLoad(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard load.isDue(at: now) else { return nil }
        beganLoad(as: id, at: now)
        return FetchRequest(.mediaPlaylist, url: url)
    }

    /// A load started elsewhere turned out to be this playlist's.
    mutating func beganLoad(as id: FetchID, at now: Duration) {
        load.began(as: id, limit: loadLimit, at: now)
        counts.loads += 1
    }

    func nextDeadline(after now: Duration) -> Duration? {
        [stallEscalation.nextDeadline, queue.nextRetry(after: now), endListState.reopensUntil, load.deadline]
            .compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Follows the same rendition elsewhere: the cursor stays. Returns a load to cancel.
    mutating func move(to address: String, at now: Duration) -> FetchID? {
        // A finished list has new addresses, if any, for what was refused; nothing else of it is read again.
        let isNeeded = address != self.url || load.lastFailure != nil || queue.awaitsPlaylist
        guard !cursor.hasEnded || queue.awaitsPlaylist, isNeeded else { return nil }
        self.url = address
        return load.restart(at: now)
    }

    /// - Parameters:
    ///   - retryAfter: as the answer says; honoured as long as a segment's would be.
    ///   - retry: when to load again, if not by the schedule.
    mutating func loadFailed(
        _ error: TrackerError, retryAfter: Duration? = nil, at now: Duration, retry: Duration? = nil
    ) -> UpstreamEvent? {
        counts.failedLoads += 1
        let isNews = load.isNewFailure(error)
        let pause = min(retryAfter ?? .zero, RetryBudget.span(assumedTargetDuration))
        load.failed(error, pause: pause, retry: retry, targetDuration: assumedTargetDuration, at: now)
        return isNews ? .playlistFailed(role, error) : nil
    }
}

// MARK: - Reading a list

extension RenditionTracker {
    /// Takes what a list has that is new.
    mutating func accept(
        _ list: MediaPlaylist, base: String, _ shelf: ResourceCache, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        let (next, hadEnded) = (cursor.next, cursor.hasEnded)
        let news = PlaylistUpdate(cursor.handle(list, at: now))
        let grew = news.firstNew != nil
        var events = recordPlaylist(list, at: now)
        if news.isContinuation { queue.refresh(from: list, base: base, shelf) }
        if role == .main { recordAdMarkers(in: list, news, next: next) }
        if hadEnded, !cursor.hasEnded { events.append(.playlistReopened(role)) }
        for effect in news.effects {
            events += try apply(effect, list, base, firstTaken: news.firstFetched, at: now)
        }
        if next == nil, let joined = joined(list, news) { events.append(joined) }
        // Where segments are longer than they may be, the list is not late for that.
        if grew, let silence = stallEscalation.restart(targetDuration: list.usualDuration, at: now) {
            events.append(.resumed(role, silence: silence))
        }
        if cursor.hasEnded { stallEscalation.stop() }
        endListState.update(from: list, hasEnded: cursor.hasEnded, hasNewSegments: grew, at: now)
        load.ended(outcome(of: list, grew: grew, at: now), targetDuration: list.targetDuration, at: now)
        return events
    }

    private mutating func recordPlaylist(_ list: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = list.targetDuration }
        load.succeeded()
        firstPlaylistAt = firstPlaylistAt ?? now
        lastPlaylistAt = now
        lastSegment = list.segments.last.map { LastSegmentIdentity($0) } ?? lastSegment
        guard let targetDuration, targetDuration != list.targetDuration else { return [] }
        return [.targetDurationChanged(role, from: targetDuration, to: list.targetDuration)]
    }

    private mutating func recordAdMarkers(in list: MediaPlaylist, _ news: PlaylistUpdate, next: UInt64?) {
        let isClosing = cursor.hasEnded && news.firstFetched == nil
        trailingDateRanges = isClosing ? list.dateRanges(notWith: .max...) : []
        if news.isReset { lateCueTagCounter = LateCueTagCounter() }
        guard news.isContinuation else { return }
        counts.lateCueTags += lateCueTagCounter.countLateTags(in: list, before: next ?? 0, joined: news.firstFetched)
    }

    /// Of a finished list everything may have been had before.
    private func joined(_ list: MediaPlaylist, _ news: PlaylistUpdate) -> UpstreamEvent? {
        let end = news.isEnd ? list.window?.upperBound : nil
        guard let number = news.firstNew ?? cursor.next ?? end else { return nil }
        return .joined(
            .init(
                rendition: role, mediaSequence: number, targetDuration: list.targetDuration, isVOD: list.isComplete))
    }

    private mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment] = []) {
        queue.append(loss, of: segments, segmentDuration: assumedTargetDuration)
    }

    private mutating func apply(
        _ effect: SegmentCursor.Effect, _ list: MediaPlaylist, _ base: String, firstTaken: UInt64?, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        switch effect {
        case .fetch(let numbers):
            for number in numbers {
                let segment = list.segment(number)
                let ranges = number == firstTaken ? list.dateRanges(notWith: number...) : []
                queue.append(segment, try SegmentRequests(segment, base: base), dateRanges: ranges, at: now)
            }
        case .gap(let numbers):
            append(SegmentLoss(mediaSequences: numbers, reason: .gap), of: numbers.map { list.segment($0) })
        case .slidOut(let numbers): append(SegmentLoss(mediaSequences: numbers, reason: .slidOut))
        case .stale(let run):
            counts.stalePlaylists += 1
            return run == 1 ? [.stalePlaylist(role)] : []
        case .reset(let anchor):
            counts.resets += 1
            guard anchor == .url else {
                counts.discontinuities += 1
                queue.appendDiscontinuity()
                return [.reset(role, anchor)]
            }
            queue.renumber()
            return reportRenumbering(at: now)
        case .ended: return [.playlistEnded(role)]
        }
        return []
    }

    /// One that goes on counting anew is told of once.
    private mutating func reportRenumbering(at now: Duration) -> [UpstreamEvent] {
        defer { renumberedAt = now }
        guard let renumberedAt, now - renumberedAt < Self.renumberingReportInterval else { return [.reset(role, .url)] }
        return []
    }

    /// What the list says of when it is to be loaded again.
    private func outcome(of list: MediaPlaylist, grew: Bool, at now: Duration) -> ReloadSchedule.Load {
        let unchanged = ReloadSchedule.Load.unchanged(longestSegment: list.segments.lazy.map(\.duration).max())
        if cursor.hasEnded { return endListState.reopensUntil.map { now < $0 } ?? false ? unchanged : .complete }
        guard grew, let last = list.segments.last else { return unchanged }
        return .grew(lastSegment: last.duration)
    }

    /// The next thing to hand over, counted.
    mutating func popReady(_ shelf: ResourceCache) -> Delivery.Content? {
        guard let content = queue.popReady(shelf) else { return nil }
        switch content {
        case .segment: counts.delivered += 1
        case .lost(let loss):
            counts.lost += loss.count
            counts.discontinuities += 1
        case .ended, .outageGap: break
        }
        return content
    }
}

extension RenditionTracker {
    var status: UpstreamStatus.Rendition {
        var status = UpstreamStatus.Rendition(
            role: role, url: url, targetDuration: targetDuration, nextMediaSequence: cursor.next,
            loadedAt: lastPlaylistAt,
            hasEnded: cursor.hasEnded, queued: queue.count, inFlight: queue.inFlight, heldBytes: queue.heldBytes,
            counts: counts)
        if case .expecting(let since, let climbed) = stallEscalation.state {
            status.grewAt = since
            status.stallStep = climbed
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
