import Fetch
import Testing

@testable import Tracker

@Suite("Whether the upstream of a late channel answers") struct UpstreamAnswerTests {
    private static let error = TrackerError(.unreachable(.refused), url: "http://a/")

    /// - Parameter loadedAt: when a playlist with target duration 2 s was last read.
    private static func status(_ cause: UpstreamStatus.Stall.Cause?, loadedAt: Duration) -> UpstreamStatus {
        var status = UpstreamStatus.idle
        status.stall = cause.map { UpstreamStatus.Stall(cause: $0, step: .late, since: .zero) }
        status.renditions = [
            UpstreamStatus.Rendition(
                role: .main, url: "", targetDuration: .seconds(2), nextMediaSequence: 1, loadedAt: loadedAt,
                grewAt: .zero, hasEnded: false, queued: 0, inFlight: 0, heldBytes: 0, counts: TrackerCounts(),
                polling: .holding)
        ]
        return status
    }

    @Test(
        "At 10 s",
        arguments: [
            ("on time", nil, 7.0, true),
            ("a playlist that does not grow", .playlist(nil), 8.0, true),
            ("a playlist that was read 3 s ago, and hangs since", .playlist(nil), 7.0, false),
            ("a playlist that fails", .playlist(error), 9.0, false),
            ("nothing was opened yet", .opening(nil), 0.0, true),
            ("nothing can be opened", .opening(error), 0.0, false),
            ("another source that is lost", .sourceLost(1, error), 9.0, false),
        ] as [(String, UpstreamStatus.Stall.Cause?, Double, Bool)])
    func rows(what: String, cause: UpstreamStatus.Stall.Cause?, loadedAt: Double, isAnswering: Bool) {
        let status = Self.status(cause, loadedAt: .seconds(loadedAt))
        #expect(status.isAnswering(at: .seconds(10)) == isAnswering, "\(what)")
    }
}
