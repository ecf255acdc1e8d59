import Media
import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private let upstream = "http://origin.example/master.m3u8"

private func multivariantPlaylist(_ audio: [(name: String, language: String)]) -> String {
    "#EXTM3U\n"
        + audio.enumerated().map { index, track in
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(track.name)\",LANGUAGE=\"\(track.language)\","
                + "DEFAULT=\(index == 0 ? "YES" : "NO"),URI=\"audio-\(track.name).m3u8\"\n"
        }.joined() + "#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO=\"a\"\nmain.m3u8\n"
}

/// A channel of English, German and French. `instead` has answers for German.
private func channel(
    _ tracks: @escaping @Sendable (_ now: Duration) -> [(name: String, language: String)] = { _ in
        [("en", "en"), ("de", "de"), ("fr", "fr")]
    }, instead: @escaping @Sendable (_ request: FetchRequest, _ now: Duration) -> FetchOutcome?
) -> SessionOrigin {
    var origin = SessionOrigin()
    origin.instead = { [base = origin] request, now in
        if request.url == upstream { return text(multivariantPlaylist(tracks(now)), request) }
        if request.url.contains("de"), let outcome = instead(request, now) { return outcome }
        guard request.purpose == .mediaPlaylist, let dash = request.url.firstIndex(of: "-") else { return nil }
        var playlist = base
        let name = request.url[dash...].dropLast(".m3u8".count)
        playlist.uri = { number, _ in "audio\(name)-\(number).aac" }
        return text(playlist.playlist(at: now), request)
    }
    return origin
}

/// Playlist texts of German at another time of the channel.
private func playlist(at time: Duration, head: String = "") -> String {
    var origin = SessionOrigin()
    (origin.head, origin.uri) = (head, { number, _ in "audio-de-\(number).aac" })
    return origin.playlist(at: time)
}

private typealias Instead = @Sendable (_ request: FetchRequest, _ now: Duration) -> FetchOutcome?

/// What German does, and which of the numbers 104 ... 112 are had of it.
private let rows: [(when: String, instead: Instead, german: ClosedRange<UInt64>?)] = [
    ("nothing of it can be had", { request, _ in refused(403, request) }, nil),
    (
        "it lags by nine seconds",
        { request, now in
            request.purpose == .mediaPlaylist ? text(playlist(at: max(.zero, now - .seconds(9))), request) : nil
        }, 104...111
    ),
    (
        "it stalls alone",
        { request, now in
            request.purpose == .mediaPlaylist ? text(playlist(at: min(now, .seconds(19))), request) : nil
        }, 104...108
    ),
    (
        "it stalls and comes back",
        { request, now in
            let time = now < .seconds(36) ? min(now, .seconds(19)) : now
            return request.purpose == .mediaPlaylist ? text(playlist(at: time), request) : nil
        }, 104...112
    ),
    (
        "it alone is encrypted, in a way that is known",
        { request, now in
            request.purpose == .mediaPlaylist
                ? text(playlist(at: now, head: "#EXT-X-KEY:METHOD=AES-128,URI=\"de.key\"\n"), request) : nil
        }, 104...112
    ),
    (
        "it alone is encrypted, in a way that is not",
        { request, now in
            let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"com.apple.fps\"\n"
            return request.purpose == .mediaPlaylist ? text(playlist(at: now, head: key), request) : nil
        }, nil
    ),
    ("its segments hang", { request, _ in request.purpose == .segment ? failed(.timedOut, request) : nil }, nil),
]

private func run(_ origin: SessionOrigin, seconds: Int) async throws -> SessionRun {
    var policy = UpstreamSession.Policy(variant: .highest)
    policy.audioTracks = .all
    return try await SessionRun(origin, seconds: seconds, upstream: upstream, policy: policy)
}

/// One language never delays, stops or loses another.
@Test(arguments: rows.indices)
func badAudioDoesNotAffectTheOthers(_ index: Int) async throws {
    let row = rows[index]
    let run = try await run(channel(instead: row.instead), seconds: 48)
    for role in [RenditionRole.main, .audio, .furtherAudio(1)] {
        // A segment that hangs takes one of the places for further audio, for a time.
        #expect(run.numbers(role).filter { $0 >= 104 }.starts(with: 104...110), "\(row.when), \(role)")
        #expect(run.losses(role).isEmpty, "\(row.when), \(role)")
    }
    #expect(run.end == nil, "\(row.when)")
    let late = run.deliveries.filter { $0.delivery.rendition == .main }.map(\.at).enumerated().dropFirst(3)
    #expect(late.allSatisfy { $1 < .seconds(6 * $0) }, "\(row.when)")
    let german = run.numbers(.furtherAudio(0)).filter { $0 <= 112 }
    if let expected = row.german {
        #expect(german.filter { $0 >= 104 } == Array(expected), "\(row.when)")
    } else {
        #expect(german.isEmpty, "\(row.when)")
    }
    #expect(run.requests.count { $0.request.url.contains("de") } < 80, "\(row.when)")
}

@Test func vanishedAudioComesBackUnderAnotherName() async throws {
    let tracks: @Sendable (Duration) -> [(name: String, language: String)] = { now in
        let german = now < .seconds(20) ? [("de", "de")] : now < .seconds(40) ? [] : [("deutsch", "de")]
        return [("en", "en")] + german + [("fr", "fr")]
    }
    let run = try await run(
        channel(tracks) { request, now in
            let isGone = request.url.hasSuffix("audio-de.m3u8") && now >= .seconds(20)
            return isGone ? refused(404, request) : nil
        },
        seconds: 120)
    for role in [RenditionRole.main, .audio, .furtherAudio(1)] {
        #expect(run.numbers(role).filter { $0 >= 104 }.starts(with: 104...120), "\(role)")
    }
    let german = run.segments(.furtherAudio(0))
    #expect(german.contains { $0.segment.uri.contains("audio-de-") })
    #expect(german.contains { $0.segment.uri.contains("audio-deutsch-") }, "\(run.trace(.furtherAudio(0)))")
}
