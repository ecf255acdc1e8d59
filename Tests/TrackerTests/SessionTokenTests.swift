@testable import Fetch
import Playlist
import Testing

@testable import Support
@testable import Tracker

// How a session handles tokens and cookies that expire.

private let multivariantURL = "http://origin.example/master.m3u8"

private func isPlaylist(_ request: FetchRequest) -> Bool {
    request.purpose == .mediaPlaylist || request.purpose == .multivariantPlaylist
}

private func refusal(_ status: Int, _ request: FetchRequest) -> FetchOutcome {
    .success(FetchAnswer(status: status, finalURL: request.url, body: []))
}

/// Returns a channel with a multivariant playlist, whose URLs have a token that expires every `seconds`.
private func tokens(_ status: Int, every seconds: Int64, keys: Bool = false) -> SessionOrigin {
    var origin = SessionOrigin()
    if keys { origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0)\"\n" } }
    let plain = origin
    origin.instead = { request, now in
        let current = now.components.seconds / seconds
        guard request.url != multivariantURL else {
            return text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlive.m3u8?t=\(current)\n", request)
        }
        let token = URIReference.queryParameter("t", of: request.url)
        if request.purpose == .mediaPlaylist {
            // The playlist is answered whatever its token, with URLs of that token.
            let playlist = plain.playlist(at: now).replacing(".ts", with: ".ts?t=\(token ?? "")")
            return text(playlist.replacing(/URI="(key\d+)"/) { "URI=\"\($0.1)?t=\(token ?? "")\"" }, request)
        }
        guard request.purpose == (keys ? .key : .segment), token != "\(current)" else { return nil }
        return refusal(status, request)
    }
    return origin
}

@Test(arguments: [401, 403, 410], [false, true])
func expiredTokenLosesNothing(status: Int, ofKeys: Bool) async throws {
    let run = try await SessionRun(tokens(status, every: 13, keys: ofKeys), seconds: 60, upstream: multivariantURL)
    #expect(run.trace() == (104...114).map { "\($0)" }.joined(separator: " "), "no duplicate, no discontinuity")
    let expired = run.events.filter { if case .fetchFailed(_, .refused, _, _) = $0.event { true } else { false } }
    let reloads = run.requests.filter { $0.request.url == multivariantURL && $0.at > .zero }
    #expect(expired.count >= 3 && reloads.count >= 3)
    for reload in reloads { #expect(expired.contains { $0.at == reload.at }, "at once") }
}

@Test func expiredCookieLosesNothing() async throws {
    var origin = SessionOrigin()
    let healthy = origin
    /// The multivariant playlist's answer renews the cookie. The URLs do not change.
    let renewals = Renewals()
    origin.instead = { request, now in
        if request.url == multivariantURL {
            renewals.renew(at: now)
            return text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlive.m3u8\n", request)
        }
        if isPlaylist(request) { return text(healthy.playlist(at: now), request) }
        return renewals.isExpired(at: now) ? refusal(403, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 60, upstream: multivariantURL)
    #expect(run.trace() == (104...114).map { "\($0)" }.joined(separator: " "))
    #expect(run.requests.count { $0.request.url == multivariantURL } >= 4)
}

@Test func mediaPlaylistIsReloadedAtOnceWithoutAMultivariantPlaylist() async throws {
    var origin = SessionOrigin()
    origin.uri = { number, now in "seg\(number).ts?t=\(now.components.seconds / 7)" }
    origin.instead = { request, now in
        guard request.purpose == .segment else { return nil }
        let token = URIReference.queryParameter("t", of: request.url)
        return token == "\(now.components.seconds / 7)" ? nil : refusal(403, request)
    }
    origin.latency = { $0.purpose == .segment ? .milliseconds(400) : .milliseconds(50) }
    let run = try await SessionRun(origin, seconds: 60)
    #expect(run.losses() == [])
    #expect(run.numbers() == Array(104...114))
}

@Test func permanentRefusalCausesFewRequests() async throws {
    let origin = SessionOrigin().with {
        $0.instead = { request, _ in
            if request.url == multivariantURL {
                return text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlive.m3u8\n", request)
            }
            return request.purpose == .segment ? refusal(403, request) : nil
        }
    }
    let run = try await SessionRun(origin, seconds: 60, upstream: multivariantURL)
    #expect(run.segments().isEmpty)
    // Nothing else could be delivered: each listed segment is requested once a second, with a fresh URL.
    #expect(run.requested(.segment).count < 240, "\(run.requested(.segment).count)")
    #expect(
        run.requests.count { $0.request.url == multivariantURL } < 40,
        "\(run.requests.count { $0.request.url == multivariantURL })")
}

@Test func expiredTokenOfAFinishedPlaylistLosesNothing() async throws {
    var origin = tokens(403, every: 3)
    let live = origin
    origin.instead = { request, now in
        guard case .success(let answer)? = live.instead(request, now), request.purpose == .mediaPlaylist else {
            return live.instead(request, now)
        }
        return bytes(answer.body + Array("#EXT-X-ENDLIST\n".utf8), request)
    }
    origin.latency = { $0.purpose == .segment ? .seconds(2) : .milliseconds(50) }
    let policy = UpstreamSession.Policy(variant: .highest, maxInFlight: 1)
    let run = try await SessionRun(origin, seconds: 90, upstream: multivariantURL, policy: policy)
    #expect(run.trace() == "100 101 102 103 104 105 .")
    #expect(run.end == .drained)
}
