/// Which source of a channel is published.
enum ActiveSource: Sendable {
    case source(SourceSession)
    /// None: nothing was opened yet, or the last one failed or ended, and no other has taken over.
    case vacant(after: Predecessor?)
    /// The channel has ended, and nothing follows.
    case ended(after: Predecessor?)

    /// The source that was published last.
    struct Predecessor: Sendable {
        /// How the session with it stood.
        let status: UpstreamStatus
        /// Why it is published no more; nil when the channel has ended with it.
        let loss: UpstreamStatus.Stall.Cause?
    }

    var session: SourceSession? { if case .source(let member) = self { member } else { nil } }
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// Another source is needed.
    var isInOutage: Bool { session?.isInOutage ?? true }

    /// Of the source that is published, or was last; nil before the first.
    var status: UpstreamStatus? {
        switch self {
        case .source(let member): member.status
        case .vacant(let predecessor), .ended(let predecessor): predecessor?.status
        }
    }

    /// Why nothing is published; nil while something is, or where nothing is expected.
    var loss: UpstreamStatus.Stall.Cause? {
        switch self {
        case .source: nil
        case .vacant(let predecessor), .ended(let predecessor): predecessor?.loss
        }
    }

    mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration, limiter: inout HostLimiter
    ) -> [UpstreamSession.Effect] {
        guard case .source(var member) = self else { return [] }
        // Held once only, it is changed where it is.
        self = .vacant(after: nil)
        defer { self = .source(member) }
        return member.handle(input, at: now, limiter: &limiter)
    }

    /// The session with the source that is published is over.
    mutating func recordEnd(_ end: SessionEnd) {
        guard case .source(let member) = self else { return }
        self = .vacant(after: Predecessor(status: member.status, loss: .sourceLost(member.source, end.error)))
    }

    /// - Returns: the fetches that are not wanted any more.
    mutating func replace(with successor: SourceSession, limiter: inout HostLimiter) -> [UpstreamSession.Effect] {
        defer { self = .source(successor) }
        guard case .source(var member) = self else { return [] }
        return member.abandon(&limiter)
    }

    /// - Returns: the fetches that are not wanted any more.
    mutating func end(limiter: inout HostLimiter) -> [UpstreamSession.Effect] {
        switch self {
        case .ended: return []
        case .vacant(let predecessor):
            self = .ended(after: predecessor)
            return []
        case .source(var member):
            self = .ended(after: Predecessor(status: member.status, loss: nil))
            return member.abandon(&limiter)
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
