import Fetch
import Playlist

/// A session with a source that may become active. Its media is held until then.
struct SourceTrial: Sendable {
    /// Whether the source's media can be published. Its segments are probed in order until one is usable.
    private enum ProbeState: Equatable, Sendable { case noMedia, unprobed, usable }

    /// Segments that cannot be published before the trial fails.
    private static let maxRefusals = 3

    private(set) var session: SourceSession
    private let deadline: Duration
    private var probeState = ProbeState.noMedia
    private var refusals = 0
    /// Effects to hand downstream when the source becomes active, except for segments published meanwhile.
    private(set) var heldEffects: [UpstreamSession.Effect] = []
    /// Bytes of the segments among them, beyond which no more are fetched until the source is active.
    private var heldBytes = 0
    private let heldLimit: Int
    private(set) var isMediaPaused = false
    /// nil unless the source is the active one, of which another variant is tried.
    let otherVariant: OtherVariant?
    /// The newest segment of the leading rendition.
    private var newest: MediaSegment?

    /// - Parameter heldLimit: bytes of segments that are held, approximately.
    init(
        _ session: SourceSession, until deadline: Duration, heldLimit: Int = IntakeLimits().aheadBytes,
        otherVariant: OtherVariant? = nil
    ) {
        self.session = session
        self.deadline = deadline
        self.heldLimit = heldLimit
        self.otherVariant = otherVariant
    }

    var source: Int { session.source }

    /// Whether a segment was delivered.
    var hasMedia: Bool { probeState != .noMedia }

    /// The trial of the same source with another session, until the same time.
    func reopened(with session: SourceSession) -> SourceTrial {
        SourceTrial(session, until: deadline, heldLimit: heldLimit, otherVariant: otherVariant)
    }

    var deadlines: [Duration?] { [session.wakeAt, deadline] }

    /// Returns the decision about the trial that is due at `now`; nil while it goes on.
    ///
    /// The trial passes if the source lists new segments and one of them could be published. Those of another variant are
    /// new by their numbers or dates.
    /// - Parameters:
    ///   - isNeeded: whether the active source is still to be replaced.
    ///   - edge: the end of what is published now. The active source may have gone on since the trial began.
    func decision(
        at now: Duration, isNeeded: Bool, history: SourceHistory, edge: PublishedEdge
    ) -> FailoverState.Decision? {
        if history.wasPublishedToEnd(session) { return .endTrial }
        if isOfTheSameVariant { return .endTrial }
        if isNeeded, probeState == .usable, hasNews(after: edge) { return .switchToTrial }
        return !isNeeded || deadline <= now || refusals >= Self.maxRefusals ? .endTrial : nil
    }

    /// Whether the source has media that was not published: by the newest segment, or else because its playlist grows. A variant
    /// that takes the place of a healthy one goes on after the newest segment.
    private func hasNews(after edge: PublishedEdge) -> Bool {
        let relation = newest.flatMap { newest in
            otherVariant.flatMap {
                edge.joinPointOfOtherVariant(of: source).relation(of: newest, isNext: $0.isReturn)
            }
        }
        return switch relation {
        case .follows: true
        case .precedes: session.isFinished
        case nil: session.isAlive
        }
    }

    /// Whether the variant on trial is the published one, because the multivariant playlist lists no other any more.
    private var isOfTheSameVariant: Bool {
        guard let otherVariant, let variant = session.variant else { return false }
        return variant.isEquivalent(to: otherVariant.published)
    }

    /// - Returns: the effects that are not held: those that concern the upstream, probes, and the end of a source that
    ///   has no media.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        let effects = session.handle(input, at: now, limiter: &limiter).compactMap { filter($0, at: now) }
        guard heldBytes > heldLimit, !isMediaPaused else { return effects }
        isMediaPaused = true
        return effects + session.handle(.pauseMedia, at: now, limiter: &limiter).compactMap { filter($0, at: now) }
    }

    private mutating func filter(_ effect: UpstreamSession.Effect, at now: Duration) -> UpstreamSession.Effect? {
        switch effect {
        case .fetch, .cancel, .wake, .probe: return effect
        // A finished playlist that has media is held to its end.
        case .end(let end) where end != .drained || probeState == .noMedia: return effect
        case .report, .end: heldEffects.append(effect)
        case .deliver(let delivery):
            heldEffects.append(effect)
            if case .segment(let segment) = delivery.content { heldBytes += segment.body.count }
            newest = effect.mainSegment ?? newest
            if delivery.isMainSegment { return hold(delivery, at: now) }
        }
        return nil
    }

    /// Confirms a held segment to its session.
    /// - Returns: the probe of the segment; nil if the source's media is known to be usable.
    private mutating func hold(_ delivery: Delivery, at now: Duration) -> UpstreamSession.Effect? {
        session.confirmHeld(delivery, at: now)
        guard probeState != .usable else { return nil }
        probeState = .unprobed
        return .probe(delivery)
    }

    mutating func recordProbe(_ outcome: DeliveryOutcome) {
        if case .refused = outcome { refusals += 1 } else { probeState = .usable }
    }
}
