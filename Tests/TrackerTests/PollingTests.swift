@testable import Support
import Playlist
import Testing

@testable import Fetch
@testable import Tracker

// Freshness of answers, blocking reloads, and the modes of a session.

private let freshnessRows: [(when: String, headers: [(String, String)], age: Int, maxAge: Int)] = [
    ("nothing said", [], 0, 0),
    ("max-age", [("Cache-Control", "public, max-age=2")], 0, 2),
    ("with an Age", [("age", "1"), ("cache-control", "max-age=6")], 1, 6),
    ("s-maxage comes first", [("Cache-Control", "max-age=2,s-maxage=4")], 0, 4),
    ("no-cache", [("Cache-Control", "no-cache, max-age=5")], 0, 0),
    ("malformed", [("Age", "-3"), ("Cache-Control", "max-age=soon")], 0, 0),
    ("a century", [("Age", "99999999999999999999"), ("Cache-Control", "max-age=3153600000")], 86400, 86400),
]

@Test(arguments: freshnessRows)
func freshnessOfAnAnswer(when: String, headers: [(String, String)], age: Int, maxAge: Int) {
    let answer = FetchAnswer(
        status: 200, finalURL: "http://a/b", headers: headers.map { .init(name: $0.0, value: $0.1) }, body: [])
    #expect(answer.cacheFreshness == CacheFreshness(age: .seconds(age), maxAge: .seconds(maxAge)), "\(when)")
}

@Test func directiveIsAppendedToTheQuery() {
    var blocking = BlockingReload()
    #expect(blocking.directed("http://a/b.m3u8") == "http://a/b.m3u8")
    blocking.loaded(next: 7, grew: true, at: .zero)
    #expect(blocking.directed("http://a/b.m3u8") == "http://a/b.m3u8?_HLS_msn=7")
    #expect(blocking.directed("http://a/b.m3u8?t=1") == "http://a/b.m3u8?t=1&_HLS_msn=7")
    blocking.loaded(next: 7, grew: false, at: .seconds(1))
    #expect(blocking.mediaSequence == nil, "the server did not hold back its answer")
    blocking.loaded(next: 8, grew: true, at: .seconds(30))
    #expect(blocking.mediaSequence == nil)
    blocking.loaded(next: 9, grew: true, at: .seconds(601))
    #expect(blocking.mediaSequence == 9)
    blocking.failed(at: .seconds(610))
    #expect(blocking.mediaSequence == nil)
}

/// Playlist loads of a session in a mode, against an origin that offers blocking reloads.
///
/// - Parameter holds: whether the origin holds back its answers.
private func loads(
    _ mode: PollingMode, seconds: Int = 240, holds: Bool = true,
    configure: (inout UpstreamSession.Policy) -> Void = { _ in }
) async throws -> (loads: [(request: FetchRequest, at: Duration)], late: [Duration], state: PollingState?) {
    var origin = SessionOrigin()
    origin.head = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n"
    var policy = UpstreamSession.Policy(variant: .highest)
    policy.polling = mode
    configure(&policy)
    var driver = ReplayDriver(session: UpstreamSession(upstream: SessionOrigin.url, policy: policy))
    var made: [(FetchRequest, Duration)] = []
    var late: [Duration] = []
    var state: PollingState?
    _ = try await driver.run(until: .seconds(seconds)) { request, now in
        let parts = request.url.split(separator: "?_HLS_msn=")
        let plain = FetchRequest(request.purpose, url: String(parts[0]))
        if request.purpose == .mediaPlaylist { made.append((request, now)) }
        guard holds, parts.count == 2, let number = Int(parts[1]) else { return origin.answer(plain, at: now) }
        let listed = max(now, .seconds((number - 105) * 6))
        return (origin.answer(plain, at: listed).0, listed - now + .milliseconds(50))
    } perform: { output, now in
        if case .status(let status) = output { state = status.renditions.first?.polling ?? state }
        guard case .delivery(let delivery) = output, case .segment(let segment) = delivery.content else { return }
        late.append(now - .seconds((Int(segment.segment.mediaSequence) - 105) * 6))
    }
    return (made, Array(late.suffix(20)), state)
}

@Suite struct PollingModeTests {
    @Test func blockingReloadIsHeldUntilThePublication() async throws {
        let run = try await loads(.blocking)
        #expect(run.loads.allSatisfy { $0.request.url.contains("_HLS_msn=") && $0.request.duration == .seconds(18) })
        #expect(run.state == .blocking && run.late.allSatisfy { $0 <= .milliseconds(100) })
        #expect(run.loads.count <= 41)
    }

    @Test func serverThatIgnoresTheDirectiveIsPolled() async throws {
        let run = try await loads(.blocking, holds: false)
        #expect(run.loads.count { $0.request.url.contains("_HLS_msn=") } == 1)
        #expect(run.state == .holding && run.loads.count <= 50)
    }

    @Test func otherModesAskForNoBlockingReload() async throws {
        for mode in [PollingMode.standard, .edge] {
            let run = try await loads(mode)
            #expect(!run.loads.contains { $0.request.url.contains("_HLS_msn=") })
            #expect(run.state == (mode == .edge ? .holding : .standard))
        }
        let limited = try await loads(.blocking) { $0.maxConnections = 1 }
        #expect(limited.state == .holding)
        let watching = try await loads(.blocking) { $0.fetchesMedia = false }
        #expect(watching.state == .standard)
    }

    @Test func edgeIsFoundSoonAfterThePublication() async throws {
        let standard = try await loads(.standard)
        let edge = try await loads(.edge)
        #expect(edge.late.allSatisfy { $0 <= .milliseconds(300) })
        #expect(edge.loads.count <= standard.loads.count * 115 / 100 + 5)
    }

    @Test func heldPlaylistHasATimeLimitOfItsOwn() {
        let plain = FetchRequest(.mediaPlaylist, url: "http://a/b")
        let held = FetchRequest(.mediaPlaylist, url: "http://a/b?_HLS_msn=7", duration: .seconds(18))
        let configuration = CurlConfiguration()
        #expect(configuration.limits(for: held).total == configuration.limits(for: plain).total + .seconds(18))
        #expect(configuration.limits(for: held).idle == configuration.limits(for: plain).idle + .seconds(18))
    }
}
