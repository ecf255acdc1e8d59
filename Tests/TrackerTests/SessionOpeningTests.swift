@testable import Support
import Playlist
import Testing

@testable import Fetch
@testable import Tracker

struct OpeningRow: Sendable, CustomTestStringConvertible {
    let when: String
    let reason: TrackerError.Reason
    var before = Duration.seconds(10)
    let answer: @Sendable (_ request: FetchRequest) -> FetchOutcome?

    var testDescription: String { when }
}

let html = "<!DOCTYPE html><title>Portal</title>"

let openingRows: [OpeningRow] = [
    OpeningRow(when: "HTML with status 200", reason: .notAPlaylist(.webPage, beginning: html), before: .seconds(1)) {
        text(html, $0)
    },
    OpeningRow(when: "404", reason: .refused(status: 404)) { refused(404, $0) },
    OpeningRow(when: "403", reason: .refused(status: 403)) { refused(403, $0) },
    OpeningRow(when: "500", reason: .refused(status: 500)) { refused(500, $0) },
    OpeningRow(when: "no such host", reason: .unreachable(.unresolvedHost)) { failed(.unresolvedHost, $0) },
    OpeningRow(when: "another scheme", reason: .unreachable(.unsupportedScheme), before: .seconds(1)) {
        failed(.unsupportedScheme, $0)
    },
    OpeningRow(when: "an empty body", reason: .notAPlaylist(.nothing, beginning: "")) { bytes([], $0) },
    OpeningRow(when: "a multivariant playlist without variants", reason: .noVariant, before: .seconds(1)) {
        text("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"a.m3u8\"\n", $0)
    },
    OpeningRow(
        when: "SAMPLE-AES",
        reason: .unsupportedProtection(method: .sampleAES, keyFormat: "identity", mediaSequence: 104),
        before: .seconds(1)
    ) { request in
        var origin = SessionOrigin()
        origin.tags = { _ in "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n" }
        return text(origin.playlist(at: .zero), request)
    },
    OpeningRow(
        when: "AES-128 for a key system",
        reason: .unsupportedProtection(method: .aes128, keyFormat: "com.example.drm", mediaSequence: 104),
        before: .seconds(1)
    ) { request in
        var origin = SessionOrigin()
        origin.tags = { _ in "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.example.drm\"\n" }
        return text(origin.playlist(at: .zero), request)
    },
    OpeningRow(when: "no segments for 30 s", reason: .noSegments(for: .seconds(30)), before: .seconds(31)) {
        text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n", $0)
    },
]

@Test(arguments: openingRows)
func openingFails(row: OpeningRow) async throws {
    var origin = SessionOrigin()
    origin.instead = { request, _ in row.answer(request) }
    let run = try await SessionRun(origin)
    guard case .failed(let error) = run.end else {
        Issue.record("ended with \(String(describing: run.end))")
        return
    }
    #expect(error.reason == row.reason)
    #expect(error.url == SessionOrigin.url)
    #expect(run.endedAt < row.before)
    #expect(run.deliveries.isEmpty)
    #expect(run.requests.count <= 12)
}

@Test func openingWithoutAnswerFailsWithinTenSeconds() async throws {
    var origin = SessionOrigin()
    origin.latency = { _ in .seconds(3600) }
    let run = try await SessionRun(origin)
    #expect(run.end == .failed(TrackerError(.openingTimedOut, url: SessionOrigin.url)))
    #expect(run.endedAt < .seconds(10))
}

@Test func openingSucceedsAtTheThirdAttempt() async throws {
    var origin = SessionOrigin()
    origin.instead = { request, now in now < .seconds(1) ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 10)
    #expect(run.end == nil)
    #expect(run.numbers().first == 104)
}

@Test func emptyPlaylistIsLoadedUntilItHasSegments() async throws {
    var origin = SessionOrigin()
    origin.edge = 0
    let run = try await SessionRun(origin, seconds: 20)
    #expect(run.trace() == "0 1 2")
}

@Test func joinIsReported() async throws {
    let live = try await SessionRun(SessionOrigin(), seconds: 1)
    let joined = UpstreamEvent.Joined(
        rendition: .main, mediaSequence: 104, targetDuration: .seconds(6), isVOD: false)
    #expect(live.events.map(\.event) == [.joined(joined)])
    var finished = SessionOrigin()
    finished.stopsAt = .zero
    finished.endsWithList = true
    let whole = try await SessionRun(finished, seconds: 1)
    let vod = UpstreamEvent.Joined(rendition: .main, mediaSequence: 100, targetDuration: .seconds(6), isVOD: true)
    #expect(whole.events.map(\.event).contains(.joined(vod)))
}

@Test func unsupportedProtectionThatBeginsLaterEndsTheSession() async throws {
    var origin = SessionOrigin()
    origin.tags = { $0 == 107 ? "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\"\n" : "" }
    let run = try await SessionRun(origin)
    #expect(run.numbers() == [104, 105, 106])
    let reason = TrackerError.Reason.unsupportedProtection(
        method: .sampleAES, keyFormat: "identity", mediaSequence: 107)
    #expect(run.end == .failed(TrackerError(reason, url: SessionOrigin.url, section: "4.3.2.4")))
}

@Test func oneUsableKeyOfSeveralIsEnough() async throws {
    var origin = SessionOrigin()
    origin.tags = { _ in
        """
        #EXT-X-KEY:METHOD=AES-128,URI="drm",KEYFORMAT="com.example.drm"
        #EXT-X-KEY:METHOD=AES-128,URI="clear"

        """
    }
    let run = try await SessionRun(origin, seconds: 10)
    #expect(run.segments().first?.keyURL == "http://origin.example/live/clear")
}
