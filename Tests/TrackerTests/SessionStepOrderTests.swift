@testable import Support
import Playlist
import Testing

@testable import Fetch
@testable import Tracker

/// The order in which one step of a session starts fetches.
struct SessionStepOrderTests {
    private var origin: SessionOrigin {
        var origin = SessionOrigin()
        origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0)\"\n" }
        return origin
    }

    /// Returns the fetches and deliveries of one step, in order: the last path component, or the media sequence number.
    private func trace(_ effects: [UpstreamSession.Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .fetch(_, let request): request.url.split(separator: "/").last.map { String($0) }
            case .deliver(let delivery):
                if case .segment(let tracked) = delivery.content { "\(tracked.segment.mediaSequence)" } else { "lost" }
            case .cancel, .wake, .probe, .report, .end: nil
            }
        }
    }

    /// Answers the requests one by one, in the order made, each in a step of its own.
    private func steps(_ count: Int, maxConnections: Int? = nil) -> [[String]] {
        let policy = UpstreamSession.Policy(variant: .highest, maxConnections: maxConnections)
        var session = UpstreamSession(upstream: SessionOrigin.url, policy: policy)
        var pending: [(id: FetchID, request: FetchRequest)] = []
        var input = UpstreamSession.Input.start
        return (0..<count).map { _ in
            let effects = session.handle(input, at: .zero)
            for case .fetch(let id, let request) in effects { pending.append((id, request)) }
            if !pending.isEmpty {
                let next = pending.removeFirst()
                input = .answered(next.id, origin.answer(next.request, at: .zero).0)
            }
            return trace(effects)
        }
    }

    @Test func keysStartAfterTheSegmentsThatNeedThemAndOnce() {
        #expect(
            steps(6) == [
                ["main.m3u8"], ["seg104.ts", "seg105.ts", "key104", "key105"], [], [], ["104"], ["105"],
            ])
    }

    @Test func aKeyThatIsDueStartsBeforeTheNextSegment() {
        #expect(
            steps(6, maxConnections: 1) == [
                ["main.m3u8"], ["seg104.ts"], ["key104"], ["seg105.ts", "104"], ["key105"], ["105"],
            ])
    }
}
