import Fetch
import Playlist
import Testing

@testable import Tracker

@Suite("A segment that failed, and the next playlist") struct PendingSegmentTests {
    private static func playlist(_ uri: String) throws -> MediaPlaylist {
        try MediaPlaylistParser.parse(Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(uri)\n".utf8))
    }

    @Test(
        "Other URLs end a pause",
        arguments: [
            ("the same URL", 404, "http://a/1.ts?t=1", false),
            ("another token after 404, as playlists with a token in each URL have", 404, "http://a/1.ts?t=2", false),
            ("another host after 404", 404, "http://b/1.ts?t=1", true),
            ("the same URL after 403", 403, "http://a/1.ts?t=1", false),
            ("another token after 403", 403, "http://a/1.ts?t=2", true),
            ("another host after 503", 503, "http://b/1.ts?t=1", true),
        ], [false, true])
    func renewal(row: (what: String, status: Int, next: String, isDue: Bool), comesDuringAttempt: Bool) throws {
        let first = try Self.playlist("http://a/1.ts?t=1")
        let segment = first.segment(0)
        var pending = PendingSegment(
            segment, try SegmentRequests(segment, base: "http://a/", period: 0), dateRanges: [], seed: 1, at: .zero)
        let id = FetchID(number: 1)
        let request = pending.requests.media
        pending.start(as: id, at: .zero)
        let next = try Self.playlist(row.next)
        let failedAt = Duration.milliseconds(100)
        if comesDuringAttempt { pending.refresh(from: next, base: "http://a/", ResourceCache(), at: failedAt / 2) }
        let answer = FetchAnswer(status: row.status, finalURL: request.url, body: [])
        let failure = pending.settle(id, request, .success(answer), at: failedAt)
        #expect(failure?.isLast == false)
        if !comesDuringAttempt { pending.refresh(from: next, base: "http://a/", ResourceCache(), at: failedAt) }
        #expect(pending.isDue(at: failedAt) == row.isDue, "\(row.what)")
        #expect(pending.requests.media.url == row.next)
    }
}
