import Playlist
import Testing
import TrackerTestSupport

@testable import Fetch
@testable import Support
@testable import Tracker

private let upstream = "http://origin.example/master.m3u8"
private let twoVariants = """
    #EXTM3U
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="audio.m3u8"
    #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
    low.m3u8
    #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="a"
    high.m3u8

    """

private func multivariant(
    _ instead: @escaping @Sendable (_ request: FetchRequest, _ now: Duration) -> FetchOutcome? = { _, _ in nil },
    playlist: @escaping @Sendable (_ now: Duration) -> String = { _ in twoVariants }
) -> SessionOrigin {
    var origin = SessionOrigin()
    origin.instead = { request, now in
        if let outcome = instead(request, now) { return outcome }
        return request.url == upstream ? text(playlist(now), request) : nil
    }
    return origin
}

@Test func variantAndItsAudioAreFollowed() async throws {
    let run = try await SessionRun(multivariant(), seconds: 30, upstream: upstream)
    #expect(run.requested(.multivariantPlaylist) == [upstream])
    let playlists = Set(run.requested(.mediaPlaylist))
    #expect(playlists == ["http://origin.example/high.m3u8", "http://origin.example/audio.m3u8"])
    #expect(run.trace(.main) == "104 105 106 107 108 109")
    #expect(run.trace(.audio) == "103 104 105 106 107 108 109", "one segment earlier")
    guard case .variantSelected(let variant, let audio, _, _) = run.events.first?.event else {
        Issue.record("no variant was selected")
        return
    }
    #expect(variant.bandwidth == 3_000_000 && audio?.name == "en")
}

@Test func failedCompanionDoesNotEndTheChannel() async throws {
    let origin = multivariant { request, _ in request.url.contains("audio") ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    #expect(run.trace(.main) == "104 105 106 107 108 109")
    #expect(run.trace(.audio) == "")
    #expect(run.requests.count < 60)
}

private func selectedAudio(_ run: SessionRun) -> [String] {
    run.events.compactMap {
        guard case .variantSelected(_, let audio, _, _) = $0.event else { return nil }
        return "\(audio?.name ?? "none") \(audio?.uri ?? "in the segments")"
    }
}

@Test func audioRenditionThatIsNotThereIsReplacedByTheVariantsOwnAudio() async throws {
    let origin = multivariant { request, _ in request.url.contains("audio") ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    #expect(selectedAudio(run) == ["en audio.m3u8", "en in the segments"])
    let abandoned = run.times { if case .audioAbandoned = $0 { true } else { false } }
    #expect(abandoned.count == 1)
    let first = try #require(run.deliveries.first { $0.delivery.rendition == .main })
    #expect(try abandoned.count == 1 && first.at >= #require(abandoned.first), "no segment comes before it is known")
    #expect(run.trace(.main) == "104 105 106 107 108 109")
}

@Test func audioRenditionThatComesLateIsWaitedFor() async throws {
    let origin = multivariant { request, now in
        request.url.contains("audio") && now < .seconds(2) ? refused(503, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    #expect(selectedAudio(run) == ["en audio.m3u8"])
    #expect(run.trace(.main) == "104 105 106 107 108 109" && run.trace(.audio) == "103 104 105 106 107 108 109")
}

@Test func audioRenditionAtTheVariantsOwnURLIsInItsSegments() async throws {
    let list =
        "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"en\",DEFAULT=YES,URI=\"v.m3u8\"\n"
        + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n"
    let run = try await SessionRun(multivariant(playlist: { _ in list }), seconds: 30, upstream: upstream)
    #expect(selectedAudio(run) == ["en in the segments"])
    #expect(run.trace(.main) == "104 105 106 107 108 109" && run.trace(.audio) == "")
}

@Test func variantThatIsAMultivariantPlaylistIsFollowedToItsVariants() async throws {
    let wrapper = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nreal/master.m3u8\n"
    let origin = multivariant { request, _ in
        request.url.hasSuffix("/real/master.m3u8") ? text(twoVariants, request) : nil
    } playlist: { _ in
        wrapper
    }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    #expect(run.trace(.main) == "104 105 106 107 108 109" && run.trace(.audio) == "103 104 105 106 107 108 109")
    #expect(run.requested(.mediaPlaylist).contains("http://origin.example/real/high.m3u8"))
}

@Test func multivariantPlaylistsThatNameEachOtherEnd() async throws {
    let origin = multivariant { request, _ in
        text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nagain/master.m3u8\n", request)
    }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    guard case .failed(let error) = run.end else {
        Issue.record("\(String(describing: run.end))")
        return
    }
    #expect(error.reason == .unexpectedPlaylistKind && run.requests.count == 4)
}

@Test func refusedMediaPlaylistReloadsTheMultivariantPlaylistAtOnce() async throws {
    let origin = multivariant { request, now in
        request.url.contains("token=0") && now > .seconds(14) ? refused(403, request) : nil
    } playlist: { now in
        let token = now.components.seconds / 14
        return "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(token)/list.m3u8?token=\(token)\n"
    }
    let run = try await SessionRun(origin, seconds: 27, upstream: upstream)
    #expect(run.trace() == "104 105 106 107 108 109", "no duplicate, no discontinuity")
    let refusedAt = run.times { if case .playlistFailed = $0 { true } else { false } }
    let moved = run.times { $0 == .moved(.main, url: "http://origin.example/1/list.m3u8?token=1") }
    #expect(refusedAt.count == 1 && moved.count == 1)
    #expect(try #require(moved.first) - #require(refusedAt.first) <= .milliseconds(50))
}

@Test func multivariantPlaylistThatBecomesAMediaPlaylistIsFollowed() async throws {
    let origin = multivariant { request, now in
        guard now > .seconds(14), !request.url.contains("seg") else { return nil }
        if request.url.contains("high") { return refused(404, request) }
        return request.url == upstream ? text(SessionOrigin().playlist(at: now), request) : nil
    }
    let run = try await SessionRun(origin, seconds: 40, upstream: upstream)
    #expect(run.trace() == "104 105 106 107 108 109 110 111")
    #expect(run.times { $0 == .moved(.main, url: upstream) }.count == 1)
}

@Test func permanentlyRefusedMediaPlaylistCausesFewRequests() async throws {
    let origin = multivariant { request, now in
        request.url.contains("high") && now > .seconds(14) ? refused(403, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 120, upstream: upstream)
    let requests = run.requests.filter {
        $0.at > .seconds(14) && ($0.request.url.contains("high") || $0.request.url == upstream)
    }
    #expect(requests.count < 60, "\(requests.count)")
    #expect(run.trace() == "104 105 106 107")
}

@Test func audioIsNotFetchedIfItIsNotFollowed() async throws {
    let policy = UpstreamSession.Policy(variant: .highest, followsAudio: false)
    let run = try await SessionRun(multivariant(), seconds: 30, upstream: upstream, policy: policy)
    #expect(!run.numbers().isEmpty && run.trace(.audio).isEmpty)
    #expect(run.requests.allSatisfy { !$0.request.url.contains("audio") })
}

@Test func redundantVariantReplacesARefusedOne() async throws {
    let origin = multivariant { request, now in
        request.url.contains("a.m3u8") && now > .seconds(14) ? refused(503, request) : nil
    } playlist: { _ in
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n"
    }
    let run = try await SessionRun(origin, seconds: 60, upstream: upstream)
    #expect(run.numbers() == Array(104...114))
    #expect(run.times { $0 == .moved(.main, url: "http://origin.example/b.m3u8") }.count == 1)
}

@Test func silentChannelEscalatesAndGivesUp() async throws {
    var origin = multivariant()
    origin.stopsAt = .seconds(6)
    let policy = UpstreamSession.Policy(variant: .highest, giveUp: .seconds(60))
    let run = try await SessionRun(origin, seconds: 200, upstream: upstream, policy: policy)
    let grewAt = run.status?.renditions.first?.grewAt ?? .zero
    let steps = run.events.compactMap { entry -> StallEscalation.Step? in
        if case .stalled(.main, let step, _) = entry.event { step } else { nil }
    }
    #expect(steps == [.late, .reloadMultivariant, .outage, .giveUp], "there is no redundant variant")
    guard case .gaveUp(let error) = run.end else {
        Issue.record("it did not give up")
        return
    }
    #expect(error.reason == .silent(for: .seconds(60)))
    #expect(run.endedAt == grewAt + .seconds(60))
    let reloads = run.requests.filter { $0.request.url == upstream && $0.at > .zero }.map(\.at)
    #expect(reloads.count >= 6 && reloads.count <= 10, "\(reloads)")
}

@Test func channelWithoutGiveUpSurvivesAnyOutage() async throws {
    let origin = multivariant { request, now in
        now > .seconds(8) && now < .seconds(4000) ? failed(.refused, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 4060, upstream: upstream)
    #expect(run.end == nil)
    #expect(run.losses().map(\.reason) == [.slidOut])
    #expect(run.numbers().last ?? 0 > 775)
    #expect(run.times { if case .resumed(.main, _) = $0 { true } else { false } }.count == 1)
}

@Test func sessionEndsAfterBothRenditions() async throws {
    var origin = multivariant()
    origin.stopsAt = .seconds(6)
    origin.endsWithList = true
    let run = try await SessionRun(origin, seconds: 60, upstream: upstream)
    #expect(run.trace(.main) == "104 105 106 .")
    #expect(run.trace(.audio) == "103 104 105 106 .")
    #expect(run.end == .drained)
}

/// Lines that everybody else reads past are counted with each load, and reported once.
@Test func irregularPlaylistsAreFollowedCountedAndReportedOnce() async throws {
    var origin = multivariant(playlist: { _ in
        "#EXTM3U\n#EXT-X-VERSION:ten\nstray.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1280000.0\nhigh.m3u8\n"
    })
    origin.head = "#EXT-X-PLAYLIST-TYPE:LIVE\n"
    origin.tags = { number in number == 107 ? "#EXTINF:9,\n" : "" }
    let run = try await SessionRun(origin, seconds: 30, upstream: upstream)
    #expect(run.trace(.main) == "104 105 106 107 108 109")
    let irregular = run.events.filter { if case .playlistIrregular = $0.event { true } else { false } }
    #expect(
        irregular.map(\.event.text) == [
            "playlist-irregular rendition=master line=3 tag=EXT-X-STREAM-INF reason=missing",
            "playlist-irregular rendition=master line=4 tag=EXT-X-STREAM-INF reason=bad-value",
            "playlist-irregular rendition=main line=4 tag=EXT-X-PLAYLIST-TYPE reason=bad-value",
            "playlist-irregular rendition=main line=16 tag=EXTINF reason=duplicate",
        ])
    let loads = run.requested(.mediaPlaylist).count
    #expect(run.status?.renditions.first?.counts[.irregularPlaylists] == loads + 1, "and the multivariant playlist")
}
