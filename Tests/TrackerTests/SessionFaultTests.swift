import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// How a session handles an upstream whose answers fail.

private let multivariantURL = "http://origin.example/master.m3u8"

private func isSegment(_ request: FetchRequest, _ number: UInt64) -> Bool {
    request.purpose == .segment && request.url.contains("seg\(number).ts")
}

private func isPlaylist(_ request: FetchRequest) -> Bool {
    request.purpose == .mediaPlaylist || request.purpose == .multivariantPlaylist
}

private func refusal(_ status: Int, _ request: FetchRequest, _ headers: [String: String] = [:]) -> FetchOutcome {
    .success(
        FetchAnswer(
            status: status, finalURL: request.url, headers: headers.map { .init(name: $0.key, value: $0.value) },
            body: []))
}

private func truncated(_ body: [UInt8], _ request: FetchRequest) -> FetchOutcome {
    .success(FetchAnswer(status: 200, finalURL: request.url, body: body, endsAtClose: true))
}

private func part(_ body: [UInt8], _ request: FetchRequest) -> FetchOutcome {
    let field = "bytes 0-\(body.count - 1)/\(body.count + 188)"
    return .success(
        FetchAnswer(
            status: 206, finalURL: request.url, headers: [.init(name: "Content-Range", value: field)], body: body))
}

private let packets = [[UInt8]](repeating: [0x47] + Array(repeating: 0, count: 187), count: 5).flatMap(\.self)

/// Returns an origin that is healthy except for one segment.
private func healthy(
    except number: UInt64, until end: Duration = .seconds(1 << 20),
    _ outcome: @escaping @Sendable (FetchRequest) -> FetchOutcome
) -> SessionOrigin {
    SessionOrigin().with {
        $0.instead = { request, now in isSegment(request, number) && now < end ? outcome(request) : nil }
    }
}

private let everything = "104 105 106 107 108 109 110 111"
private let without107 = "104 105 106 x107..<108 |108 109 110 111"

struct FaultRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let origin: SessionOrigin
    /// In the notation of `SessionRun.trace`.
    var delivers = everything
    /// The number of requests for segment 107.
    let tries: Int
    let faults: [FetchFault: Int]
}

// Segment 107 is listed at 12 s and requested about 50 ms later.
private let faultRows: [FaultRow] = [
    FaultRow(
        when: "503 and Retry-After in seconds",
        origin: healthy(except: 107, until: .seconds(15)) { refusal(503, $0, ["Retry-After": "4"]) }, tries: 2,
        faults: [.refused(status: 503): 1]),
    FaultRow(
        when: "503 and Retry-After as a date",
        origin: healthy(except: 107, until: .seconds(15)) {
            refusal(503, $0, ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:41 GMT"])
        }, tries: 2, faults: [.refused(status: 503): 1]),
    FaultRow(
        when: "503 and a Retry-After beyond the window: lost, because segment 108 waits",
        origin: healthy(except: 107, until: .seconds(13)) { refusal(503, $0, ["Retry-After": "3600"]) },
        delivers: without107, tries: 1, faults: [.refused(status: 503): 1]),
    FaultRow(
        when: "503 to the first seven requests",
        origin: healthy(except: 107, until: .milliseconds(17_500)) { refusal(503, $0) },
        tries: 8, faults: [.refused(status: 503): 7]),
    FaultRow(
        when: "404 until the first gap would be listed",
        origin: healthy(except: 107) { refusal(404, $0) },
        delivers: without107, tries: 13, faults: [.refused(status: 404): 12]),
    FaultRow(
        when: "no answer for four seconds",
        origin: healthy(except: 107, until: .seconds(16)) { failed(.timedOut, $0) },
        tries: 4, faults: [.transfer(.timedOut): 2]),
    FaultRow(
        when: "429 for ten seconds", origin: healthy(except: 107, until: .seconds(22)) { refusal(429, $0) }, tries: 6,
        faults: [.refused(status: 429): 5]),
    FaultRow(
        when: "509 with Retry-After: the playlist is not requested either",
        origin: healthy(except: 107, until: .seconds(22)) { refusal(509, $0, ["Retry-After": "11"]) },
        delivers: "104 105 106 107 108 109 110", tries: 2,
        faults: [.refused(status: 509): 1]),
    FaultRow(
        when: "reset twice", origin: healthy(except: 107, until: .milliseconds(12_350)) { failed(.reset, $0) },
        tries: 3,
        faults: [.transfer(.reset): 2]),
    FaultRow(
        when: "too large: one attempt", origin: healthy(except: 107) { failed(.tooLarge, $0) }, delivers: without107,
        tries: 1,
        faults: [.transfer(.tooLarge): 1]),
    FaultRow(
        when: "denied IP address: one attempt", origin: healthy(except: 107) { failed(.privateAddress, $0) },
        delivers: without107,
        tries: 1, faults: [.transfer(.privateAddress): 1]),
    FaultRow(
        when: "JSON error",
        origin: healthy(except: 107, until: .milliseconds(12_200)) { text("{\"error\": \"later\"}", $0) },
        tries: 2, faults: [.notMedia: 1]),
    FaultRow(
        when: "a playlist", origin: healthy(except: 107) { text("#EXTM3U\n#EXT-X-ENDLIST\n", $0) },
        delivers: without107, tries: 13,
        faults: [.notMedia: 13]),
    FaultRow(
        when: "truncated inside a packet, no Content-Length",
        origin: healthy(except: 107, until: .milliseconds(12_200)) { truncated(packets.dropLast(9), $0) }, tries: 2,
        faults: [.cutShort: 1]),
    FaultRow(
        when: "truncated inside a packet each time: accepted after the last attempt",
        origin: healthy(except: 107) { truncated(packets.dropLast(9), $0) }, tries: 3, faults: [.cutShort: 3]),
    FaultRow(
        when: "truncated between packets: not detected",
        origin: healthy(except: 107) { truncated(packets.dropLast(188), $0) },
        tries: 1, faults: [:]),
    FaultRow(
        when: "a part of the segment that was not asked for",
        origin: healthy(except: 107, until: .milliseconds(12_200)) { part(packets.dropLast(188), $0) }, tries: 2,
        faults: [.cutShort: 1]),
    FaultRow(
        when: "not whole packets, but complete by Content-Length",
        origin: healthy(except: 107) { bytes(packets.dropLast(9), $0) }, tries: 1, faults: [:]),
]

@Test(arguments: faultRows)
func faultsOfASegment(row: FaultRow) async throws {
    let run = try await SessionRun(row.origin, seconds: 40)
    #expect(run.trace() == row.delivers)
    #expect(run.requested(.segment).count { $0.hasSuffix("seg107.ts") } == row.tries)
    #expect(run.status?.faults == row.faults)
    let counts = try #require(run.status?.renditions.first?.counts)
    #expect(counts.lostDurations.values.reduce(.zero, +) == .seconds(6) * Int(counts.lost), "each has its EXTINF")
    #expect(run.losses().allSatisfy { $0.duration == .seconds(6) * Int($0.count) })
    let reported = run.events.count { if case .fetchFailed = $0.event { true } else { false } }
    let limits: [FetchFault] = [.refused(status: 429), .refused(status: 509)]
    let failures = row.faults.filter { !limits.contains($0.key) }.map(\.value).reduce(0, +)
    // The first, second, fourth, eighth … failure.
    #expect(reported == Int.bitWidth - failures.leadingZeroBitCount, "\(failures)")
}

@Test func playlistIsLoadedAgainAfterRetryAfter() async throws {
    for (retryAfter, waited) in [("5", 5.0...5.2), ("3600", 12.0...12.2), ("0", 0.5...0.6)] {
        var origin = SessionOrigin()
        origin.instead = { request, now in
            isPlaylist(request) && now > .seconds(8) && now < .milliseconds(12_300)
                ? refusal(503, request, ["Retry-After": retryAfter]) : nil
        }
        let run = try await SessionRun(origin, seconds: 60)
        let loads = run.requests.filter { isPlaylist($0.request) && $0.at > .seconds(8) }.map(\.at)
        let pause = (loads[1] - loads[0]) / .seconds(1)
        #expect(waited.contains(pause), "\(retryAfter): \(pause)")
        #expect(run.trace().hasPrefix("104 105 106 107 108"))
    }
}

@Test func openingWaitsForRetryAfter() async throws {
    var origin = SessionOrigin()
    origin.instead = { request, now in now < .seconds(35) ? refusal(429, request, ["Retry-After": "20"]) : nil }
    let run = try await SessionRun(origin, seconds: 60)
    #expect(run.end == nil)
    #expect(
        run.requests.filter { isPlaylist($0.request) && $0.at < .seconds(40) }.map(\.at.components.seconds) == [0, 20])
    #expect(!run.segments().isEmpty)
}

@Test func rateLimitedHostIsReportedOnceAndNothingIsLost() async throws {
    var origin = SessionOrigin()
    // The host limits requests during these ten seconds.
    let burst = Duration.seconds(20) ..< .seconds(30)
    origin.instead = { request, now in burst.contains(now) ? refusal(429, request, ["Retry-After": "3"]) : nil }
    let run = try await SessionRun(origin, seconds: 120)
    #expect(run.trace() == (104...124).map { "\($0)" }.joined(separator: " "))
    let requests = run.requests.filter { burst.contains($0.at) }
    #expect(requests.count <= 4, "\(requests.count)")
    let reported = run.events.compactMap { entry -> String? in
        switch entry.event {
        case .hostLimited(let host, let status, let pause): "\(host) \(status) \(pause.components.seconds)"
        case .hostLimitEnded(let host, let answers): "\(host) \(answers)"
        default: nil
        }
    }
    #expect(reported == ["origin.example 429 3", "origin.example \(requests.count)"])
    #expect(run.status?.meteredAnswers == requests.count)
    #expect(run.status?.rateLimitedHosts == [])
}

// MARK: - One connection

@Test(arguments: [1, 2], [Duration.milliseconds(50), .milliseconds(900)])
func noMoreRequestsThanConnections(limit: Int, latency: Duration) async throws {
    var origin = SessionOrigin()
    origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0 / 2)\"\n" }
    let healthy = origin
    origin.instead = { request, now in
        if request.url != multivariantURL {
            return isPlaylist(request) ? text(healthy.playlist(at: now), request) : nil
        }
        return text(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",URI="audio/live.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            live.m3u8

            """, request)
    }
    origin.latency = { _ in latency }
    let policy = UpstreamSession.Policy(variant: .highest, maxConnections: limit)
    let run = try await SessionRun(origin, seconds: 60, upstream: multivariantURL, policy: policy)
    let most = run.requests.map { one in run.requests.count { $0.at <= one.at && one.at < $0.at + latency } }.max()
    #expect(most == limit)
    #expect(run.numbers(.main).starts(with: 104...112) && run.numbers(.audio).starts(with: 103...112))
    #expect(run.losses() == [] && run.losses(.audio) == [])
}

// MARK: - Truncated playlists

@Test func truncatedURLIsNotFetched() async throws {
    var origin = SessionOrigin()
    let healthy = origin
    origin.instead = { request, now in
        guard isPlaylist(request) else { return nil }
        let whole = Array(healthy.playlist(at: now).utf8)
        return truncated(Int(now.components.seconds) % 6 == 0 && now > .seconds(1) ? whole.dropLast(5) : whole, request)
    }
    let run = try await SessionRun(origin, seconds: 40)
    #expect(run.trace() == everything)
    #expect(run.requested(.segment).allSatisfy { $0.hasSuffix(".ts") })
}

@Test func playlistWithoutLastLineEndIsReadCompletely() async throws {
    for isWhole in [true, false] {
        var origin = SessionOrigin()
        origin.stopsAt = .seconds(12)
        origin.endsWithList = true
        let healthy = origin
        origin.instead = { request, now in
            guard isPlaylist(request) else { return nil }
            let text = Array(healthy.playlist(at: now).utf8.dropLast())
            return isWhole ? bytes(text, request) : truncated(text, request)
        }
        let run = try await SessionRun(origin, seconds: 60)
        #expect(
            run.trace() == (isWhole ? "104 105 106 107 ." : "103 104 105 106 107 ."),
            "the playlist that may be truncated is one segment late")
        #expect(run.end == .drained)
    }
}

@Test func urlWithUnsupportedSchemeIsRequestedOnce() async throws {
    var origin = SessionOrigin()
    origin.uri = { number, _ in number == 107 ? "file:///etc/hostname" : "seg\(number).ts" }
    origin.instead = { request, _ in request.url.hasPrefix("file:") ? failed(.unsupportedScheme, request) : nil }
    let run = try await SessionRun(origin, seconds: 40)
    #expect(run.trace() == without107)
    #expect(run.requested(.segment).count { $0.hasPrefix("file:") } == 1)
}
