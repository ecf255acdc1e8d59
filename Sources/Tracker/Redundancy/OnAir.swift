/// Which source of a channel is published.
enum OnAir: Sendable {
    case source(SourceMember)
    /// None: nothing was opened yet, or the last one failed or ended, and no other has taken over.
    case nobody(behind: Predecessor?)
    /// The channel has ended, and nothing follows.
    case over(behind: Predecessor?)

    /// The source that was published last.
    struct Predecessor: Sendable {
        /// How the session with it stood.
        let status: UpstreamStatus
        /// Why it is published no more; nil when the channel has ended with it.
        let loss: UpstreamStatus.Trouble.Cause?
    }

    var member: SourceMember? { if case .source(let member) = self { member } else { nil } }
    var isOver: Bool { if case .over = self { true } else { false } }

    /// Another source is needed.
    var isInOutage: Bool { member?.isInOutage ?? true }

    /// Of the source that is published, or was last; nil before the first.
    var status: UpstreamStatus? {
        switch self {
        case .source(let member): member.status
        case .nobody(let predecessor), .over(let predecessor): predecessor?.status
        }
    }

    /// Why nothing is published; nil while something is, or where nothing is expected.
    var loss: UpstreamStatus.Trouble.Cause? {
        switch self {
        case .source: nil
        case .nobody(let predecessor), .over(let predecessor): predecessor?.loss
        }
    }

    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, through gate: inout HostGate
    ) -> [UpstreamSession.Effect] {
        guard case .source(var member) = self else { return [] }
        // Held once only, it is changed where it is.
        self = .nobody(behind: nil)
        defer { self = .source(member) }
        return member.handle(input, at: now, through: &gate)
    }

    /// The session with the source that is published is over.
    mutating func lose(to end: SessionEnd) {
        guard case .source(let member) = self else { return }
        self = .nobody(behind: Predecessor(status: member.status, loss: .sourceLost(member.source, end.error)))
    }

    /// - Returns: the fetches that are not wanted any more.
    mutating func giveWay(to successor: SourceMember, through gate: inout HostGate) -> [UpstreamSession.Effect] {
        defer { self = .source(successor) }
        guard case .source(var member) = self else { return [] }
        return member.abandon(&gate)
    }

    /// - Returns: the fetches that are not wanted any more.
    mutating func end(through gate: inout HostGate) -> [UpstreamSession.Effect] {
        switch self {
        case .over: return []
        case .nobody(let predecessor):
            self = .over(behind: predecessor)
            return []
        case .source(var member):
            self = .over(behind: Predecessor(status: member.status, loss: nil))
            return member.abandon(&gate)
        }
    }
}

extension SessionEnd {
    fileprivate var error: TrackerError? {
        switch self {
        case .drained: nil
        case .failed(let error), .gaveUp(let error): error
        }
    }
}
