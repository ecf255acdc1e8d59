import Fetch
import Support
import Testing

@testable import Tracker

/// An upstream with the bodies of some paths. Others get 404.
private struct PathFetcher: Fetcher {
    let bodies: [String: String]

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let body = bodies[String(request.url.dropFirst("http://a/".count))]
        return .success(
            FetchAnswer(
                status: body == nil ? 404 : 200, finalURL: request.url, headers: [], body: Array((body ?? "").utf8)))
    }
}

@Suite("Whether an upstream answers with a playlist") struct PlaylistProbeTests {
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n"

    private static func master(of uri: String) -> String { "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(uri)\n" }

    @Test(
        "An upstream answers if the playlist of a variant does",
        arguments: [
            ("a media playlist", ["main": media], true),
            ("a variant", ["main": master(of: "v/1"), "v/1": media], true),
            ("a variant of a variant", ["main": master(of: "v/1"), "v/1": master(of: "2"), "v/2": media], true),
            ("a variant that is not there", ["main": master(of: "v/1")], false),
            ("a page", ["main": "<html></html>"], false),
            ("a playlist that names itself", ["main": master(of: "main")], false),
            ("nothing", [:], false),
        ] as [(String, [String: String], Bool)])
    func answers(what: String, bodies: [String: String], isFound: Bool) async {
        let isAnswered = await PathFetcher(bodies: bodies).findsPlaylist(at: "http://a/main", of: 0)
        #expect(isAnswered == isFound, "\(what)")
    }
}
