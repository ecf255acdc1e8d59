package import Fetch
import Playlist

/// One channel's intake: which playlists are followed, what is fetched when, and what is delivered in which order.
///
/// The session owns neither clock nor socket. A driver carries out the effects, and passes in the answers with the time
/// since the session began.
package struct UpstreamSession: Sendable {
    package enum Input: Sendable {
        /// The first input, passed once.
        case start
        case answered(FetchID, FetchOutcome)
        /// The outcome of an audio or video segment that was delivered, passed before any other input.
        case delivered(Delivery, DeliveryOutcome)
        /// The outcome that a probed segment would have, passed before any other input.
        case probed(Delivery, DeliveryOutcome)
        /// The time of the last `Effect.wake` has come.
        case wake
        /// Another source, of which this one is in an outage, needs the connections of its host for a trial.
        case pauseMedia
        case resumeMedia
    }

    package enum Effect: Equatable, Sendable {
        case fetch(FetchID, FetchRequest)
        /// Cancel a fetch. Its answer is ignored if it arrives nevertheless.
        case cancel(FetchID)
        /// Replaces any earlier wake. In session time, which may have passed already.
        case wake(at: Duration)
        case deliver(Delivery)
        /// Determine whether the segment could be published, without publishing it.
        case probe(Delivery)
        case report(UpstreamEvent)
        /// The last effect of a session.
        case end(SessionEnd)
    }

    enum State: Equatable, Sendable {
        case idle
        case opening(Opening)
        case following
        case over
    }

    /// The purpose of a fetch in flight.
    enum FetchTarget: Equatable, Sendable {
        case opening
        case multivariantReload
        case playlist(RenditionRole)
        case segment(RenditionRole, FetchRequest)
        case resource(FetchRequest)
    }

    /// A fetch in flight.
    struct Fetch: Equatable, Sendable {
        let target: FetchTarget
        let startedAt: Duration
    }

    /// The outcome of a fetch, with the time from its start.
    struct Answer: Sendable {
        let id: FetchID
        let outcome: FetchOutcome
        let took: Duration
    }

    let policy: Policy
    var state = State.idle
    var locator: PlaylistLocator
    /// Main first.
    var trackers: [RenditionTracker] = []
    var cache: ResourceCache
    var mediaStall: MediaStallEscalation
    /// The limiter of the whole channel, lent to each of its sessions for one step.
    var limiter: HostLimiter
    /// The fetches in flight.
    private(set) var fetches: [FetchID: Fetch] = [:]
    var transferTimes = TransferTimes()
    var pacing = ErrorPacing()
    var subtitleHold = SubtitleHold()
    /// Whether no media, keys and maps are requested.
    private(set) var isMediaPaused = false
    /// Segments of audio and video that were handed downstream, until their outcome is known.
    var delivering = DeliveringSegments()
    var failedResourceTries = 0
    /// Faults of all answers, and of all requests without an answer.
    var faults: [FetchFault: Int] = [:]
    /// Irregularities of the multivariant playlist.
    private var irregularityLog = IrregularityLog()
    private let firstFetch: UInt64
    private(set) var fetchCount: UInt64 = 0
    private var effects = EffectBuffer()

    /// - Parameters:
    ///   - upstream: absolute URL of a multivariant or a media playlist.
    ///   - number: the session's number among those of its channel.
    package init(upstream: String, policy: Policy, number: UInt64 = 0) {
        self.policy = policy
        firstFetch = number * FetchID.perSession
        cache = ResourceCache(byteLimit: policy.limits.resourceBytes, seed: policy.seed)
        mediaStall = MediaStallEscalation(giveUp: policy.giveUp)
        limiter = HostLimiter(maxConnections: policy.maxConnections)
        locator = PlaylistLocator(
            upstream: upstream, choice: policy.variant, maxSubtitles: policy.maxSubtitles,
            followsAudio: policy.followsAudio)
    }

    /// - Parameter now: time since the session began; never decreases.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        guard state != .over else { return [] }
        switch input {
        case .start: open(at: now)
        case .answered(let id, let outcome): settle(id, outcome, at: now)
        case .delivered(let delivery, let outcome): recordOutcome(delivery, outcome, at: now)
        case .probed: break
        case .wake: effects.wakeFired()
        case .pauseMedia: pauseMedia(at: now)
        case .resumeMedia: isMediaPaused = false
        }
        performDue(at: now)
        if state != .over { effects.scheduleWake(for: deadlines(after: now), after: now) }
        return effects.drain()
    }

    private mutating func settle(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        let answer = Answer(id: id, outcome: outcome, took: now - fetch.startedAt)
        report(limiter.ended(id, outcome, at: now).map { UpstreamEvent($0) })
        switch fetch.target {
        case .opening: settleOpening(id, outcome, at: now)
        case .multivariantReload: settleMultivariantReload(outcome, at: now)
        case .playlist(let role): settlePlaylist(role, outcome, at: now)
        case .segment(let role, let request): settleSegment(role, request, answer, at: now)
        case .resource(let request): settleResource(request, answer, at: now)
        }
    }

    /// Ends the session without effects. Returns the fetches in flight.
    mutating func abandon() -> [FetchID] {
        state = .over
        defer { fetches = [:] }
        for id in fetches.keys { limiter.canceled(id) }
        return fetches.keys.sorted()
    }
}

// MARK: - Effects

extension UpstreamSession {
    /// The identifier of the next fetch.
    var nextID: FetchID { FetchID(number: firstFetch + fetchCount + 1) }

    /// - Parameters:
    ///   - timeouts: requests for the resource that timed out in a row; nil: it is no media, key or map.
    ///   - isRace: whether another request for the same resource is in flight.
    ///   - byteLimit: the largest body, if it is less than the configured one.
    mutating func fetch(
        _ request: FetchRequest, for target: FetchTarget, timeouts: Int? = nil, isRace: Bool = false,
        byteLimit: Int? = nil, at now: Duration
    ) {
        fetches[nextID] = Fetch(target: target, startedAt: now)
        var request = request
        request.silenceLimit = timeouts.map { transferTimes.silenceLimit(after: $0) } ?? watchingLimit
        request.byteLimit = byteLimit
        request.needsNewConnection = isRace || (timeouts ?? 0) > 0
        effects.append(.fetch(nextID, request))
        limiter.began(nextID, request.url)
        if timeouts != nil { pacing.began(request.url, at: now) }
        fetchCount += 1
    }

    /// The silence limit of a session that only watches playlists, so that it does not keep a connection that others
    /// wait for; nil if it fetches media or connections are not limited.
    private var watchingLimit: Duration? {
        policy.fetchesMedia || limiter.maxConnections == nil ? nil : .seconds(2)
    }

    private mutating func pauseMedia(at now: Duration) {
        isMediaPaused = true
        for (id, fetch) in fetches.sorted(by: { $0.key < $1.key }) where fetch.target.isMedia { cancel(id) }
        for index in trackers.indices { trackers[index].queue.abandonAttempts() }
        cache.abandonAttempts(at: now)
    }

    mutating func cancel(_ id: FetchID?) {
        guard let id, fetches.removeValue(forKey: id) != nil else { return }
        limiter.canceled(id)
        effects.append(.cancel(id))
    }

    mutating func report(_ event: UpstreamEvent?) { effects.report(event) }

    mutating func deliver(_ content: Delivery.Content, of role: RenditionRole) {
        effects.append(.deliver(Delivery(rendition: role, content: content)))
    }

    mutating func count(_ fault: FetchFault?) {
        if let fault { faults[fault, default: 0] += 1 }
    }

    /// Counts a multivariant playlist with irregularities, and reports the new ones.
    mutating func recordIrregularities(of playlist: MultivariantPlaylist) {
        if let main = index(of: .main) {
            trackers[main].counts.droppedByLimit.merge(playlist.dropped, uniquingKeysWith: +)
        }
        for (limit, count) in irregularityLog.recordNew(playlist.dropped) {
            report(.playlistLimitExceeded(nil, limit, dropped: count))
        }
        guard !playlist.irregularities.isEmpty else { return }
        if let main = index(of: .main) { trackers[main].counts.irregularPlaylists += 1 }
        for error in irregularityLog.recordNew(playlist.irregularities) { report(.playlistIrregular(nil, error)) }
    }

    mutating func finish(_ end: SessionEnd) {
        guard state != .over else { return }
        for id in fetches.keys.sorted() { cancel(id) }
        state = .over
        effects.append(.end(end))
    }

    func index(of role: RenditionRole) -> Int? { trackers.firstIndex { $0.role == role } }
}

extension UpstreamSession.FetchTarget {
    fileprivate var isMedia: Bool {
        switch self {
        case .segment, .resource: true
        case .opening, .multivariantReload, .playlist: false
        }
    }
}

extension UpstreamEvent {
    init(_ change: HostLimiter.Change) {
        self =
            switch change {
            case .limited(let host, let status, let pause): .hostLimited(host: host, status: status, pause: pause)
            case .ended(let host, let answers): .hostLimitEnded(host: host, answers: answers)
            }
    }
}
