import Fetch
import Support
import Synchronization
import Tracker

/// A session whose collections are counted on request, because the driver owns the session.
struct InspectedSession: IngestSession {
    /// Result of the last count.
    final class Count: Sendable {
        private let state = Mutex((isRequested: false, sizes: [String: Int]()))

        func request() { state.withLock { $0.isRequested = true } }
        var sizes: [String: Int] { state.withLock { $0.sizes } }

        fileprivate func update(from session: ChannelSession) {
            guard state.withLock({ $0.isRequested }) else { return }
            let sizes = SoakSample.collections(in: session, named: "session")
            state.withLock { $0 = (false, sizes) }
        }
    }

    var session: ChannelSession
    let count: Count

    var status: UpstreamStatus { session.status }

    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        count.update(from: session)
        return session.handle(input, at: now)
    }
}
