import Playlist

/// One media playlist of the channel: where it is, when it is loaded, what is still owed from it.
struct RenditionTracker: Sendable {
    enum Load: Equatable, Sendable {
        case due(at: Duration)
        case loading(FetchID, until: Duration)
        /// Nothing will be added to it.
        case complete
    }

    let role: RenditionRole
    private(set) var address: String
    private(set) var load: Load
    private(set) var targetDuration: Duration?
    private(set) var firstListAt: Duration?
    private(set) var lastListAt: Duration?
    private(set) var cursor: SegmentCursor
    var ladder: StallLadder
    var queue = SegmentQueue()
    var counts = TrackerCounts()
    var hasDeliveredEnd = false
    /// It was live and has ended; it may begin again up to then.
    private(set) var reopensUntil: Duration?
    private var isLive = false
    private var schedule = ReloadSchedule()
    /// Of the last load; nil when it went well.
    private(set) var lastFailure: TrackerError?
    /// The last segment that a list had.
    private(set) var lastListed: ListedEnd?
    /// When the numbers began anew last, and addresses said how.
    private var renumberedAt: Duration?
    private var cueTags = CueTagMemory()
    /// Of the last list, when it brought nothing else.
    private var closingDateRanges: [DateRange] = []

    /// - Parameter joinsAt: as the cursor's; subtitles begin well before the picture in any case.
    init(
        _ role: RenditionRole, address: String, giveUp: Duration?, joinsAt: JoinPoint = .edge, at now: Duration
    ) {
        self.role = role
        self.address = address
        load = .due(at: now)
        cursor = SegmentCursor(policy: role.cursorPolicy, joinsAt: role.isSubtitles ? .edge : joinsAt)
        ladder = StallLadder(giveUp: role == .main ? giveUp : nil)
    }

    /// The playlist's own, or what the standard's examples have, as long as none was read.
    var assumedTargetDuration: Duration { targetDuration ?? .seconds(6) }

    /// Waited for a load longer than this, an origin is asked anew.
    private var loadLimit: Duration { max(.seconds(10), assumedTargetDuration * 2) }

    /// What the end has to bring, because no segment did.
    var dateRangesAtEnd: [DateRange] { queue.undeliveredDateRanges + closingDateRanges }

    /// Nothing more to come, and nothing left to hand over.
    func isDrained(at now: Duration) -> Bool {
        cursor.hasEnded && queue.isEmpty && reopensUntil.map { $0 <= now } ?? true
    }

    /// A live channel that ended is asked for so long whether it begins again: an encoder that is started anew writes an
    /// ENDLIST first. As long as anything else may be silent: viewers play on meanwhile.
    private static let reopening = TargetDurations.halves(7)

    /// After so long without it, counting anew is news again.
    private static let calm = Duration.seconds(60)
}

extension MediaPlaylist {
    /// EXT-X-TARGETDURATION, or what its last segments last where that is more; but no more than a few times as much.
    fileprivate var usualDuration: Duration {
        let longest = segments.suffix(3).map(\.duration).max() ?? .zero
        return max(targetDuration, min(longest, targetDuration * 4))
    }
}

/// By what one knows a list that has ended from another one: the last segment that it has.
struct ListedEnd: Equatable, Sendable {
    private let mediaSequence: UInt64
    /// Without its query, which may be signed anew each time.
    private let path: Substring

    init(_ segment: MediaSegment) {
        mediaSequence = segment.mediaSequence
        path = segment.uri.prefix { $0 != "?" }
    }
}

// MARK: - Loading

extension RenditionTracker {
    mutating func startLoad(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard case .due(let at) = load, at <= now else { return nil }
        beganLoad(as: id, at: now)
        return FetchRequest(.mediaPlaylist, url: address)
    }

    /// A load started elsewhere turned out to be this playlist's.
    mutating func beganLoad(as id: FetchID, at now: Duration) {
        load = .loading(id, until: now + loadLimit)
        schedule.began(at: now)
        counts.loads += 1
    }

    /// The load in flight has taken too long, or its address is no longer wanted.
    mutating func abandonLoad(at now: Duration) -> FetchID? {
        guard case .loading(let id, _) = load else { return nil }
        load = .due(at: now)
        return id
    }

    /// It is not asked any more.
    mutating func close() { load = .complete }

    var overdueLoad: Duration? {
        if case .loading(_, let until) = load { until } else { nil }
    }

    func nextDeadline(after now: Duration) -> Duration? {
        var deadlines = [ladder.nextDeadline, queue.nextRetry(after: now), reopensUntil]
        switch load {
        case .due(let at), .loading(_, until: let at): deadlines.append(at)
        case .complete: break
        }
        return deadlines.compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Follows the same rendition elsewhere: the cursor stays. Returns a load to cancel.
    mutating func move(to address: String, at now: Duration) -> FetchID? {
        // A finished list has new addresses, if any, for what was refused; nothing else of it is read again.
        guard !cursor.hasEnded || queue.awaitsList, address != self.address || lastFailure != nil || queue.awaitsList
        else { return nil }
        self.address = address
        let abandoned = abandonLoad(at: now)
        load = .due(at: now)
        return abandoned
    }

    /// What was refused may have another address by now.
    mutating func reloadSoon(at now: Duration) {
        if case .due(let at) = load { load = .due(at: min(at, schedule.earliest(at: now))) }
    }

    /// The last load did not fail in the same way.
    func isNews(_ error: TrackerError) -> Bool { !(lastFailure?.isSameTrouble(as: error) ?? false) }

    /// - Parameters:
    ///   - retryAfter: as the answer says; honoured as long as a segment's would be.
    ///   - retry: when to load again, if not by the schedule.
    mutating func loadFailed(
        _ error: TrackerError, retryAfter: Duration? = nil, at now: Duration, retry: Duration? = nil
    ) -> UpstreamEvent? {
        counts.failedLoads += 1
        let next = schedule.next(after: .failed, targetDuration: assumedTargetDuration, at: now)
        let asked = now + min(retryAfter ?? .zero, RetryBudget.span(assumedTargetDuration))
        load = (retry ?? next).map { .due(at: max($0, asked)) } ?? .complete
        defer { lastFailure = error }
        return isNews(error) ? .playlistFailed(role, error) : nil
    }
}

// MARK: - Reading a list

extension RenditionTracker {
    /// Takes what a list has that is new.
    mutating func accept(
        _ list: MediaPlaylist, base: String, _ shelf: ResourceShelf, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        let (next, hadEnded) = (cursor.next, cursor.hasEnded)
        let hadJoined = next != nil
        let effects = cursor.handle(list, at: now)
        var events = note(list, at: now)
        if !effects.contains(where: \.isStaleOrReset) { queue.refresh(from: list, base: base, shelf) }
        let news = effects.compactMap(\.firstNew)
        let firstTaken = effects.compactMap(\.firstTaken).first
        if role == .main { noteMarks(list, effects, next: next, firstTaken: firstTaken) }
        if hadEnded, !cursor.hasEnded { events.append(.begunAgain(role)) }
        for effect in effects { events += try apply(effect, list, base, firstTaken: firstTaken, at: now) }
        // Of a finished list everything may have been had before.
        let end = effects.contains(.ended) ? list.window?.upperBound : nil
        if !hadJoined, let first = news.first ?? cursor.next ?? end { events.append(joined(list, at: first)) }
        if !news.isEmpty {
            // Where segments are longer than they may be, the list is not late for that.
            if let silence = ladder.grew(targetDuration: list.usualDuration, at: now) {
                events.append(.resumed(role, silence: silence))
            }
        }
        noteEnd(list, brings: !news.isEmpty, at: now)
        scheduleNext(list, grew: !news.isEmpty, at: now)
        return events
    }

    private mutating func noteEnd(_ list: MediaPlaylist, brings news: Bool, at now: Duration) {
        if !list.isComplete { isLive = true }
        guard cursor.hasEnded else {
            reopensUntil = nil
            return
        }
        ladder.stop()
        if isLive, news || reopensUntil == nil { reopensUntil = now + list.targetDuration * Self.reopening }
    }

    private mutating func note(_ list: MediaPlaylist, at now: Duration) -> [UpstreamEvent] {
        defer { targetDuration = list.targetDuration }
        lastFailure = nil
        firstListAt = firstListAt ?? now
        lastListAt = now
        lastListed = list.segments.last.map { ListedEnd($0) } ?? lastListed
        guard let targetDuration, targetDuration != list.targetDuration else { return [] }
        return [.targetDurationChanged(role, from: targetDuration, to: list.targetDuration)]
    }

    private mutating func noteMarks(
        _ list: MediaPlaylist, _ effects: [SegmentCursor.Effect], next: UInt64?, firstTaken: UInt64?
    ) {
        let isClosing = cursor.hasEnded && firstTaken == nil
        closingDateRanges = isClosing ? list.dateRanges(notWith: .max...) : []
        if effects.contains(where: \.isReset) { cueTags = CueTagMemory() }
        guard !effects.contains(where: \.isStaleOrReset) else { return }
        counts.lateCueTags += cueTags.note(list, before: next ?? 0, joined: firstTaken)
    }

    private func joined(_ list: MediaPlaylist, at number: UInt64) -> UpstreamEvent {
        .joined(
            .init(
                rendition: role, mediaSequence: number, targetDuration: list.targetDuration, isVOD: list.isComplete))
    }

    private mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment] = []) {
        queue.append(loss, of: segments, lasting: assumedTargetDuration)
    }

    private mutating func apply(
        _ effect: SegmentCursor.Effect, _ list: MediaPlaylist, _ base: String, firstTaken: UInt64?, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        switch effect {
        case .take(let numbers):
            for number in numbers {
                let segment = list.segment(number)
                let ranges = number == firstTaken ? list.dateRanges(notWith: number...) : []
                queue.append(segment, try SegmentRequests(segment, base: base), dateRanges: ranges, at: now)
            }
        case .gap(let numbers):
            append(SegmentLoss(mediaSequences: numbers, reason: .gap), of: numbers.map { list.segment($0) })
        case .slid(let numbers): append(SegmentLoss(mediaSequences: numbers, reason: .slidOut))
        case .stale(let run):
            counts.staleLists += 1
            return run == 1 ? [.staleList(role)] : []
        case .reset(let anchor):
            counts.resets += 1
            guard anchor == .address else {
                counts.seams += 1
                queue.appendSeam()
                return [.reset(role, anchor)]
            }
            queue.renumber()
            return noteRenumbering(at: now)
        case .ended: return [.endListed(role)]
        }
        return []
    }

    /// One that goes on counting anew is told of once.
    private mutating func noteRenumbering(at now: Duration) -> [UpstreamEvent] {
        defer { renumberedAt = now }
        guard let renumberedAt, now - renumberedAt < Self.calm else { return [.reset(role, .address)] }
        return []
    }

    private mutating func scheduleNext(_ list: MediaPlaylist, grew: Bool, at now: Duration) {
        let unchanged = ReloadSchedule.Load.unchanged(longestSegment: list.segments.lazy.map(\.duration).max())
        let outcome: ReloadSchedule.Load
        if cursor.hasEnded {
            outcome = reopensUntil.map { now < $0 } ?? false ? unchanged : .complete
        } else if grew, let last = list.segments.last {
            outcome = .grew(lastSegment: last.duration)
        } else {
            outcome = unchanged
        }
        load =
            schedule.next(after: outcome, targetDuration: list.targetDuration, at: now).map { .due(at: $0) }
            ?? .complete
    }

    /// The next thing to hand over, counted.
    mutating func popReady(_ shelf: ResourceShelf) -> Delivery.Content? {
        guard let content = queue.popReady(shelf) else { return nil }
        switch content {
        case .segment: counts.delivered += 1
        case .lost(let loss):
            counts.lost += loss.count
            counts.seams += 1
        case .ended, .missing: break
        }
        return content
    }
}

extension RenditionTracker {
    var status: UpstreamStatus.Rendition {
        var status = UpstreamStatus.Rendition(
            role: role, url: address, targetDuration: targetDuration, nextMediaSequence: cursor.next,
            loadedAt: lastListAt,
            hasEnded: cursor.hasEnded, queued: queue.count, inFlight: queue.inFlight, heldBytes: queue.heldBytes,
            counts: counts)
        if case .expecting(let since, let climbed) = ladder.state {
            status.grewAt = since
            status.stall = climbed
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

extension SegmentCursor.Effect {
    fileprivate var isStaleOrReset: Bool {
        switch self {
        case .stale, .reset: true
        case .take, .gap, .slid, .ended: false
        }
    }

    fileprivate var isReset: Bool {
        if case .reset = self { true } else { false }
    }

    /// The first media sequence number of what is fetched.
    fileprivate var firstTaken: UInt64? {
        if case .take(let numbers) = self { numbers.lowerBound } else { nil }
    }

    /// The first media sequence number of what is new.
    fileprivate var firstNew: UInt64? {
        switch self {
        case .take(let numbers), .gap(let numbers): numbers.lowerBound
        case .slid, .stale, .reset, .ended: nil
        }
    }
}
