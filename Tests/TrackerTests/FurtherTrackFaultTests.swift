import Playlist
import Testing

@testable import Fetch
@testable import Media
@testable import Tracker

/// What a variant or a language beside the leading track may do without harm to the others.
struct FurtherTrackFaultTests {
    private static let upstream = "http://origin.example/master.m3u8"
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Kommentar",LANGUAGE="de",URI="comments.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="a"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=426x240,AUDIO="a"
        low.m3u8

        """

    /// The tracks that fail, by the names of their playlists.
    enum Track: String, CaseIterable, Sendable { case low, de }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Lines before the segments of the track's playlist, and how many seconds it is late.
        var head = ""
        var delay = 0
        /// The seconds of the session in which the origin lists nothing new.
        var stall: ClosedRange<Int>?
        var isFinished = false
        /// The answer to requests for the track's playlist, segments or keys.
        var instead: @Sendable (FetchRequest, Duration) -> FetchOutcome? = { _, _ in nil }
        /// Whether the track has segments in the end.
        var isDelivered = true

        var testDescription: String { when }

        func playlist(at now: Duration) -> String {
            var origin = SessionOrigin()
            origin.head = head
            origin.uri = { number, _ in "track-\(number).ts" }
            if let stall, stall ~= Int(now.components.seconds) { origin.stopsAt = .seconds(stall.lowerBound) }
            if isFinished { (origin.stopsAt, origin.endsWithList) = (.seconds(20), true) }
            return origin.playlist(at: max(.zero, now - .seconds(delay)))
        }
    }

    static let rows = [
        Row(when: "it is healthy"),
        Row(when: "it is 18 s late", delay: 18),
        Row(when: "it is encrypted differently", head: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"),
        Row(
            when: "its key is refused", head: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n",
            instead: { request, _ in request.purpose == .key ? refused(403, request) : nil }, isDelivered: false),
        Row(
            when: "its protection is not supported", head: "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI=\"key\"\n",
            isDelivered: false),
        Row(when: "it stalls alone", stall: 20...70),
        Row(when: "it ends alone", isFinished: true),
        Row(
            when: "it does not exist", instead: { request, _ in refused(404, request) }, isDelivered: false),
        Row(
            when: "it does not exist for the first 4 s",
            instead: { request, now in now < .seconds(4) ? refused(404, request) : nil }),
        Row(
            when: "it vanishes", instead: { request, now in now > .seconds(20) ? refused(404, request) : nil }),
        Row(
            when: "it hangs", instead: { request, _ in failed(.timedOut, request) }, isDelivered: false),
        Row(
            when: "its segments are refused",
            instead: { request, _ in request.purpose == .segment ? refused(404, request) : nil }, isDelivered: false),
        Row(
            when: "it is no playlist",
            instead: { request, _ in request.purpose == .mediaPlaylist ? text("<html>", request) : nil },
            isDelivered: false),
    ]

    private static func run(_ row: Row?, of track: Track) async throws -> SessionRun {
        var origin = SessionOrigin()
        origin.instead = { request, now in
            if request.url == upstream { return text(master, request) }
            guard let row,
                request.url.contains("/\(track).m3u8") || request.url.contains("track-")
                    || request.url.hasSuffix("/key")
            else { return nil }
            if let outcome = row.instead(request, now) { return outcome }
            return request.purpose == .mediaPlaylist ? text(row.playlist(at: now), request) : nil
        }
        var policy = UpstreamSession.Policy(variant: .highest)
        (policy.ladder, policy.audioTracks) = (.all, .all)
        return try await SessionRun(origin, seconds: 120, upstream: upstream, policy: policy)
    }

    @Test(arguments: rows, Track.allCases)
    func others(_ row: Row, _ track: Track) async throws {
        let (run, healthy) = (try await Self.run(row, of: track), try await Self.run(nil, of: track))
        let role = track == .low ? RenditionRole.furtherVideo(0) : .furtherAudio(0)
        let others = [
            RenditionRole.main, .audio, .furtherAudio(1), track == .low ? .furtherAudio(0) : .furtherVideo(0),
        ]
        for other in others { #expect(run.trace(other) == healthy.trace(other), "\(other)") }
        #expect(run.trace().hasPrefix("104 105 106") && run.end == nil)
        #expect(run.numbers(role).isEmpty != row.isDelivered)
        #expect(run.requests.count < healthy.requests.count * 4, "bounded")
    }
}
