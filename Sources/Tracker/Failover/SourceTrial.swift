/// A source that was opened beside the one that is published: what it brings is held until it takes over.
struct SourceTrial: Sendable {
    enum Trigger: Equatable, Sendable {
        /// Nothing of the source that is published comes: whoever brings media first is published.
        case outage
        /// The channel's own upstream is back after a while of health, while the backup is still alive.
        case failback
    }

    /// What was seen of its media. It is examined, one segment after the other, until one is seen to be usable.
    private enum ProbeState: Equatable, Sendable { case nothing, unprobed, usable }

    /// Segments that cannot be published, until it is not tried any longer.
    private static let maxRefusals = 3

    private(set) var member: SourceSession
    private let trigger: Trigger
    private let deadline: Duration
    private var probeState = ProbeState.nothing
    private var refusals = 0
    /// What goes out when it takes over, as far as that was not published meanwhile.
    private(set) var heldEffects: [UpstreamSession.Effect] = []

    init(_ member: SourceSession, on occasion: Trigger, until deadline: Duration) {
        self.member = member
        self.trigger = occasion
        self.deadline = deadline
    }

    var source: Int { member.source }
    var deadlines: [Duration?] { [member.wakeAt, deadline] }

    /// It can take over: it lists something new, and what it brings could be published.
    var hasPassed: Bool { probeState == .usable && member.isAlive }

    /// - Parameter isNeeded: the source that is published is in an outage.
    func hasFailed(isNeeded: Bool, at now: Duration) -> Bool {
        deadline <= now || refusals >= Self.maxRefusals || trigger == .outage && !isNeeded
    }

    /// - Returns: what is not held: what concerns the upstream, what is to be examined, and the end of a source that
    ///   has nothing to give.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        member.handle(input, at: now, limiter: &limiter).compactMap { filter($0, at: now) }
    }

    private mutating func filter(_ effect: UpstreamSession.Effect, at now: Duration) -> UpstreamSession.Effect? {
        switch effect {
        case .fetch, .cancel, .wake, .probe: return effect
        // A finished programme is handed over whole.
        case .end(let end) where end != .drained || probeState == .nothing: return effect
        case .report, .end: heldEffects.append(effect)
        case .deliver(let delivery):
            heldEffects.append(effect)
            if delivery.isMainSegment { return recordSegment(delivery, at: now) }
        }
        return nil
    }

    /// To be held is all that can be asked of it: to its session it is as good as published.
    private mutating func recordSegment(_ delivery: Delivery, at now: Duration) -> UpstreamSession.Effect? {
        member.confirmHeld(delivery, at: now)
        guard probeState != .usable else { return nil }
        probeState = .unprobed
        return .probe(delivery)
    }

    /// What would have become of something that it brought.
    mutating func recordProbe(_ reception: DeliveryOutcome) {
        if case .refused = reception { refusals += 1 } else { probeState = .usable }
    }

    /// Nothing of it is wanted.
    mutating func abandon(_ limiter: inout HostLimiter) -> [UpstreamSession.Effect] { member.abandon(&limiter) }
}
