import Fetch
import Playlist
import Support

/// The segments of one rendition that are listed and not delivered yet, in playlist order.
///
/// Fetches may end in any order. Only the head is delivered.
struct SegmentQueue: Sendable {
    private enum Entry: Sendable {
        case segment(PendingSegment)
        /// Lost segments, and those of them that were listed.
        case loss(SegmentLoss, [MediaSegment])
        /// The upstream restarted its numbers here. The segments after it may repeat so much published media.
        case reset(repeatable: Duration)

        /// Stands in for an entry that is being changed, or that was delivered.
        static let placeholder = Entry.reset(repeatable: .zero)
    }

    /// Entries before `head` were delivered and hold nothing.
    private var entries: [Entry] = []
    private var head = 0
    private(set) var skipped = SkippedSegments()
    private(set) var inFlight = 0
    /// The index after the last entry for which an attempt was made.
    private var startedEnd = 0
    /// Segments in a row that were much shorter than their EXTINF and no longer at the next attempt: the EXTINFs are wrong.
    private var shortRetriesInVain = 0
    private static let maxShortRetriesInVain = 2
    private(set) var totals = SegmentTotals()
    /// When another rendition delivered media that waits for the head; nil if none did since the last delivery.
    private var otherDeliveredAt: Duration?
    private let seed: UInt64

    init(seed: UInt64 = 0) { self.seed = seed }

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }

    /// - Parameter dateRanges: those of the playlist, if this is the first segment that the playlist added.
    mutating func append(
        _ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange] = [], at now: Duration
    ) {
        entries.append(.segment(PendingSegment(segment, requests, dateRanges: dateRanges, seed: seed, at: now)))
    }

    mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment], segmentDuration: Duration) {
        var loss = loss
        loss.duration = segments.reduce(.zero) { $0 + SegmentTotals.bounded($1.duration) }
        entries.append(.loss(loss, segments))
        if segments.isEmpty { totals.addLost(segmentDuration, loss.cause, count: loss.count) }
        for segment in segments { totals.addLost(segment.duration, loss.cause) }
        totals.addStarted(segmentDuration, count: loss.count)
    }

    /// Appends a restart of the numbers, after which those of the queued segments mean nothing.
    /// - Parameter repeatable: as of `TrackedSegment`.
    mutating func appendReset(repeatable: Duration) { entries.append(.reset(repeatable: repeatable)) }

    /// Records that later playlists do not list the queued segments.
    mutating func remove(at now: Duration) { updatePending { $0.remove(at: now) } }

    /// Records that later playlists list the queued segments under other numbers and names, as far as `playlist` lists them by
    /// their dates.
    mutating func rename(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache, at now: Duration) {
        updatePending { $0.rename(from: playlist, base: base, cache, at: now) }
    }

    /// Records that the next segment to deliver is the first of a join.
    /// - Parameters:
    ///   - repeatable: as of `TrackedSegment`.
    ///   - isAfterDiscontinuity: whether the media before it was of another playlist.
    mutating func recordJoin(repeatable: Duration, isAfterDiscontinuity: Bool) {
        skipped.repeatable = repeatable
        if isAfterDiscontinuity { skipped.isAfterDiscontinuity = true }
    }

    /// Records that later playlists list the queued segments under other numbers.
    mutating func renumber() { updatePending { $0.renumber() } }

    mutating func refresh(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache, at now: Duration) {
        updatePending { $0.refresh(from: playlist, base: base, cache, at: now) }
    }

    /// Whether the URL of a segment was refused and a newer playlist may have another one.
    var awaitsPlaylist: Bool {
        entries[head...].contains { entry in
            if case .segment(let pending) = entry { pending.awaitsPlaylist } else { false }
        }
    }

    /// The next segment to deliver; nil if a loss or a discontinuity precedes it.
    private var headSegment: PendingSegment? {
        guard head < entries.count, case .segment(let pending) = entries[head] else { return nil }
        return pending
    }

    /// The media sequence number of the segment to deliver next; nil if none is listed.
    var headNumber: UInt64? {
        entries[head...].lazy.compactMap { entry in
            if case .segment(let pending) = entry { pending.segment.mediaSequence } else { nil }
        }.first
    }

    var isRetrying: Bool {
        headSegment.map { $0.retrySchedule.failures > 0 } ?? false
    }

    private mutating func updatePending(_ update: (inout PendingSegment) -> Void) {
        StepCounter.add(count)
        for index in head..<entries.count {
            guard case .segment(var pending) = entries[index] else { continue }
            entries[index] = .placeholder  // the body has one owner
            update(&pending)
            entries[index] = .segment(pending)
        }
    }

    // MARK: - Attempts

    struct Startable {
        fileprivate let index: Int
        /// Whether nothing can be delivered before this segment, so that it may not be held back.
        let isHead: Bool
    }

    /// The number of segments after the started ones among which one is searched whose host may be requested.
    private static let maxSearched = 64

    /// Returns the first segment for which an attempt can start. If requests to its host are spaced, that is the one
    /// that was requested least recently.
    ///
    /// - Parameter isFinished: whether the playlist has ended. Its segments stay, so that new ones wait for those that
    ///   fail.
    func startable(_ admission: FetchAdmission, isFinished: Bool = false) -> Startable? {
        // A started segment failed and has not arrived.
        let holdsBackNew = isFinished && startedSegments.contains { $0.retrySchedule.failures > 0 && !$0.hasEnded }
        // However small the segments are.
        let isFull = startedEnd - head >= Self.maxStarted
        var spaced: (index: Int, startedAt: Duration)?
        let startedEnd = started.endIndex
        for index in head..<min(entries.count, startedEnd + Self.maxSearched) {
            guard case .segment(let pending) = entries[index], pending.isDue(at: admission.now),
                admission.admits(pending.requests.media.url)
            else { continue }
            let isSpaced = admission.isSpaced(pending.requests.media.url)
            if index >= startedEnd, isFull || isSpaced && holdsBackNew { continue }
            if pending.waitsForHead, index != head { continue }
            guard isSpaced, let startedAt = pending.startedAt else {
                return Startable(index: index, isHead: index == head)
            }
            if startedAt < spaced?.startedAt ?? .seconds(1 << 40) { spaced = (index, startedAt) }
        }
        return spaced.map { Startable(index: $0.index, isHead: $0.index == head) }
    }

    /// Starts an attempt as `id`. Returns all requests of its segment, and its timeouts in a row.
    mutating func start(
        _ startable: Startable, as id: FetchID, byteLimit: Int? = nil, at now: Duration
    ) -> (requests: SegmentRequests, timeouts: Int)? {
        guard case .segment(var pending) = entries[startable.index] else { return nil }
        if pending.startedAt == nil {
            totals.addStarted(pending.segment.duration)
            totals.addOpen(pending.segment.duration)
        }
        pending.start(as: id, byteLimit: byteLimit, at: now)
        startedEnd = max(startedEnd, startable.index + 1)
        entries[startable.index] = .segment(pending)
        inFlight += 1
        return (pending.requests, pending.retrySchedule.timeouts)
    }

    /// The first segment that neither came nor failed: the next to deliver once those before it are delivered or lost.
    private var nextUnfailed: Int? {
        started.indices.first { index in
            guard case .segment(let pending) = entries[index] else { return false }
            return !pending.isFetched && pending.retrySchedule.failures == 0
        }
    }

    /// When the request for a segment began; nil if there is none, or a second one raced it.
    private func raceableSince(_ index: Int) -> Duration? {
        guard entries.indices.contains(index), case .segment(let pending) = entries[index],
            let attempt = pending.attempt, !attempt.hasRaced
        else { return nil }
        return attempt.startedAt
    }

    /// When the first request began that a second one may race: that for the head, or for the first after it that did not fail.
    var raceableSince: Duration? {
        let next = nextUnfailed.flatMap(raceableSince)
        return raceableSince(head).map { min($0, next ?? $0) } ?? next
    }

    /// The first of these segments whose request began before `time`.
    func late(before time: Duration) -> (index: Int, request: FetchRequest)? {
        func isLate(_ index: Int) -> Bool { raceableSince(index).map { $0 <= time } ?? false }
        guard let index = isLate(head) ? head : nextUnfailed.flatMap({ isLate($0) ? $0 : nil }),
            case .segment(let pending) = entries[index]
        else { return nil }
        return (index, pending.requests.media)
    }

    /// Adds a second request to the one that is in flight for a segment.
    mutating func race(_ index: Int, as id: FetchID, byteLimit: Int) {
        guard case .segment(var pending) = entries[index] else { return }
        pending.race(as: id, byteLimit: byteLimit)
        entries[index] = .segment(pending)
        inFlight += 1
    }

    /// The bytes that requests in flight may bring, but for the first request of the head.
    var reservedBytes: Int { startedSegments.reduce(0) { $0 + $1.reservedBytes } }

    mutating func abandonAttempts() {
        updatePending { $0.abandonAttempt() }
        inFlight = 0
    }

    /// Whether a started segment needs the key or map.
    func needs(_ resource: SegmentResource) -> Bool {
        startedSegments.contains { $0.requests.resources.contains(resource) }
    }

    enum Settlement: Equatable, Sendable {
        case fetched
        /// The body is too large to be held. The segment is fetched again when nothing is delivered before it.
        case postponed
        case failed(FailedAttempt)
    }

    /// Records the end of a request. Returns nil if no segment waits for it.
    ///
    /// - Returns: `superseded` is the request that raced the one that ended, to be canceled.
    mutating func settle(
        _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) -> (settlement: Settlement, superseded: FetchID?)? {
        guard let index = index(of: id), case .segment(var pending) = entries[index] else { return nil }
        let requestCount = pending.attempt?.ids.count ?? 0
        let other = pending.attempt?.removing(id)?.first
        if pending.postpone(id, after: outcome, at: now) {
            entries[index] = .segment(pending)
            inFlight -= requestCount - (pending.attempt?.ids.count ?? 0)
            return (.postponed, pending.attempt == nil ? other : nil)
        }
        let failure = pending.settle(
            id, request, outcome, acceptsShort: shortRetriesInVain >= Self.maxShortRetriesInVain, at: now)
        if let helped = pending.shortRetryHelped { shortRetriesInVain = helped ? 0 : shortRetriesInVain + 1 }
        entries[index] = .segment(pending)
        inFlight -= requestCount - (pending.attempt?.ids.count ?? 0)
        if case .fetched(let body, _) = pending.progress { totals.hold(byteCount: body.count) }
        return (failure.map { .failed($0) } ?? .fetched, pending.attempt == nil ? other : nil)
    }

    /// Retries what failed on a host that answers again.
    mutating func retryEarly(on host: String?, at now: Duration) {
        guard startedSegments.contains(where: { if case .pausing = $0.progress { true } else { false } }) else {
            return
        }
        for index in started.indices {
            guard case .segment(var pending) = entries[index],
                URIReference.host(of: pending.requests.media.url) == host
            else { continue }
            entries[index] = .placeholder  // the body has one owner
            pending.retryEarly(at: now)
            entries[index] = .segment(pending)
        }
    }

    /// The entries from the head on, up to the last segment for which an attempt was made. Each input looks at all of
    /// them.
    private var started: ArraySlice<Entry> {
        let started = entries[head..<max(head, startedEnd)]
        StepCounter.add(started.count)
        return started
    }

    /// The largest number of segments that are started, the head among them.
    private static let maxStarted = 256

    /// The segments among them.
    private var startedSegments: some Sequence<PendingSegment> {
        started.lazy.compactMap { if case .segment(let pending) = $0 { pending } else { nil } }
    }

    /// Returns the end of the next pause between two attempts that has not passed by `now`.
    func nextRetry(after now: Duration) -> Duration? {
        startedSegments.compactMap { pending in
            if case .pausing(let until, _) = pending.progress, until > now { until } else { nil }
        }.min()
    }

    private func index(of id: FetchID) -> Int? {
        started.firstIndex { entry in
            if case .segment(let pending) = entry { pending.attempt?.ids.contains(id) ?? false } else { false }
        }
    }

    // MARK: - Delivery

    enum Ready {
        case segment(TrackedSegment)
        case lost(SegmentLoss)
    }

    /// The keys and maps that the head needs, once its body was fetched.
    var headResources: [SegmentResource] {
        guard let headSegment, case .fetched = headSegment.progress else { return [] }
        return headSegment.requests.resources
    }

    mutating func popReady(_ cache: ResourceCache) -> Ready? {
        while head < entries.count {
            switch entries[head] {
            case .reset(let repeatable):
                skipped.isAfterDiscontinuity = true
                skipped.repeatable = max(skipped.repeatable, repeatable)
                pop()
            case .loss(let loss, let segments):
                skipped.recordLoss(of: segments)
                pop()
                return .lost(loss)
            case .segment(let pending): return popReady(pending, cache)
            }
        }
        return nil
    }

    private mutating func popReady(_ pending: PendingSegment, _ cache: ResourceCache) -> Ready? {
        switch pending.progress {
        case .waiting, .fetching, .pausing: return nil
        case .failed: return .lost(lose(pending, .permanent, cache))
        case .fetched(let body, let url):
            if pending.requests.resources.contains(where: { cache.state(of: $0) == .failed }) {
                return .lost(lose(pending, .permanent, cache))
            }
            guard cache.holds(pending.requests.resources) else { return nil }
            let segment = tracked(pending, body: body, url: url, cache)
            skipped = SkippedSegments()
            pop()
            return .segment(segment)
        }
    }

    private func tracked(
        _ pending: PendingSegment, body: [UInt8], url: String, _ cache: ResourceCache
    ) -> TrackedSegment {
        let requests = pending.requests
        return TrackedSegment(
            segment: pending.segment, url: url, body: body,
            key: cache.body(of: requests.key), keyURL: requests.key?.request.url, map: cache.body(of: requests.map),
            mapKey: cache.body(of: requests.mapKey), mapKeyURL: requests.mapKey?.request.url,
            isAfterDiscontinuity: skipped.isAfterDiscontinuity, repeatable: skipped.repeatable,
            listedAt: pending.listedAt,
            skippedSegments: skipped.segments,
            listedDateRanges: skipped.listedDateRanges + pending.listedDateRanges)
    }

    private mutating func pop() {
        if case .segment(let pending) = entries[head] {
            if case .fetched(let body, _) = pending.progress { totals.heldBytes -= body.count }
            if pending.startedAt != nil { totals.removeOpen(pending.segment.duration) }
        }
        otherDeliveredAt = nil
        entries[head] = .placeholder  // frees the body
        head += 1
        guard head == entries.count || head >= 64 && head * 2 > entries.count else { return }
        entries.removeFirst(head)
        startedEnd = max(0, startedEnd - head)
        head = 0
    }

    // MARK: - Loss

    /// Records which segments could be delivered, but for the head.
    mutating func updateReadiness(_ cache: ResourceCache, at now: Duration) {
        for index in started.indices.dropFirst() {
            guard case .segment(var pending) = entries[index], pending.readyAt == nil,
                case .fetched = pending.progress, cache.holds(pending.requests.resources)
            else { continue }
            pending.readyAt = now
            entries[index] = .segment(pending)
        }
    }

    /// Records that another rendition delivered media at `now`, which waits for the head if that fails.
    mutating func otherDelivered(_ cache: ResourceCache, at now: Duration) {
        if patienceHead(cache)?.firstFailureAt != nil { otherDeliveredAt = otherDeliveredAt ?? now }
    }

    /// The segment to deliver next, as `SegmentPatience` judges it; nil if there is none.
    func patienceHead(_ cache: ResourceCache) -> SegmentPatience.Head? {
        guard let pending = headSegment else { return nil }
        let failing = pending.failing(cache)
        let isOnItsWay = pending.attempt != nil || failing.resource.map(cache.isFetching) ?? false
        return SegmentPatience.Head(
            duration: pending.segment.duration, listedAt: pending.listedAt, heldSince: heldSince(by: pending),
            firstFailureAt: failing.schedule.firstFailureAt,
            isRefused: failing.schedule.isRefused && !isOnItsWay, retryAfter: failing.schedule.retryAfter,
            removedAt: failing.resource.map(isListed) ?? false ? nil : pending.removedAt)
    }

    /// The first segment after the head that could be delivered, but for the head; nil if none could.
    var nextReady: MediaSegment? { startedSegments.dropFirst().first { $0.readyAt != nil && $0.isFetched }?.segment }

    /// Whether a listed segment after the head needs a key or map, so that the origin is asked for it on.
    private func isListed(_ resource: SegmentResource) -> Bool {
        entries[head...].dropFirst().contains { entry in
            guard case .segment(let pending) = entry, pending.removedAt == nil else { return false }
            return pending.requests.resources.contains { $0.request == resource.request }
        }
    }

    /// Since when the head holds up media; nil if it holds up nothing, or could not be fetched yet.
    private func heldSince(by pending: PendingSegment) -> Duration? {
        let held = (startedSegments.dropFirst().compactMap(\.readyAt) + [otherDeliveredAt].compactMap { $0 }).min()
        guard let held, pending.waitsForHead else { return held }
        return pending.headStartedAt.map { max($0, held) }
    }

    /// Ends the attempts for the head with the short body that it has, if any. Returns whether it has one.
    mutating func acceptHeldBody() -> Bool {
        guard var pending = headSegment else { return false }
        let requestCount = headRequests.count
        guard pending.acceptHeldBody() else { return false }
        entries[head] = .segment(pending)
        inFlight -= requestCount
        if case .fetched(let body, _) = pending.progress { totals.hold(byteCount: body.count) }
        return true
    }

    var headRequests: [FetchID] { headSegment?.attempt?.ids ?? [] }

    /// The duration of the head, and that of all segments from it to the next discontinuity; nil if it is no segment.
    var listedDurations: (head: Duration, all: Duration)? {
        guard let first = headSegment else { return nil }
        var all = Duration.zero
        for entry in entries[head...] {
            StepCounter.add(1)
            guard case .segment(let pending) = entry else { break }
            all += SegmentTotals.bounded(pending.segment.duration)
        }
        return (SegmentTotals.bounded(first.segment.duration), all)
    }

    /// The dates of the head, in milliseconds since 1970; nil if it has none, or is no segment.
    var headDates: Range<Int64>? {
        guard let segment = headSegment?.segment, let date = segment.programDateTime else { return nil }
        let end = date.advanced(by: segment.duration)
        return date.millisecondsSince1970..<max(date.millisecondsSince1970, end.millisecondsSince1970)
    }

    /// Removes the head, which is not waited for any longer. Returns the loss; nil if the head is no segment.
    mutating func loseHead(_ cause: SegmentLoss.Cause, _ cache: ResourceCache) -> SegmentLoss? {
        headSegment.map { lose($0, cause, cache) }
    }

    /// Removes `pending`, which is the head. Returns the loss.
    private mutating func lose(
        _ pending: PendingSegment, _ cause: SegmentLoss.Cause, _ cache: ResourceCache
    ) -> SegmentLoss {
        let number = pending.segment.mediaSequence
        inFlight -= headRequests.count
        totals.addLost(pending.segment.duration, cause)
        skipped.recordLoss(of: [pending.segment], listedDateRanges: pending.listedDateRanges)
        pop()
        return SegmentLoss(
            mediaSequences: number..<number + 1, reason: cause == .late ? .late : pending.lossReason(cache),
            cause: cause,
            duration: SegmentTotals.bounded(pending.segment.duration))
    }
}

extension PendingSegment {
    /// The attempts for the media or, once it was fetched, for the first key or map that is missing.
    fileprivate func failing(_ cache: ResourceCache) -> (resource: SegmentResource?, schedule: RetrySchedule) {
        guard case .fetched = progress else { return (nil, retrySchedule) }
        let schedules = requests.resources.lazy.map { (resource: $0, schedule: cache.retrySchedule(of: $0)) }
        guard let failing = schedules.first(where: { $0.schedule.map { $0.failures > 0 } ?? false }),
            let schedule = failing.schedule
        else { return (nil, RetrySchedule(seed: 0)) }
        return (failing.resource, schedule)
    }

    fileprivate func lossReason(_ cache: ResourceCache) -> SegmentLoss.Reason {
        guard case .fetched = progress, let missing = requests.resources.first(where: { !cache.holds([$0]) }) else {
            return retrySchedule.lastFailure?.lossReason ?? .unavailable(nil)
        }
        return missing.request.lossReason(cache.retrySchedule(of: missing)?.lastFailure)
    }
}
