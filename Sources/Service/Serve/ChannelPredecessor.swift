import Support
import Synchronization

/// The process that publishes a channel until it releases the channel's ring.
final class ChannelPredecessor: Sendable {
    private struct State {
        var isRead = false
        var hasReleased = false
        /// How a run of the channel went before the release.
        var early: FailureText??
        var hasReported = false
    }

    /// The directory of the ring.
    let directory: String
    private let state = Mutex(State())
    private let notify: @Sendable (FailureText?) -> Void

    /// - Parameter notify: called once, after the release, with nil when this process has the channel, or with the reason
    ///   why it cannot publish it. It must not call back.
    init(in directory: String, notify: @escaping @Sendable (FailureText?) -> Void) {
        (self.directory, self.notify) = (directory, notify)
    }

    /// Whether the ring was read, so that the channel can be served, or will not be read.
    var isRead: Bool { state.withLock { $0.isRead } }

    func recordRead() { state.withLock { $0.isRead = true } }

    var hasReleased: Bool { state.withLock { $0.hasReleased } }

    /// Records that the ring is closed.
    func release() {
        let early = state.withLock { state in
            state.hasReleased = true
            state.hasReported = state.early != nil
            return state.early
        }
        if let early { notify(early) }
    }

    /// Reports how this process has taken the channel over.
    func report(_ failure: FailureText?) {
        let isFirst = state.withLock { state in
            guard state.hasReleased else {
                state.early = .some(failure)
                return false
            }
            defer { state.hasReported = true }
            return !state.hasReported
        }
        if isFirst { notify(failure) }
    }
}
