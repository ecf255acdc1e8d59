import Playlist
import Testing

@testable import Fetch
@testable import Media
@testable import Tracker

/// Variants that are followed while somebody asks for them.
struct LadderDemandTests {
    private static let upstream = "http://origin.example/master.m3u8"
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="en",URI="subtitles.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,SUBTITLES="s"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=854x480,SUBTITLES="s"
        middle.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=426x240,SUBTITLES="s"
        low.m3u8

        """

    private static func identity(_ height: Int) -> VideoTrackIdentity {
        VideoTrackIdentity(height: height, bandwidth: height * 4000)
    }

    private static func policy(isOnDemand: Bool = true) -> UpstreamSession.Policy {
        var policy = UpstreamSession.Policy(variant: .highest)
        (policy.ladder, policy.followsLadderOnDemand) = (.all, isOnDemand)
        return policy
    }

    private static func origin() -> SessionOrigin {
        var origin = SessionOrigin()
        origin.instead = { request, _ in request.url == upstream ? text(master, request) : nil }
        return origin
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Heights of the tracks that somebody asks for, with the seconds.
        var demands: [(height: Int, at: Int)] = []
        /// The deliveries of the variants of 480 and 240 lines, as `SessionRun.trace`.
        let middle: String
        let low: String

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "nobody asks", middle: "", low: ""),
        Row(when: "somebody asks for one", demands: [(240, 20)], middle: "", low: trace(106...117) + " ."),
        Row(
            when: "somebody asks for it again before it has stopped", demands: [(240, 20), (240, 70)], middle: "",
            low: trace(106...124)),
        Row(
            when: "somebody asks for it again after it has stopped", demands: [(480, 10), (480, 100)],
            middle: trace(104...115) + " . " + trace(119...124), low: ""),
        Row(
            when: "the track of a channel that was made for another source", demands: [(360, 100)], middle: "",
            low: trace(119...124)),
    ]

    private static func trace(_ numbers: ClosedRange<Int>) -> String { numbers.map(String.init).joined(separator: " ") }

    @Test(arguments: rows)
    func demand(_ row: Row) async throws {
        let demands = row.demands.map { (track: Self.identity($0.height), at: Duration.seconds($0.at)) }
        let run = try await SessionRun(
            Self.origin(), seconds: 120, upstream: Self.upstream, policy: Self.policy(), demands: demands)
        #expect(run.trace(.furtherVideo(0)) == row.middle)
        #expect(run.trace(.furtherVideo(1)) == row.low)
        let alone = try await SessionRun(
            Self.origin(), seconds: 120, upstream: Self.upstream, policy: UpstreamSession.Policy(variant: .highest))
        #expect(run.trace() == alone.trace() && run.trace(.subtitles(0)) == alone.trace(.subtitles(0)))
        let times = { (run: SessionRun) in
            run.deliveries.filter { $0.delivery.rendition == RenditionRole.main }.map { $0.at }
        }
        #expect(times(run) == times(alone), "not a segment later")
        let followed = run.requests.filter { $0.request.url.contains("middle") || $0.request.url.contains("low") }
        #expect(followed.isEmpty == row.demands.isEmpty)
    }

    @Test func allAreFollowedIfTheyAreNotOnDemandOrTheUpstreamHasEnded() async throws {
        let always = try await SessionRun(
            Self.origin(), seconds: 20, upstream: Self.upstream, policy: Self.policy(isOnDemand: false))
        #expect(always.trace(.furtherVideo(1)).hasPrefix("103 104 105"))
        var origin = Self.origin()
        (origin.stopsAt, origin.endsWithList) = (.zero, true)
        let finished = try await SessionRun(origin, seconds: 20, upstream: Self.upstream, policy: Self.policy())
        #expect(finished.trace() == "100 101 102 103 104 105 .")
        #expect(finished.trace(.furtherVideo(1)) == "100 101 102 103 104 105 .")
        #expect(finished.end == .drained)
    }
}
