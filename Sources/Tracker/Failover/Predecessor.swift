/// The source that was published last, when none is.
struct Predecessor: Sendable {
    /// Status of its session at the end.
    let status: UpstreamStatus
    /// Why it is no longer published; nil if the channel ended with it.
    let loss: UpstreamStatus.Stall.Cause?

    /// - Parameter end: why the session ended; nil if the channel ends while `session` is published.
    init(_ session: SourceSession, lost end: SessionEnd? = nil) {
        status = session.status
        loss = end.map { .sourceLost(session.source, $0.error) }
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
