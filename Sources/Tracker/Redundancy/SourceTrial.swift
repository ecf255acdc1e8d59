/// A source that was opened beside the one that is published: what it brings is held until it takes over.
struct SourceTrial: Sendable {
    enum Occasion: Equatable, Sendable {
        /// Nothing of the source that is published comes: whoever brings media first is published.
        case outage
        /// The channel's own upstream is back after a while of health, while the backup is still alive.
        case homecoming
    }

    /// What was seen of its media. It is examined, one segment after the other, until one is seen to be usable.
    private enum Finding: Equatable, Sendable { case nothing, unexamined, usable }

    /// Segments that cannot be published, until it is not tried any longer.
    private static let mostRefusals = 3

    private(set) var member: SourceMember
    private let occasion: Occasion
    private let deadline: Duration
    private var finding = Finding.nothing
    private var refusals = 0
    /// What goes out when it takes over, as far as that was not published meanwhile.
    private(set) var held: [UpstreamSession.Effect] = []

    init(_ member: SourceMember, on occasion: Occasion, until deadline: Duration) {
        self.member = member
        self.occasion = occasion
        self.deadline = deadline
    }

    var source: Int { member.source }
    var deadlines: [Duration?] { [member.wakeAt, deadline] }

    /// It can take over: it lists something new, and what it brings could be published.
    var isPassed: Bool { finding == .usable && member.isAlive }

    /// - Parameter isNeeded: the source that is published is in an outage.
    func isInVain(isNeeded: Bool, at now: Duration) -> Bool {
        deadline <= now || refusals >= Self.mostRefusals || occasion == .outage && !isNeeded
    }

    /// - Returns: what is not held: what concerns the upstream, what is to be examined, and the end of a source that
    ///   has nothing to give.
    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, through gate: inout HostGate
    ) -> [UpstreamSession.Effect] {
        member.handle(input, at: now, through: &gate).compactMap { hold($0, at: now) }
    }

    private mutating func hold(_ effect: UpstreamSession.Effect, at now: Duration) -> UpstreamSession.Effect? {
        switch effect {
        case .fetch, .cancel, .wake, .examine: return effect
        // A finished programme is handed over whole.
        case .end(let end) where end != .drained || finding == .nothing: return effect
        case .report, .end: held.append(effect)
        case .deliver(let delivery):
            held.append(effect)
            if delivery.isMainSegment { return noteSegment(delivery, at: now) }
        }
        return nil
    }

    /// To be held is all that can be asked of it: to its session it is as good as published.
    private mutating func noteSegment(_ delivery: Delivery, at now: Duration) -> UpstreamSession.Effect? {
        member.noteHeld(delivery, at: now)
        guard finding != .usable else { return nil }
        finding = .unexamined
        return .examine(delivery)
    }

    /// What would have become of something that it brought.
    mutating func examined(_ reception: Reception) {
        if case .refused = reception { refusals += 1 } else { finding = .usable }
    }

    /// Nothing of it is wanted.
    mutating func abandon(_ gate: inout HostGate) -> [UpstreamSession.Effect] { member.abandon(&gate) }
}
