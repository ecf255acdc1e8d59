import Fetch
import Playlist
import Support

// Starts and settles the attempts for queued segments.

extension SegmentQueue {
    /// A segment for which an attempt can start.
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
        let (holdsBackNew, isFull) = (isFinished && hasUnfetched, isFullyStarted)
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
        if pending.startedAt == nil { addStarted(pending.segment.duration) }
        pending.start(as: id, byteLimit: byteLimit, at: now)
        startedEnd = max(startedEnd, startable.index + 1)
        entries[startable.index] = .segment(pending)
        inFlight += 1
        return (pending.requests, pending.retrySchedule.timeouts)
    }

    /// When the request for the head began; nil if there is none, or a second one raced it.
    var headStartedAt: Duration? {
        guard let attempt = headSegment?.attempt, !attempt.hasRaced else { return nil }
        return attempt.startedAt
    }

    /// The request for the head, if one is in flight that began before `time`, and no second one raced it.
    func lateHead(before time: Duration) -> FetchRequest? {
        guard let headStartedAt, headStartedAt <= time else { return nil }
        return headSegment?.requests.media
    }

    /// Adds a second request to the one that is in flight for the head.
    mutating func raceHead(as id: FetchID, byteLimit: Int) {
        guard case .segment(var pending) = entries[head] else { return }
        pending.race(as: id, byteLimit: byteLimit)
        entries[head] = .segment(pending)
        inFlight += 1
    }

    /// The bytes that requests in flight may bring, but for the first request of the head.
    var reservedBytes: Int { startedSegments.reduce(0) { $0 + $1.reservedBytes } }

    /// Forgets the requests in flight.
    mutating func abandonAttempts() {
        updatePending { $0.abandonAttempt() }
        inFlight = 0
    }

    /// Whether a started segment needs the key or map.
    func needs(_ resource: FetchRequest) -> Bool {
        startedSegments.contains { $0.requests.resources.contains(resource) }
    }

    /// The result of a request for a segment.
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
        if case .fetched(let body, _) = pending.progress { recordBody(byteCount: body.count) }
        return (failure.map { .failed($0) } ?? .fetched, pending.attempt == nil ? other : nil)
    }

    /// Retries what failed on a host that answers again.
    mutating func retryEarly(on host: String?, at now: Duration) {
        guard isWaitingForRetry else { return }
        for index in started.indices {
            guard case .segment(var pending) = entries[index],
                URIReference.host(of: pending.requests.media.url) == host
            else { continue }
            entries[index] = .discontinuity  // the body has one owner
            pending.retryEarly(at: now)
            entries[index] = .segment(pending)
        }
    }

    /// Whether a started segment failed and has not arrived.
    private var hasUnfetched: Bool {
        startedSegments.contains { $0.retrySchedule.failures > 0 && !$0.hasEnded }
    }

    private var isWaitingForRetry: Bool {
        startedSegments.contains { if case .pausing = $0.progress { true } else { false } }
    }

    /// The entries from the head on, up to the last segment for which an attempt was made. Each input looks at all of
    /// them.
    var started: ArraySlice<Entry> {
        let started = entries[head..<max(head, startedEnd)]
        StepCounter.add(started.count)
        return started
    }

    /// Whether no further segment is started before the head is delivered, however small the segments are.
    private var isFullyStarted: Bool { startedEnd - head >= Self.maxStarted }

    /// The largest number of segments that are started, the head among them.
    private static let maxStarted = 256

    /// The segments among them.
    var startedSegments: some Sequence<PendingSegment> {
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
}
