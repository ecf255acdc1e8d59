import DASH
import Fetch

/// The requests of a session: those in flight, what their hosts permit, and how they ended.
///
/// Requests leave as effects, together with the session's reports and deliveries, in the order of `EffectBuffer`.
struct SessionRequests: Sendable {
    /// The purpose of a request in flight.
    enum Target: Equatable, Sendable {
        case opening
        case multivariantReload
        case playlist(RenditionRole)
        case segment(RenditionRole, FetchRequest)
        case resource(FetchRequest)
        /// The time of the server of a manifest.
        case clock
        /// The segment index of a representation of a manifest.
        case segmentIndex(SegmentIndexRequest)
        /// The upstream's own URL, which is a stream.
        case stream

        /// The rendition whose playlist or segment it is.
        fileprivate var rendition: RenditionRole? {
            switch self {
            case .playlist(let role), .segment(let role, _): role
            case .opening, .multivariantReload, .resource, .clock, .segmentIndex, .stream: nil
            }
        }

        fileprivate var isMedia: Bool {
            switch self {
            case .segment, .resource: true
            case .opening, .multivariantReload, .playlist, .clock, .segmentIndex, .stream: false
            }
        }
    }

    struct Answer: Sendable {
        let id: FetchID
        let target: Target
        let outcome: FetchOutcome
        let took: Duration
    }

    /// The limiter of the whole channel, lent to each of its sessions for one step.
    var limiter: HostLimiter
    private var inFlight: [FetchID: (target: Target, startedAt: Duration)] = [:]
    private let first: UInt64
    private(set) var count: UInt64 = 0
    private var transferTimes = TransferTimes()
    private var pacing = ErrorPacing()
    /// Faults of all answers, and of all requests without an answer.
    private(set) var faults: [FetchFault: Int] = [:]
    /// The silence limit of a session that only watches playlists, so that it does not keep a connection that others
    /// wait for; nil if it fetches media or connections are not limited.
    private let watchingLimit: Duration?
    /// Whether the last effect of the session was appended.
    private(set) var isOver = false
    private var effects = EffectBuffer()
    /// The file whose origin sends no parts of it, and its size; nil: there is none.
    var forwardFile: (url: String, byteCount: UInt64)?

    init(_ policy: UpstreamSession.Policy, number: UInt64) {
        first = number * FetchID.perSession
        limiter = HostLimiter(maxConnections: policy.maxConnections, countsAllHosts: policy.countsAllHosts)
        watchingLimit = policy.fetchesMedia || policy.maxConnections == nil ? nil : .seconds(2)
    }

    var nextID: FetchID { FetchID(number: first + count + 1) }

    /// Whether the host of a playlist may be asked now.
    func admits(_ url: String, at now: Duration) -> Bool { limiter.admits(url, at: now) }

    /// Whether media, keys and maps may be requested now.
    func admission(at now: Duration) -> FetchAdmission { FetchAdmission(limiter: limiter, pacing: pacing, now: now) }

    var lateAfter: Duration { transferTimes.lateAfter }

    /// - Parameters:
    ///   - timeouts: requests for the resource that timed out in a row; nil: it is no media, key or map.
    ///   - isRace: whether another request for the same resource is in flight.
    ///   - byteLimit: the largest body, if it is less than the configured one.
    ///   - revalidation: what is known of the resource, if it may have changed.
    mutating func start(
        _ request: FetchRequest, for target: Target, timeouts: Int? = nil, isRace: Bool = false, byteLimit: Int? = nil,
        revalidation: FetchRequest.Revalidation? = nil, at now: Duration
    ) {
        inFlight[nextID] = (target, now)
        var request = request
        request.silenceLimit = timeouts.map { transferTimes.silenceLimit(after: $0) } ?? watchingLimit
        (request.byteLimit, request.revalidation) = (byteLimit, revalidation)
        request.acceptsStream = (target == .opening || target == .stream) && request.byteRange == nil
        if let forwardFile, request.byteRange != nil, request.url == forwardFile.url {
            request.wholeByteCount = forwardFile.byteCount
        }
        request.needsNewConnection = isRace || (timeouts ?? 0) > 0
        effects.append(.fetch(nextID, request))
        limiter.began(nextID, request.url)
        if timeouts != nil { pacing.began(request.url, at: now) }
        count += 1
    }

    func target(of id: FetchID) -> Target? { inFlight[id]?.target }

    mutating func setTarget(of id: FetchID, to target: Target) { inFlight[id]?.target = target }

    /// Records the end of a request. Returns nil if it is not in flight.
    mutating func settle(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) -> Answer? {
        guard let (target, startedAt) = inFlight.removeValue(forKey: id) else { return nil }
        report(limiter.ended(id, outcome, at: now).map { UpstreamEvent($0) })
        return Answer(id: id, target: target, outcome: outcome, took: now - startedAt)
    }

    /// Records that media, a key or a map has arrived.
    mutating func recordSuccess(of request: FetchRequest, took duration: Duration) {
        transferTimes.append(duration)
        pacing.succeeded(request.url)
    }

    /// Records a failed request for media, a key or a map.
    mutating func recordFailure(_ failure: FetchFailure, of request: FetchRequest, at now: Duration) {
        recordFault(FetchFault(failure))
        if [.open, .newURL].contains(failure.prospect) { pacing.failed(request.url, at: now) }
    }

    mutating func recordFault(_ fault: FetchFault?) {
        if let fault { faults[fault, default: 0] += 1 }
    }

    mutating func endHostLimits(at now: Duration) {
        for change in limiter.endExpiredLimits(at: now) { report(UpstreamEvent(change)) }
    }

    mutating func cancel(_ id: FetchID?) {
        guard let id, inFlight.removeValue(forKey: id) != nil else { return }
        limiter.canceled(id)
        effects.append(.cancel(id))
    }

    /// Cancels the requests for the playlist and the segments of a rendition.
    mutating func cancelAll(of role: RenditionRole) {
        for (id, request) in inFlight.sorted(by: { $0.key < $1.key }) where request.target.rendition == role {
            cancel(id)
        }
    }

    mutating func cancelMedia() {
        for (id, request) in inFlight.sorted(by: { $0.key < $1.key }) where request.target.isMedia { cancel(id) }
    }

    // MARK: - Other effects

    mutating func report(_ event: UpstreamEvent?) { effects.report(event) }

    mutating func deliver(_ content: Delivery.Content, of role: RenditionRole) {
        effects.append(.deliver(Delivery(rendition: role, content: content)))
    }

    mutating func wakeFired() { effects.wakeFired() }

    mutating func finish(_ end: SessionEnd) {
        guard !isOver else { return }
        for id in inFlight.keys.sorted() { cancel(id) }
        isOver = true
        effects.append(.end(end))
    }

    /// Ends the session without effects. Returns the requests in flight.
    mutating func abandon() -> [FetchID] {
        isOver = true
        defer { inFlight = [:] }
        for id in inFlight.keys { limiter.canceled(id) }
        return inFlight.keys.sorted()
    }

    /// - Returns: by how much a step comes too late, because the machine slept or the process was stopped.
    mutating func beginStep(at now: Duration) -> Duration { effects.beginStep(at: now) }

    /// Removes and returns the effects of a step, and requests a wake at the first of `deadlines` or of the hosts' pauses.
    mutating func drain(waking deadlines: [Duration?], after now: Duration) -> [UpstreamSession.Effect] {
        if !isOver {
            let pauses = [limiter.nextDeadline(after: now), pacing.nextDeadline(after: now)]
            effects.scheduleWake(for: deadlines + pauses, after: now)
        }
        return effects.drain()
    }
}

extension UpstreamEvent {
    fileprivate init(_ change: HostLimiter.Change) {
        self =
            switch change {
            case .limited(let host, let status, let pause): .hostLimited(host: host, status: status, pause: pause)
            case .ended(let host, let answers): .hostLimitEnded(host: host, answers: answers)
            }
    }
}

/// The durations of the last successful fetches of media, keys and maps, and the limits that follow from them.
struct TransferTimes: Equatable, Sendable {
    private static let capacity = 32
    /// With fewer fetches the longest one counts.
    private static let fewest = 8
    private static let shortestLimit = Duration.milliseconds(1200)
    /// The silence limit of libcurl's configuration, which ends any request.
    private static let longestSilence = Duration.seconds(8)
    /// Assumed before the first fetch has ended.
    private static let assumed = Duration.seconds(1)

    private var durations: [Duration] = []
    private var next = 0

    mutating func append(_ duration: Duration) {
        if durations.count < Self.capacity { return durations.append(duration) }
        durations[next] = duration
        next = (next + 1) % Self.capacity
    }

    /// The time after which a fetch is late: three times what 95 % of the last ones took.
    var lateAfter: Duration {
        let sorted = durations.sorted()
        let index = sorted.count < Self.fewest ? sorted.count - 1 : sorted.count * 95 / 100
        return max(Self.shortestLimit, (sorted.isEmpty ? Self.assumed : sorted[index]) * 3)
    }

    /// The time without a byte after which a request is made anew on another connection.
    ///
    /// It grows after the second timeout in a row, so that an origin that is always this slow is read in the end.
    func silenceLimit(after timeouts: Int) -> Duration {
        min(lateAfter * (1 << min(max(0, timeouts - 1), 4)), Self.longestSilence)
    }
}
