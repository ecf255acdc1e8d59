import Synchronization
import Tracker

/// A session that lets its collections be counted when that is asked for: a driver keeps it to itself.
struct InspectedSession: IngestSession {
    /// What was counted last.
    final class Count: Sendable {
        private let state = Mutex((isWanted: false, sizes: [String: Int]()))

        func want() { state.withLock { $0.isWanted = true } }
        var sizes: [String: Int] { state.withLock { $0.sizes } }

        fileprivate func take(_ session: ChannelSession) {
            guard state.withLock({ $0.isWanted }) else { return }
            let sizes = SoakSample.collections(in: session, called: "session")
            state.withLock { $0 = (false, sizes) }
        }
    }

    var session: ChannelSession
    let count: Count

    var status: UpstreamStatus { session.status }

    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        count.take(session)
        return session.handle(input, at: now)
    }
}
