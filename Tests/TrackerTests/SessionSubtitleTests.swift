import Playlist
import Testing

@testable import Tracker

private let upstream = "http://origin.example/master.m3u8"

private func master(_ names: [String]) -> String {
    "#EXTM3U\n"
        + names.map {
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="\#($0)",LANGUAGE="\#($0)",URI="sub-\#($0).m3u8""# + "\n"
        }.joined()
        + #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="other",NAME="xx",URI="sub-xx.m3u8""# + "\n"
        + #"#EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES="s""# + "\nmain.m3u8\n"
}

private func channel(
    _ names: [String] = ["en"], endsAt end: Duration? = nil,
    _ instead: @escaping @Sendable (_ request: FetchRequest, _ now: Duration) -> FetchOutcome? = { _, _ in nil }
) -> SessionOrigin {
    var origin = SessionOrigin()
    origin.windowLength = 40
    origin.stopsAt = end ?? origin.stopsAt
    origin.endsWithList = true
    // The segments of each playlist are named after it, so that a test can tell them.
    origin.instead = { [base = origin] request, now in
        if let outcome = instead(request, now) { return outcome }
        if request.url == upstream { return text(master(names), request) }
        guard request.purpose == .mediaPlaylist, request.url.contains("sub-") else { return nil }
        var list = base
        list.uri = { number, _ in "sub-\(number).vtt" }
        return text(list.playlist(at: now), request)
    }
    return origin
}

@Test func everySubtitleRenditionOfTheVariantsGroupIsFollowed() async throws {
    let run = try await SessionRun(channel(["en", "de"]), seconds: 20, upstream: upstream)
    guard case .variantSelected(_, _, let subtitles) = run.events.first?.event else {
        Issue.record("nothing was chosen")
        return
    }
    #expect(subtitles.map(\.name) == ["en", "de"], "those of another group are not")
    #expect(run.trace() == "104 105 106 107 108")
    #expect(run.trace(.subtitles(0)) == (101...108).map(String.init).joined(separator: " "), "well before the picture")
    #expect(run.trace(.subtitles(1)) == run.trace(.subtitles(0)))
}

@Test func noMoreThanSoManyAreFollowed() async throws {
    let names = (0..<20).map { "l\($0)" }
    let run = try await SessionRun(channel(names), seconds: 20, upstream: upstream)
    #expect(run.status?.subtitles.count == 8)
    #expect(Set(run.requested(.mediaPlaylist)).count == 9)
}

/// Whatever happens to the subtitles, the picture comes as it would without them.
private let troubleRows: [(when: String, instead: @Sendable (FetchRequest, Duration) -> FetchOutcome?)] = [
    ("their playlist is refused", { request, _ in request.url.contains("sub-en") ? refused(403, request) : nil }),
    ("it is no playlist", { request, _ in request.url.contains("sub-en") ? text("<html>", request) : nil }),
    (
        "it is protected by something else",
        { request, _ in
            guard request.url.contains("sub-en") else { return nil }
            let key = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",KEYFORMAT="com.apple.fps""#
            return text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(key)\n#EXTINF:6,\na.vtt\n", request)
        }
    ),
    ("their segments are gone", { request, _ in request.url.contains(".vtt") ? refused(404, request) : nil }),
    ("nothing answers", { request, _ in request.url.contains("sub-") ? failed(.timedOut, request) : nil }),
]

@Test(arguments: troubleRows.indices)
func troubleWithSubtitlesIsNoTroubleForThePicture(_ index: Int) async throws {
    let row = troubleRows[index]
    let run = try await SessionRun(channel(["en"], row.instead), seconds: 60, upstream: upstream)
    #expect(run.trace() == (104...114).map(String.init).joined(separator: " "), "\(row.when)")
    #expect(run.end == nil && run.segments(.subtitles(0)).isEmpty, "\(row.when)")
    let asked = run.requests.filter { $0.request.url.contains("sub-en") || $0.request.url == upstream }
    #expect((2...30).contains(asked.count), "\(row.when): asked \(asked.count) times")
    #expect(run.requested(.multivariantPlaylist).count <= 4, "\(row.when): the master is not read at every try")
}

@Test func subtitlesThatHangTakeNoneOfThePicturesFetches() async throws {
    var origin = channel((0..<8).map { "l\($0)" })
    origin.latency = { $0.url.hasSuffix(".vtt") ? .seconds(1000) : .milliseconds(50) }
    let run = try await SessionRun(origin, seconds: 60, upstream: upstream)
    #expect(run.trace() == (104...114).map(String.init).joined(separator: " "))
    #expect(run.requests.count { $0.request.url.hasSuffix(".vtt") } == 8, "one each")
}

@Test func theChannelEndsWithItsPictureEvenIfTheSubtitlesDoNot() async throws {
    let ended = try await SessionRun(channel(endsAt: .seconds(12)), seconds: 200, upstream: upstream)
    #expect(ended.end == .drained)
    #expect(ended.trace(.subtitles(0)).hasSuffix("107 ."))
    let silent = channel(endsAt: .seconds(12)) { request, now in
        guard request.url.contains("sub-en") else { return nil }
        return text(SessionOrigin().playlist(at: min(now, .seconds(12))), request)
    }
    let run = try await SessionRun(silent, seconds: 200, upstream: upstream)
    #expect(run.end == .drained && run.trace(.subtitles(0)).hasSuffix("."))
}
