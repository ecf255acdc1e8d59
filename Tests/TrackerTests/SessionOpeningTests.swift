import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

struct OpeningRow: Sendable, CustomTestStringConvertible {
    let when: String
    let reason: TrackerError.Reason
    var before = Duration.seconds(10)
    typealias Answer = @Sendable (_ request: FetchRequest) -> FetchOutcome?
    let answer: Answer

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

/// The end of a session that waits a minute for its upstream.
let patientRows: [(when: String, ends: Range<Int>, reason: TrackerError.Reason, answer: OpeningRow.Answer)] = [
    ("no such host", 60..<70, .unreachable(.unresolvedHost), { failed(.unresolvedHost, $0) }),
    ("the connection is refused", 60..<70, .unreachable(.refused), { failed(.refused, $0) }),
    ("no answer in time", 60..<70, .unreachable(.timedOut), { failed(.timedOut, $0) }),
    ("no datagram", 60..<70, .unreachable(.nothingReceived), { failed(.nothingReceived, $0) }),
    ("502", 60..<70, .refused(status: 502), { refused(502, $0) }),
    ("429", 60..<70, .refused(status: 429), { refused(429, $0) }),
    ("an empty body", 60..<70, .notAPlaylist(.nothing, beginning: ""), { bytes([], $0) }),
    (
        "an empty list", 60..<70, .noSegments(for: .seconds(60)),
        { text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n", $0) }
    ),
    ("401", 0..<1, .refused(status: 401), { refused(401, $0) }),
    ("403", 0..<1, .refused(status: 403), { refused(403, $0) }),
    ("404", 0..<1, .refused(status: 404), { refused(404, $0) }),
    ("410", 0..<1, .refused(status: 410), { refused(410, $0) }),
    ("a web page", 0..<1, .notAPlaylist(.webPage, beginning: html), { text(html, $0) }),
    ("another scheme", 0..<1, .unreachable(.unsupportedScheme), { failed(.unsupportedScheme, $0) }),
]

private func waiting(_ giveUp: Duration?) -> UpstreamSession.Policy {
    UpstreamSession.Policy(variant: .highest, giveUp: giveUp, opening: .patient(giveUp: giveUp))
}

@Test(arguments: patientRows.indices) func anUpstreamThatIsNotThereYetIsAwaited(row index: Int) async throws {
    let row = patientRows[index]
    var origin = SessionOrigin()
    origin.instead = { request, _ in row.answer(request) }
    let run = try await SessionRun(origin, seconds: 100, policy: waiting(.seconds(60)))
    guard case .failed(let error) = run.end else {
        Issue.record("\(row.when): ended with \(String(describing: run.end))")
        return
    }
    #expect(error.reason == row.reason, "\(row.when)")
    #expect(row.ends.contains(Int(run.endedAt.components.seconds)), "\(row.when): \(run.endedAt)")
}

@Test func anUpstreamThatStartsLaterIsJoined() async throws {
    var origin = SessionOrigin()
    origin.instead = { request, now in now < .seconds(45) ? failed(.refused, request) : nil }
    let run = try await SessionRun(origin, seconds: 60, policy: waiting(.seconds(60)))
    #expect(run.end == nil)
    #expect(!run.numbers().isEmpty)
    #expect(run.events.count { if case .playlistFailed = $0.event { true } else { false } } == 1, "said once")
}

/// A restarted relay knows that its URL was a channel, so that a page is an outage and no mistake.
@Test func aPageIsAwaitedWhereTheChannelIsKnown() async throws {
    var origin = SessionOrigin()
    origin.instead = { request, now in now < .seconds(20) ? text(html, request) : nil }
    let policy = UpstreamSession.Policy(
        variant: .highest, giveUp: .seconds(60), opening: .enduring(giveUp: .seconds(60)))
    let run = try await SessionRun(origin, seconds: 60, policy: policy)
    #expect(run.end == nil && !run.numbers().isEmpty)
    origin.instead = { request, _ in text(html, request) }
    let silent = try await SessionRun(origin, seconds: 100, policy: policy)
    guard case .failed(let error)? = silent.end else {
        Issue.record("ended with \(String(describing: silent.end))")
        return
    }
    #expect((50...70).contains(Int(silent.endedAt.components.seconds)), "\(error) at \(silent.endedAt)")
}

/// The host of a playlist may go while a relay starts. It is another one in the next multivariant playlist.
@Test(arguments: [OpeningPatience.enduring(giveUp: nil), .patient(giveUp: nil)])
func theMultivariantPlaylistIsLoadedAgainWhileTheVariantIsAwaited(_ opening: OpeningPatience) async throws {
    let master = "http://origin.example/master.m3u8"
    var origin = SessionOrigin()
    origin.instead = { request, now in
        guard request.url == master else { return request.url.contains("edge-0") ? refused(503, request) : nil }
        let host = now < .seconds(3) ? "edge-0" : "edge-1"
        return text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nhttp://\(host).example/live.m3u8\n", request)
    }
    let policy = UpstreamSession.Policy(variant: .highest, giveUp: nil, opening: opening)
    let run = try await SessionRun(origin, seconds: 30, upstream: master, policy: policy)
    #expect(run.end == nil && !run.numbers().isEmpty)
}

@Test func withoutALimitAnUpstreamIsAwaitedForEver() async throws {
    var origin = SessionOrigin()
    origin.instead = { request, _ in failed(.unresolvedHost, request) }
    let run = try await SessionRun(origin, seconds: 86_400, policy: waiting(nil))
    #expect(run.end == nil)
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
