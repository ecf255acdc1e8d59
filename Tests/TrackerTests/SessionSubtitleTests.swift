import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private let upstream = "http://origin.example/master.m3u8"

private func multivariantPlaylist(_ names: [String]) -> String {
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
    // The names of subtitle segments begin with "sub-".
    origin.instead = { [base = origin] request, now in
        if let outcome = instead(request, now) { return outcome }
        if request.url == upstream { return text(multivariantPlaylist(names), request) }
        guard request.purpose == .mediaPlaylist, request.url.contains("sub-") else { return nil }
        var playlist = base
        playlist.uri = { number, _ in "sub-\(number).vtt" }
        return text(playlist.playlist(at: now), request)
    }
    return origin
}

@Test func everySubtitleRenditionOfTheVariantsGroupIsFollowed() async throws {
    let run = try await SessionRun(channel(["en", "de"]), seconds: 20, upstream: upstream)
    guard case .variantSelected(_, _, let subtitles, _) = run.events.first?.event else {
        Issue.record("no variant was selected")
        return
    }
    #expect(subtitles.map(\.name) == ["en", "de"], "not those of another group")
    #expect(run.trace() == "104 105 106 107 108")
    #expect(run.trace(.subtitles(0)) == (101...108).map(String.init).joined(separator: " "), "well before the video")
    #expect(run.trace(.subtitles(1)) == run.trace(.subtitles(0)))
}

@Test func numberOfSubtitleRenditionsIsLimited() async throws {
    let names = (0..<20).map { "l\($0)" }
    let run = try await SessionRun(channel(names), seconds: 20, upstream: upstream)
    #expect(run.status?.renditions.count == 9)
    #expect(Set(run.requested(.mediaPlaylist)).count == 9)
}

/// Failures of subtitles, which do not change the video.
private let failureRows: [(when: String, instead: @Sendable (FetchRequest, Duration) -> FetchOutcome?)] = [
    ("the playlist is refused", { request, _ in request.url.contains("sub-en") ? refused(403, request) : nil }),
    ("HTML in place of the playlist", { request, _ in request.url.contains("sub-en") ? text("<html>", request) : nil }),
    (
        "the playlist has unsupported protection",
        { request, _ in
            guard request.url.contains("sub-en") else { return nil }
            let key = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",KEYFORMAT="com.apple.fps""#
            return text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(key)\n#EXTINF:6,\na.vtt\n", request)
        }
    ),
    ("the segments are refused", { request, _ in request.url.contains(".vtt") ? refused(404, request) : nil }),
    ("the playlist times out", { request, _ in request.url.contains("sub-") ? failed(.timedOut, request) : nil }),
]

@Test(arguments: failureRows.indices)
func failedSubtitlesDoNotAffectTheVideo(_ index: Int) async throws {
    let row = failureRows[index]
    let run = try await SessionRun(channel(["en"], row.instead), seconds: 60, upstream: upstream)
    #expect(run.trace() == (104...114).map(String.init).joined(separator: " "), "\(row.when)")
    #expect(run.end == nil && run.segments(.subtitles(0)).isEmpty, "\(row.when)")
    let requests = run.requests.filter { $0.request.url.contains("sub-en") || $0.request.url == upstream }
    #expect((2...30).contains(requests.count), "\(row.when): \(requests.count) requests")
    #expect(
        run.requested(.multivariantPlaylist).count <= 4,
        "\(row.when): the multivariant playlist is not loaded at every attempt")
}

@Test func hangingSubtitlesDoNotLimitVideoFetches() async throws {
    var origin = channel((0..<8).map { "l\($0)" })
    origin.latency = { $0.url.hasSuffix(".vtt") ? .seconds(1000) : .milliseconds(50) }
    let run = try await SessionRun(origin, seconds: 60, upstream: upstream)
    #expect(run.trace() == (104...114).map(String.init).joined(separator: " "))
    #expect(run.requests.count { $0.request.url.hasSuffix(".vtt") } < 16, "one each, and three while there is room")
}

@Test func channelEndsWithItsVideoEvenIfSubtitlesDoNot() async throws {
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

@Test func subtitlesOfABurstAreDeliveredBeforeIt() async throws {
    var origin = channel(["en"])
    let healthy = origin.instead
    origin.latency = { $0.url.hasSuffix(".vtt") ? .milliseconds(95) : .milliseconds(50) }
    origin.instead = { request, now in
        (.seconds(20) ..< .seconds(45)).contains(now) ? failed(.reset, request) : healthy(request, now)
    }
    let run = try await SessionRun(origin, seconds: 60, upstream: upstream)
    #expect(run.trace() == (104...114).map(String.init).joined(separator: " "))
    let burst = run.deliveries.filter { $0.at > .seconds(45) }
    let first = try #require(burst.first { $0.delivery.rendition == .main }?.at)
    let last = try #require(burst.filter { $0.at < .seconds(48) }.last { $0.delivery.rendition.isSubtitles }?.at)
    #expect(last <= first, "\(last) \(first)")
}

@Test func burstIsDeliveredWithoutSubtitlesThatHang() async throws {
    var origin = channel(["en"])
    origin.latency = { $0.url.hasSuffix(".vtt") ? .seconds(1000) : .milliseconds(50) }
    let run = try await SessionRun(origin, seconds: 12, upstream: upstream)
    let first = try #require(run.deliveries.first?.at)
    #expect((.seconds(1) ... .milliseconds(1200)).contains(first), "\(first)")
}

@Test func nothingIsFetchedBeforeTheMainRenditionIsJoined() async throws {
    var origin = channel(["en"])
    let healthy = origin.instead
    origin.instead = { request, now in
        let isMain = request.url.hasSuffix("main.m3u8")
        return isMain && now < .seconds(3) ? refused(503, request) : healthy(request, now)
    }
    let run = try await SessionRun(origin, seconds: 40, upstream: upstream)
    let media = run.requests.filter { $0.request.purpose == .segment }
    #expect(media.allSatisfy { $0.at > .seconds(3) } && !media.isEmpty)
}
