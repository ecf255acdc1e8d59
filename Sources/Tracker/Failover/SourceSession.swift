import Fetch
import Playlist
import Support

/// One session with one of a channel's sources.
///
/// A source may be opened several times. Each session has its own fetch IDs, so an answer to an earlier one is ignored.
struct SourceSession: Sendable {
    /// 0 is the primary; backups count from 1, in their order.
    let source: Int
    let number: UInt64
    @Boxed private var session: UpstreamSession
    private(set) var wakeAt: Duration?
    /// Since when its main playlist has been read on time; nil while it is late, not read yet, or ended.
    private(set) var healthySince: Duration?
    private var joinedAt: Duration?

    init(source: Int, url: String, policy: UpstreamSession.Policy, number: UInt64) {
        self.source = source
        self.number = number
        session = UpstreamSession(upstream: url, policy: policy, number: number)
    }

    var status: UpstreamStatus { session.status }

    /// The variant in use, if another one can be followed in its place.
    var variantOnTrial: Variant? { session.variantOnTrial }

    /// The variant in use; nil before a multivariant playlist was read.
    var variant: Variant? { session.variant }

    /// The tracks that are fetched beside the leading rendition.
    var tracks: ChosenTracks { session.tracks }

    func hasVariant(otherThan excluded: [Variant]) -> Bool { session.hasVariant(otherThan: excluded) }

    /// Whether its main playlist was finished when it was found, or has ended.
    var isFinished: Bool { hasEnded }

    /// Whether the source lists nothing new, or nothing of it can be published, and every step before giving up was
    /// tried.
    var isInOutage: Bool { session.isInOutage }

    /// Whether the segment to deliver next is on its way.
    var isFetchingNext: Bool { session.main.map { !$0.queue.headRequests.isEmpty } ?? false }

    /// The first segment that is ready behind the one to deliver next; nil if none is.
    var nextReady: MediaSegment? { session.main?.queue.nextReady }

    /// The media sequence number of the segment to deliver next, or to be listed next.
    var nextNumber: UInt64? { session.main.flatMap { $0.queue.headNumber ?? $0.cursor.next } }

    /// The last segment of its main playlist, if that has ended; nil otherwise.
    var endIdentity: LastSegmentIdentity? {
        guard let main = session.main, main.cursor.hasEnded else { return nil }
        return main.lastSegment
    }

    /// Whether its main playlist has grown since it was joined, or has ended. A dead origin may still serve its last
    /// playlist.
    var isAlive: Bool {
        guard let joinedAt, let main = session.mainStatus else { return false }
        return main.hasEnded || main.grewAt.map { $0 > joinedAt } ?? false
    }

    private var hasEnded: Bool { session.main?.cursor.hasEnded ?? false }

    func owns(_ id: FetchID) -> Bool { id.number / FetchID.perSession == number }

    func isDue(at now: Duration) -> Bool { wakeAt.map { $0 <= now } ?? false }

    /// Passes `input` to the session.
    /// - Parameter limiter: of the channel, because several sources may be on one host.
    /// - Returns: the session's effects, except for its wakes, which `wakeAt` holds.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        if case .wake = input { wakeAt = nil }
        let effects = withLimiter(&limiter) { $0.handle(input, at: now) }.compactMap { translate($0, at: now) }
        let isHealthy = joinedAt != nil && session.mainStall == nil && !hasEnded
        healthySince = isHealthy ? healthySince ?? now : nil
        return effects
    }

    /// Adds the source to an effect of the session; nil for a wake.
    private mutating func translate(_ effect: UpstreamSession.Effect, at now: Duration) -> UpstreamSession.Effect? {
        switch effect {
        case .fetch(let id, var request):
            request.source = source
            return .fetch(id, request)
        case .cancel, .probe, .end: return effect
        case .wake(let time):
            wakeAt = time
            return nil
        case .deliver(var delivery):
            delivery.source = source
            if delivery.isMainSegment, variantOnTrial != nil { delivery.variantTrial = number }
            return .deliver(delivery)
        case .report(let event):
            if case .joined(let joined) = event, joined.rendition == .main { joinedAt = now }
            return .report(source == 0 ? event : .backup(source, event))
        }
    }

    /// Confirms a segment that is held during a trial. For the session it counts as published.
    mutating func confirmHeld(_ delivery: Delivery, at now: Duration) {
        session.recordOutcome(delivery, .published, at: now)
    }

    /// Ends the session without an effect.
    /// - Returns: cancellations of the fetches in flight.
    mutating func abandon(_ limiter: inout HostLimiter) -> [UpstreamSession.Effect] {
        withLimiter(&limiter) { $0.abandon() }.map { .cancel($0) }
    }

    /// Lends the channel's limiter to the session for one step.
    private mutating func withLimiter<Result>(
        _ limiter: inout HostLimiter, perform step: (inout UpstreamSession) -> Result
    ) -> Result {
        swap(&session.limiter, &limiter)
        defer { swap(&session.limiter, &limiter) }
        return step(&session)
    }
}
