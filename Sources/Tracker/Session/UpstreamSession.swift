package import Playlist

/// The name of one fetch, unique within its channel; of one session, in the order in which they were asked for.
package struct FetchID: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// Far more than one session will ever make: those of session `n` of a channel count from `n * perSession`.
    static let perSession: UInt64 = 1 << 40

    package init(number: UInt64) { self.number = number }

    package static func < (left: FetchID, right: FetchID) -> Bool { left.number < right.number }
}

/// One channel's intake: which playlists are followed, what is fetched when, what is handed on in which order.
///
/// It owns neither clock nor socket. A driver carries out the effects and brings back the answers, with the time that
/// has passed since the session began.
package struct UpstreamSession: Sendable {
    package struct Policy: Equatable, Sendable {
        package var variant: VariantChoice
        /// Silence after which the session gives up; nil: it never does.
        package var giveUp: Duration?
        /// Segments fetched at once, of picture and sound together; each subtitle rendition has one of its own.
        package var maxInFlight: Int
        /// Bytes of segments fetched or being fetched ahead of the one that is due.
        package var maxInFlightBytes: Int
        /// Requests of any kind to one host at once; nil: as many as there are.
        package var maxConnections: Int?
        /// How long a playlist may be without segments when it is opened.
        package var noSegmentsLimit: Duration
        /// How often and how long opening is tried before the first media playlist is read.
        package var openingTries: Int
        package var openingLimit: Duration
        /// Subtitle renditions that are followed; those listed after them are not.
        package var maxSubtitles: Int
        /// False to follow the playlists only: nothing of what they list is fetched or delivered.
        package var fetchesMedia = true
        /// The audio rendition of the variant's group is followed beside it.
        package var followsAudio: Bool
        /// What lies before was had from another source, or by another process.
        package var joinPoint = JoinPoint.edge

        package init(
            variant: VariantChoice, giveUp: Duration? = nil, maxInFlight: Int = 4, maxInFlightBytes: Int = 64 << 20,
            noSegmentsLimit: Duration = .seconds(30), openingTries: Int = 4, openingLimit: Duration = .seconds(9),
            maxSubtitles: Int = 8, maxConnections: Int? = nil, followsAudio: Bool = true
        ) {
            self.maxConnections = maxConnections
            self.followsAudio = followsAudio
            self.maxSubtitles = maxSubtitles
            self.variant = variant
            self.giveUp = giveUp
            self.maxInFlight = maxInFlight
            self.maxInFlightBytes = maxInFlightBytes
            self.noSegmentsLimit = noSegmentsLimit
            self.openingTries = openingTries
            self.openingLimit = openingLimit
        }
    }

    package enum Input: Sendable {
        /// First, and once.
        case start
        case answered(FetchID, FetchOutcome)
        /// What became of a segment of picture or sound, which was delivered; before anything else happens.
        case delivered(Delivery, DeliveryOutcome)
        /// What would become of a segment that was to be examined; before anything else happens.
        case probed(Delivery, DeliveryOutcome)
        /// The time of the last `Effect.wake` has come.
        case wake
    }

    package enum Effect: Equatable, Sendable {
        case fetch(FetchID, FetchRequest)
        /// The answer is no longer wanted, and is ignored if it comes nevertheless.
        case cancel(FetchID)
        /// Replaces any earlier wake. In session time, which may have passed already.
        case wake(at: Duration)
        case deliver(Delivery)
        /// Nothing is published of it, but whether it could be is asked for.
        case probe(Delivery)
        case report(UpstreamEvent)
        /// Nothing follows.
        case end(SessionEnd)
    }

    enum State: Equatable, Sendable {
        case idle
        case opening(Opening)
        case following
        case over
    }

    /// Until the first media playlist is read, trouble is fatal after a few tries.
    struct Opening: Equatable, Sendable {
        /// Nil until its host could be asked.
        var deadline: Duration?
        /// When the upstream's own address is fetched, again or at first.
        var retryAt: Duration?
        let began: Duration
        var backoff = Backoff()
        var lastError: TrackerError?
    }

    /// What a fetch in flight is for.
    enum FetchTarget: Equatable, Sendable {
        case opening
        case multivariantReload
        case playlist(RenditionRole)
        case segment(RenditionRole, FetchRequest)
        case resource(FetchRequest)
    }

    let policy: Policy
    var phase = State.idle
    var locator: PlaylistLocator
    /// Main first.
    var trackers: [RenditionTracker] = []
    var cache = ResourceCache()
    /// Of what the main one lists.
    var mediaStall: MediaStallEscalation
    /// Of the whole channel: handed over for each step where it has several sessions.
    var limiter: HostLimiter
    var fetchTargets: [FetchID: FetchTarget] = [:]
    var failedResourceTries = 0
    /// Of every answer, and of every request that had none.
    var faults: [FetchFault: Int] = [:]
    private let firstFetch: UInt64
    private var fetchCount: UInt64 = 0
    private var effects = EffectBuffer()

    /// - Parameters:
    ///   - upstream: absolute address of a multivariant or a media playlist.
    ///   - number: among the sessions of its channel.
    package init(upstream: String, policy: Policy, number: UInt64 = 0) {
        self.policy = policy
        firstFetch = number * FetchID.perSession
        mediaStall = MediaStallEscalation(giveUp: policy.giveUp)
        limiter = HostLimiter(maxConnections: policy.maxConnections)
        locator = PlaylistLocator(
            upstream: upstream, choice: policy.variant, mostSubtitles: policy.maxSubtitles,
            followsAudio: policy.followsAudio)
    }

    /// - Parameter now: time since the session began; never goes back.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        guard phase != .over else { return [] }
        switch input {
        case .start: open(at: now)
        case .answered(let id, let outcome):
            if let errand = fetchTargets.removeValue(forKey: id) {
                report(limiter.ended(id, outcome, at: now))
                settle(errand, id, outcome, at: now)
            }
        case .delivered(let delivery, let reception):
            recordOutcome(delivery, reception, at: now)
        case .probed: break
        case .wake: effects.wakeFired()
        }
        if phase != .over { performDue(at: now) }
        if phase != .over { scheduleWake(at: now) }
        return effects.drain()
    }

    private mutating func settle(_ errand: FetchTarget, _ id: FetchID, _ outcome: FetchOutcome, at now: Duration) {
        switch errand {
        case .opening: settleOpening(id, outcome, at: now)
        case .multivariantReload: settleMultivariantReload(outcome, at: now)
        case .playlist(let role): settlePlaylist(role, outcome, at: now)
        case .segment(let role, let request): settleSegment(role, id, request, outcome, at: now)
        case .resource(let request): settleResource(request, id, outcome, at: now)
        }
    }

    /// Everything that is due by now.
    private mutating func performDue(at now: Duration) {
        for event in limiter.endExpiredLimits(at: now) { report(event) }
        checkDeadlines(at: now)
        guard phase != .over else { return }
        escalatePlaylistStalls(at: now)
        guard phase != .over else { return }
        escalateMediaStall(at: now)
        guard phase != .over else { return }
        startPlaylists(at: now)
        guard policy.fetchesMedia else { return discardMedia() }
        deliver(at: now)
        // Before and after: what a segment waits for goes first where little may be fetched at once.
        startResources(at: now)
        startSegments(at: now)
        startResources(at: now)
        endIfDrained(at: now)
    }

    private mutating func scheduleWake(at now: Duration) {
        var deadlines =
            trackers.map { $0.nextDeadline(after: now) }
            + [locator.nextDeadline, cache.nextDeadline, noSegmentsDeadline, limiter.nextDeadline(after: now)]
            + [mediaStall.nextDeadline]
        if case .opening(let opening) = phase { deadlines += [opening.deadline, opening.retryAt] }
        effects.scheduleWake(for: deadlines, after: now)
    }
}

// MARK: - Effects

extension UpstreamSession {
    /// The name the next fetch will bear.
    var nextID: FetchID { FetchID(number: firstFetch + fetchCount + 1) }

    mutating func fetch(_ request: FetchRequest, for errand: FetchTarget) {
        fetchTargets[nextID] = errand
        effects.append(.fetch(nextID, request))
        limiter.began(nextID, request.url)
        fetchCount += 1
    }

    mutating func count(_ fault: FetchFault?) {
        if let fault { faults[fault, default: 0] += 1 }
    }

    mutating func cancel(_ id: FetchID?) {
        guard let id, fetchTargets.removeValue(forKey: id) != nil else { return }
        limiter.cancelled(id)
        effects.append(.cancel(id))
    }

    mutating func report(_ event: UpstreamEvent?) { effects.report(event) }

    mutating func deliver(_ content: Delivery.Content, of role: RenditionRole) {
        effects.append(.deliver(Delivery(rendition: role, content: content)))
    }

    mutating func finish(_ end: SessionEnd) {
        guard phase != .over else { return }
        for id in fetchTargets.keys.sorted() { cancel(id) }
        phase = .over
        effects.append(.end(end))
    }

    /// Ends it without a word. Returns the fetches in flight.
    mutating func abandon() -> [FetchID] {
        phase = .over
        defer { fetchTargets = [:] }
        for id in fetchTargets.keys { limiter.cancelled(id) }
        return fetchTargets.keys.sorted()
    }

    /// The last step that the main playlist's silence led to; nil while it is on time, or nothing is expected of it.
    var mainStall: StallEscalation.Step? { trackers.first?.stallEscalation.lastStep }

    /// The main playlist lists nothing new, or nothing of what it lists can be published, and the last step before
    /// giving up was taken.
    var isInOutage: Bool { [mainStall, mediaStall.climbed].contains { $0.map { $0 >= .outage } ?? false } }

    func index(of role: RenditionRole) -> Int? { trackers.firstIndex { $0.role == role } }
}

// MARK: - Status

extension UpstreamSession {
    package var status: UpstreamStatus {
        let phase: UpstreamStatus.Phase =
            switch self.phase {
            case .idle: .idle
            case .opening: .opening
            case .following: .following
            case .over: .over
            }
        return UpstreamStatus(
            phase: phase, variant: locator.variant, audio: locator.audio, subtitles: locator.subtitles,
            renditions: trackers.map(\.status),
            failedResourceTries: failedResourceTries, multivariantReads: locator.reads,
            requests: Int(clamping: fetchCount), faults: faults, maxConnections: policy.maxConnections,
            meteredAnswers: limiter.rateLimitedAnswers, rateLimitedHosts: limiter.status, stall: trouble,
            hasPublished: mediaStall.hasPublished)
    }

    /// Of two, the one that is further on.
    private var trouble: UpstreamStatus.Stall? {
        if case .opening(let opening) = phase {
            return opening.lastError.map { .init(cause: .opening($0), step: .late, since: opening.began) }
        }
        var troubles: [UpstreamStatus.Stall] = []
        if let main = trackers.first, case .expecting(let since, let step?) = main.stallEscalation.state {
            troubles.append(.init(cause: .playlist(main.load.lastFailure), step: step, since: since))
        }
        if let step = mediaStall.climbed, let since = mediaStall.silentSince {
            troubles.append(.init(cause: .media(mediaStall.reason), step: step, since: since))
        }
        return troubles.max { $0.step < $1.step }
    }
}
