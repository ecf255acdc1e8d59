import Fetch
import Playlist
import Support

/// Follows one media playlist of the channel: its URL, its loads, and its segments that are not delivered yet.
struct RenditionTracker: Sendable {
    let role: RenditionRole
    private(set) var url: String
    var load: PlaylistLoad
    /// The wall-clock date of session time zero; nil if unknown.
    private let startDate: ProgramDateTime?
    private var targetDuration: Duration?
    private(set) var firstPlaylistAt: Duration?
    private var lastPlaylistAt: Duration?
    private(set) var cursor: SegmentCursor
    private let joinPoint: JoinPoint
    var stallEscalation: StallEscalation
    var queue: SegmentQueue
    var queueLimit = Int.max
    /// How often a manifest says that it is updated: as long may nothing new be listed; zero if the clock alone adds segments,
    /// and for a playlist of HLS.
    var updateInterval = Duration.zero
    /// The media time that the last playlist listed.
    private var window = Duration.zero
    var counts = TrackerCounts()
    var hasDeliveredEnd = false
    /// Knows when a gap would be listed if only this rendition counted.
    private var outageTimer = OutageTimer(tolerance: .beforeGaps)
    private var endListState = EndListState.finished
    /// EXT-X-MEDIA-SEQUENCE of the last playlist.
    private var mediaSequence: UInt64?
    private(set) var lastSegment: LastSegmentIdentity?
    /// The time at which the numbers restarted last with known URLs.
    private var renumberedAt: Duration?
    private var periods = UpstreamPeriods()
    private var lateCueTagCounter = LateCueTagCounter()
    private var irregularityLog = IrregularityLog()
    /// The date ranges of the last playlist, if it listed no new segment.
    private var trailingDateRanges: [DateRange] = []

    /// Subtitles begin well before the video in any case, and keep to the standard's schedule.
    init(_ role: RenditionRole, url: String, joinPoint: JoinPoint, _ policy: UpstreamSession.Policy, at now: Duration) {
        queue = SegmentQueue(seed: policy.seed)
        self.role = role
        self.url = url
        startDate = policy.startDate
        load = PlaylistLoad(role.isSubtitles ? .standard : policy.effectivePolling, at: now)
        self.joinPoint = role.isSubtitles ? .edge : joinPoint
        cursor = SegmentCursor(policy: role.cursorPolicy, joinPoint: self.joinPoint)
        stallEscalation = StallEscalation(giveUp: role == .main ? policy.giveUp : nil)
    }

    /// The playlist's target duration, or that of the standard's examples before a playlist was read.
    var assumedTargetDuration: Duration { targetDuration ?? .seconds(6) }

    /// The date ranges that no delivered segment carried.
    var dateRangesAtEnd: [DateRange] { queue.skipped.allDateRanges + trailingDateRanges }

    /// Whether nothing follows and everything was delivered.
    func isDrained(at now: Duration) -> Bool {
        cursor.hasEnded && queue.isEmpty && endListState.reopensUntil.map { $0 <= now } ?? true
    }

    /// Whether it was live, and has ended a moment ago.
    var mayReopen: Bool { endListState.reopensUntil != nil }

    /// Whether a playlist was read that has segments or has ended.
    var isJoined: Bool { cursor.next != nil || cursor.hasEnded }

    /// Whether none of its playlists was read yet.
    var isUnopened: Bool { firstPlaylistAt == nil }

    /// Whether its first playlist is being fetched, for the first time.
    var isBeingOpened: Bool { firstPlaylistAt == nil && load.isInFlight && load.failures.last == nil }

    /// Whether the queue is empty and the playlist is in an outage, or was never joined.
    var isSilent: Bool {
        guard queue.isEmpty else { return false }
        switch stallEscalation.state {
        case .idle: return true
        case .expecting(_, let step): return step.map { $0 >= .outage } ?? false
        }
    }

    /// Whether its playlist or its next segment is being fetched, and has not failed.
    var isOnItsWay: Bool { load.isInFlight || !queue.isEmpty && !queue.isRetrying }

    /// Records that a playlist arrived. Returns its new irregularities, and the change of its target duration.
    private mutating func record(_ playlist: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = playlist.targetDuration }
        firstPlaylistAt = firstPlaylistAt ?? now
        lastPlaylistAt = now
        if !playlist.segments.isEmpty {
            window = playlist.segments.reduce(.zero) { $0 + min($1.duration, .seconds(3600)) }
        }
        lastSegment = playlist.segments.last.map { LastSegmentIdentity($0) } ?? lastSegment
        if !playlist.irregularities.isEmpty { counts[.irregularPlaylists] += 1 }
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
    mutating func popReady(_ cache: ResourceCache, at now: Duration) -> SegmentQueue.Ready? {
        guard let ready = queue.popReady(cache) else { return nil }
        switch ready {
        case .segment(let delivered):
            counts[.segmentsDelivered] += 1
            outageTimer.recordDelivery(
                delivered.segment.duration, targetDuration: assumedTargetDuration, at: now)
        case .lost(let loss): counts.record(loss)
        }
        return ready
    }

    /// When a gap would be listed if nothing more is delivered; nil before the first segment.
    var gapAt: Duration? { outageTimer.deadline(assumedTargetDuration) }

    /// Removes and counts the segment to deliver next, which is not waited for any longer.
    mutating func loseHead(_ cause: SegmentLoss.Cause, _ cache: ResourceCache) -> SegmentLoss? {
        guard let loss = queue.loseHead(cause, cache) else { return nil }
        counts.record(loss)
        return loss
    }

    /// The rule for the segments of this rendition. The video does not wait for subtitles of a live channel, and those of
    /// a finished playlist are not waited for as long as audio.
    func patience(_ configured: Duration?, isFinished: Bool) -> SegmentPatience {
        let ofSubtitles = assumedTargetDuration * (isFinished ? 1 : 2)
        return SegmentPatience(
            configured: role.isSubtitles ? min(configured ?? ofSubtitles, ofSubtitles) : configured,
            targetDuration: assumedTargetDuration, window: window, isFinished: isFinished)
    }

    var status: UpstreamStatus.Rendition {
        var status = UpstreamStatus.Rendition(
            role: role, url: url, targetDuration: targetDuration, nextMediaSequence: cursor.next,
            loadedAt: lastPlaylistAt,
            hasEnded: cursor.hasEnded, queued: queue.count, inFlight: queue.inFlight, heldBytes: queue.totals.heldBytes,
            counts: counts, polling: load.polling)
        status.counts.lostDurations = queue.totals.lostDurations
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
        case .audio, .furtherAudio, .furtherVideo: .companion
        case .subtitles: .subtitles
        }
    }
}

// MARK: - Loads

extension RenditionTracker {
    mutating func startLoad(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard load.isDue(at: now) else { return nil }
        beganLoad(as: id, at: now)
        return load.request(URIReference.withoutFragment(url), longestHold: longestHold)
    }

    /// Records the start of a load, which may have started before its answer was known to be this playlist.
    mutating func beganLoad(as id: FetchID, at now: Duration) {
        load.began(as: id, limit: loadLimit, longestHold: longestHold, at: now)
        counts[.playlistLoads] += 1
    }

    /// The time limit of a load, after which the playlist is requested again.
    private var loadLimit: Duration { max(.seconds(10), assumedTargetDuration * 2) }

    /// The time for which a server may hold back its answer to a blocking reload.
    private var longestHold: Duration {
        min(assumedTargetDuration * BlockingReload.targetDurationsHeld, BlockingReload.longestHold)
    }

    func nextDeadline(after now: Duration) -> Duration? {
        var next: Duration?
        func consider(_ deadline: Duration?) {
            if let deadline, deadline > now { next = min(next ?? deadline, deadline) }
        }
        consider(stallEscalation.nextDeadline)
        consider(queue.nextRetry(after: now))
        consider(endListState.reopensUntil)
        consider(load.deadline)
        return next
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
        counts[.failedPlaylistLoads] += 1
        let pause = min(retryAfter ?? .zero, loadLimit)
        let isNew = load.failed(error, pause: pause, retry: retry, targetDuration: assumedTargetDuration, at: now)
        return isNew ? .playlistFailed(role, error) : nil
    }

    /// Schedules the next load after a playlist was read.
    private mutating func finishLoad(
        of playlist: MediaPlaylist, _ update: [SegmentCursor.Effect], _ freshness: CacheFreshness, at now: Duration
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
        if playlist.canBlockReload { reading.blockingNext = playlist.window?.upperBound }
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

// MARK: - Updates

extension RenditionTracker {
    /// Queues what is new in a playlist. Returns the events that it causes.
    ///
    /// - Parameter freshness: of the answer; nil: no load brought the playlist, which follows from the manifest and the time.
    mutating func accept(
        _ playlist: MediaPlaylist, base: String, _ freshness: CacheFreshness?, _ cache: ResourceCache, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        // Nothing follows the end that was delivered, even if the load was under way.
        if hasDeliveredEnd {
            load.close()
            return []
        }
        let (next, hadEnded, hadGrown) = (cursor.next, cursor.hasEnded, cursor.hasGrown)
        let update = cursor.handle(playlist, at: now)
        let grew = update.firstNew != nil
        var events = record(playlist, at: now)
        if freshness != nil { load.succeeded() }
        if update.isContinuation { queue.refresh(from: playlist, base: base, cache, at: now) }
        if role == .main { recordAdMarkers(in: playlist, update, next: next) }
        if hadEnded, !cursor.hasEnded { events.append(.playlistReopened(role)) }
        defer { mediaSequence = playlist.mediaSequence }
        for effect in update {
            events += try apply(
                effect, playlist, base, firstFetched: update.firstFetched, after: next, cache, at: now)
        }
        if !hadGrown, let number = update.firstNew {
            queue.recordJoin(
                repeatable: joinPoint.repeatable(in: playlist, from: number),
                isAfterDiscontinuity: joinPoint.isOfOtherVariant)
        }
        if next == nil, let joined = joined(playlist, update) { events.append(joined) }
        // Segments longer than the target duration do not make the playlist late.
        let growthInterval = max(playlist.typicalDuration, updateInterval)
        if grew, let silence = stallEscalation.restart(targetDuration: growthInterval, at: now) {
            events.append(.resumed(role, silence: silence))
        }
        if cursor.hasEnded { stallEscalation.stop() }
        endListState.update(from: playlist, hasEnded: cursor.hasEnded, hasNewSegments: grew, at: now)
        if let freshness { finishLoad(of: playlist, update, freshness, at: now) }
        return events
    }

    private mutating func recordAdMarkers(
        in playlist: MediaPlaylist, _ update: [SegmentCursor.Effect], next: UInt64?
    ) {
        let isClosing = cursor.hasEnded && update.firstFetched == nil
        trailingDateRanges = isClosing ? playlist.dateRanges(notWith: .max...) : []
        if update.isReset { lateCueTagCounter = LateCueTagCounter() }
        guard update.isContinuation else { return }
        counts[.lateCueTags] += lateCueTagCounter.countLateTags(
            in: playlist, before: next ?? 0, joined: update.firstFetched)
    }

    /// Returns the event for the first playlist. A finished one may have no segment that was not received before.
    private func joined(_ playlist: MediaPlaylist, _ update: [SegmentCursor.Effect]) -> UpstreamEvent? {
        let end = update.contains(.ended) ? playlist.window?.upperBound : nil
        guard let number = update.firstNew ?? cursor.next ?? end else { return nil }
        return .joined(
            .init(
                rendition: role, mediaSequence: number, targetDuration: playlist.targetDuration,
                isVOD: playlist.isComplete && endListState == .finished))
    }

    private mutating func apply(
        _ effect: SegmentCursor.Effect, _ playlist: MediaPlaylist, _ base: String, firstFetched: UInt64?,
        after next: UInt64?, _ cache: ResourceCache, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        switch effect {
        case .fetch(let numbers):
            try append(numbers, of: playlist, base, firstFetched: firstFetched, at: now)
            return []
        case .gap(let numbers):
            append(
                SegmentLoss(mediaSequences: numbers, reason: .gap, cause: .gap),
                of: numbers.map { playlist.segment($0) })
            return []
        case .slidOut(let numbers):
            periods.endPeriod()
            append(SegmentLoss(mediaSequences: numbers, reason: .slidOut, cause: .leftPlaylist))
            return []
        case .stale(let count):
            counts[.stalePlaylists] += 1
            return count == 1 ? [.stalePlaylist(role)] : []
        case .reset(let method): return reset(method, in: playlist, base, cache, after: next, at: now)
        case .ended: return [.playlistEnded(role)]
        }
    }

    private mutating func append(
        _ numbers: Range<UInt64>, of playlist: MediaPlaylist, _ base: String, firstFetched: UInt64?, at now: Duration
    ) throws(TrackerError) {
        let excess = min(numbers.count, max(0, queue.count + numbers.count - queueLimit))
        if excess > 0 {
            let lost = numbers.lowerBound..<numbers.lowerBound + UInt64(excess)
            append(SegmentLoss(mediaSequences: lost, reason: .tooMany, cause: .permanent))
        }
        let kept = numbers.dropFirst(excess)
        var previous: SegmentRequests?
        for number in kept {
            let segment = playlist.segment(number)
            let isFirst = number == kept.first && firstFetched.map(numbers.contains) == true
            let ranges = isFirst ? playlist.dateRanges(notWith: number...) : []
            do throws(UnsupportedKey) {
                let requests = try SegmentRequests(
                    segment, base: base, period: periods.period(of: segment), after: previous)
                queue.append(segment, requests, dateRanges: ranges, at: now)
                previous = requests
            } catch {
                throw TrackerError(error, of: number, playlist: base)
            }
        }
    }

    private mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment] = []) {
        queue.append(loss, of: segments, segmentDuration: assumedTargetDuration)
    }

    private mutating func reset(
        _ method: SegmentCursor.RejoinMethod, in playlist: MediaPlaylist, _ base: String, _ cache: ResourceCache,
        after next: UInt64?, at now: Duration
    ) -> [UpstreamEvent] {
        counts[.sequenceResets] += 1
        let isAhead = next.map { playlist.mediaSequence > $0 } ?? false
        let isBack = mediaSequence.map { playlist.mediaSequence < $0 } ?? false
        let event = UpstreamEvent.reset(role, method, isBack ? .back : isAhead ? .ahead : .reused)
        guard method == .url else {
            counts[.discontinuities] += 1
            periods.endPeriod()
            if method == .programDateTime {
                queue.rename(from: playlist, base: base, cache, at: now)
            } else {
                queue.remove(at: now)
            }
            queue.appendReset(repeatable: method.repeatable(in: playlist))
            return [event]
        }
        queue.renumber()
        return isRenumberingReported(at: now) ? [event] : []
    }

    /// The time without renumbering after which it is reported again.
    private static let renumberingReportInterval = Duration.seconds(60)

    /// Whether a renumbering is reported: only the first of a playlist that renumbers at each refresh.
    private mutating func isRenumberingReported(at now: Duration) -> Bool {
        defer { renumberedAt = now }
        return renumberedAt.map { now - $0 >= Self.renumberingReportInterval } ?? true
    }
}

extension MediaPlaylist {
    /// EXT-X-TARGETDURATION, or the longest of the last segments if that is longer, up to four times as long.
    fileprivate var typicalDuration: Duration {
        let longest = segments.suffix(3).map(\.duration).max() ?? .zero
        return max(targetDuration, min(longest, targetDuration * 4))
    }
}

/// Counts the periods of an upstream, each of which may have another init section and another key of the same name.
struct UpstreamPeriods: Sendable {
    private var count = 0
    private var lastDiscontinuity: UInt64?
    private var isOver = false

    /// The next segment is of another period: the upstream restarted its numbers, or it is not known what was before.
    mutating func endPeriod() { isOver = true }

    /// Returns the discontinuities before a segment. Segments are asked for in the order of their playlist.
    mutating func period(of segment: MediaSegment) -> Int {
        let isOther = lastDiscontinuity.map { $0 != segment.discontinuitySequence } ?? false
        if isOver || isOther || segment.isDiscontinuous { count += 1 }
        (lastDiscontinuity, isOver) = (segment.discontinuitySequence, false)
        return count
    }
}

/// Counts cue tags that an upstream adds to a segment after it was fetched, too late to be passed on in place.
struct LateCueTagCounter: Sendable {
    /// The first media sequence number that was fetched; nil before.
    private var firstFetched: UInt64?
    /// Cue tag lines by media sequence number, as listed last.
    private var tagLines: [UInt64: [String]] = [:]

    /// Returns how many cue tags are new on segments that were fetched before.
    ///
    /// - Parameters:
    ///   - next: the first media sequence number that was not fetched before `playlist` arrived.
    ///   - joined: the first number that is fetched from `playlist`.
    mutating func countLateTags(in playlist: MediaPlaylist, before next: UInt64, joined: UInt64?) -> Int {
        firstFetched = firstFetched ?? joined
        let old = tagLines
        tagLines = [:]
        var late = 0
        for segment in playlist.segments where !segment.unknownTags.isEmpty {
            let (number, cues) = (segment.mediaSequence, segment.cueTags.map(\.line))
            tagLines[number] = cues
            guard let firstFetched, (firstFetched..<max(firstFetched, next)).contains(number) else { continue }
            let known = Set(old[number] ?? [])
            StepCounter.add(known.count + cues.count)
            late += cues.count { !known.contains($0) }
        }
        return late
    }
}
