@testable import Support
import Playlist
import Testing

@testable import Fetch
@testable import Tracker

struct SessionRow: Sendable, CustomTestStringConvertible {
    let when: String
    var seconds = 40
    var origin = SessionOrigin()
    /// In the notation of `SessionRun.trace`.
    let delivers: String
    var end: SessionEnd?

    var testDescription: String { when }
}

extension SessionOrigin {
    func with(_ change: (inout SessionOrigin) -> Void) -> SessionOrigin {
        var origin = self
        change(&origin)
        return origin
    }
}

private func isSegment(_ request: FetchRequest, _ number: UInt64) -> Bool {
    request.purpose == .segment && request.url.contains("seg\(number).ts")
}

private func isPlaylist(_ request: FetchRequest) -> Bool {
    request.purpose == .mediaPlaylist || request.purpose == .multivariantPlaylist
}

let liveRows: [SessionRow] = [
    SessionRow(when: "a healthy live channel", delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "the playlist does not grow for 20 s, then grows again",
        origin: SessionOrigin().with { origin in
            let healthy = SessionOrigin()
            origin.instead = { request, now in
                guard isPlaylist(request), now > .seconds(10), now < .seconds(30) else { return nil }
                return text(healthy.playlist(at: .seconds(10)), request)
            }
        }, delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "the window slides during an outage of the origin",
        seconds: 100,
        origin: SessionOrigin().with { origin in
            origin.instead = { request, now in
                isPlaylist(request) && now > .seconds(2) && now < .seconds(70) ? refused(503, request) : nil
            }
        }, delivers: "104 105 x106..<112 |112 113 114 115 116 117 118 119 120 121"),
    SessionRow(
        when: "a segment is refused once",
        origin: SessionOrigin().with {
            $0.instead = { request, now in
                isSegment(request, 107) && now < .milliseconds(12_200) ? refused(404, request) : nil
            }
        }, delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "a segment is refused each time",
        origin: SessionOrigin().with {
            $0.instead = { request, _ in isSegment(request, 107) ? refused(404, request) : nil }
        }, delivers: "104 105 106 x107..<108 |108 109 110 111"),
    SessionRow(
        when: "an HTML page in place of media",
        origin: SessionOrigin().with {
            $0.instead = { request, _ in
                isSegment(request, 107) ? text("\n<!doctype HTML><p>soon", request) : nil
            }
        }, delivers: "104 105 106 x107..<108 |108 109 110 111"),
    SessionRow(
        when: "an empty body in place of media",
        origin: SessionOrigin().with {
            $0.instead = { request, _ in isSegment(request, 107) ? bytes([], request) : nil }
        }, delivers: "104 105 106 x107..<108 |108 109 110 111"),
    SessionRow(
        when: "EXT-X-GAP",
        origin: SessionOrigin().with { $0.tags = { $0 == 107 ? "#EXT-X-GAP\n" : "" } },
        delivers: "104 105 106 x107..<108 |108 109 110 111"),
    SessionRow(
        when: "every third playlist is stale",
        origin: SessionOrigin().with { origin in
            let healthy = SessionOrigin()
            origin.instead = { request, now in
                guard isPlaylist(request), Int(now.components.seconds) / 3 % 3 == 2 else { return nil }
                return text(healthy.playlist(at: now - .seconds(12)), request)
            }
        }, delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "queries change at each load",
        origin: SessionOrigin().with { $0.uri = { "seg\($0).ts?token=\($1.components.attoseconds)\($1)" } },
        delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "the encoder restarts its numbers at 0",
        origin: SessionOrigin().with { origin in
            var restarted = SessionOrigin()
            restarted.edge = 0
            restarted.uri = { number, _ in "new\(number).ts" }
            let current = restarted
            origin.instead = { request, now in
                isPlaylist(request) && now > .seconds(20) ? text(current.playlist(at: now - .seconds(8)), request) : nil
            }
        }, delivers: "104 105 106 107 108 |0 1 2 3"),
    SessionRow(
        when: "loads fail with HTML, a truncated playlist and a timeout, then succeed",
        origin: SessionOrigin().with { origin in
            let healthy = SessionOrigin()
            origin.instead = { request, now in
                guard isPlaylist(request), now > .seconds(5), now < .seconds(11) else { return nil }
                switch Int(now.components.seconds) % 3 {
                case 0: return text("<html>", request)
                case 1: return text(String(healthy.playlist(at: now).prefix(30)), request)
                default: return failed(.timedOut, request)
                }
            }
        }, delivers: "104 105 106 107 108 109 110 111"),
    SessionRow(
        when: "ENDLIST",
        origin: SessionOrigin().with {
            $0.stopsAt = .seconds(12)
            $0.endsWithList = true
        }, delivers: "104 105 106 107 .", end: .drained),
    SessionRow(
        when: "ENDLIST, then a restarted encoder at the same URL",
        seconds: 60,
        origin: SessionOrigin().with { origin in
            var ended = SessionOrigin()
            (ended.stopsAt, ended.endsWithList) = (.seconds(12), true)
            var restarted = SessionOrigin()
            restarted.edge = 2
            restarted.uri = { number, _ in "new\(number).ts" }
            let (first, second) = (ended, restarted)
            origin.instead = { request, now in
                guard isPlaylist(request) else { return nil }
                let text = now < .seconds(28) ? first.playlist(at: now) : second.playlist(at: now - .seconds(28))
                return bytes(Array(text.utf8), request)
            }
        }, delivers: "104 105 106 107 |0 1 2 3 4 5"),
    SessionRow(
        when: "ENDLIST, and older playlists without it from a stale edge", seconds: 60,
        origin: SessionOrigin().with { origin in
            (origin.stopsAt, origin.endsWithList) = (.seconds(12), true)
            let healthy = origin
            origin.instead = { request, now in
                guard isPlaylist(request), Int(now.components.seconds) % 2 == 0 else { return nil }
                return text(healthy.playlist(at: min(now, .seconds(11))), request)
            }
        }, delivers: "104 105 106 107 .", end: .drained),
    SessionRow(
        when: "ENDLIST, then 404", seconds: 60,
        origin: SessionOrigin().with { origin in
            (origin.stopsAt, origin.endsWithList) = (.seconds(12), true)
            origin.instead = { request, now in isPlaylist(request) && now > .seconds(16) ? refused(404, request) : nil }
        }, delivers: "104 105 106 107 .", end: .drained),
    SessionRow(
        when: "VOD",
        origin: SessionOrigin().with {
            $0.stopsAt = .zero
            $0.endsWithList = true
        }, delivers: "100 101 102 103 104 105 .", end: .drained),
    SessionRow(
        when: "answers arrive out of order",
        origin: SessionOrigin().with {
            $0.stopsAt = .zero
            $0.endsWithList = true
            $0.latency = { .milliseconds($0.url.contains("seg100") ? 4000 : $0.url.contains("seg102") ? 900 : 50) }
        }, delivers: "100 101 102 103 104 105 .", end: .drained),
]

@Test(arguments: liveRows)
func sessionDelivers(row: SessionRow) async throws {
    let run = try await SessionRun(row.origin, seconds: row.seconds)
    #expect(run.trace() == row.delivers)
    #expect(run.end == row.end)
}

@Test func newSegmentIsFoundAtTheNextPermittedLoad() async throws {
    let run = try await SessionRun(SessionOrigin(), seconds: 60)
    let loads = run.requests.filter { isPlaylist($0.request) }.map(\.at)
    for (load, next) in zip(loads, loads.dropFirst()) { #expect(next - load >= .seconds(3)) }
    for (delivery, at) in run.deliveries.dropFirst(2) {
        guard case .segment(let segment) = delivery.content else { continue }
        let appeared = Duration.seconds(6 * (Int64(segment.segment.mediaSequence) - 105))
        #expect(at - appeared <= .milliseconds(3200), "\(segment.segment.mediaSequence)")
    }
}

@Test func urisAreResolvedAgainstTheURLAfterRedirects() async throws {
    var origin = SessionOrigin()
    let healthy = origin
    origin.instead = { request, now in
        guard isPlaylist(request) else { return nil }
        return bytes(Array(healthy.playlist(at: now).utf8), request, from: "https://cdn.example/a/b/list.m3u8?t=1")
    }
    let run = try await SessionRun(origin, seconds: 20)
    #expect(run.requested(.segment).first == "https://cdn.example/a/b/seg104.ts")
    #expect(Set(run.requests.filter { isPlaylist($0.request) }.map(\.request.url)) == [SessionOrigin.url])
}

@Test func keysAndMapsAreFetchedOnceEach() async throws {
    var origin = SessionOrigin()
    origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0 / 3)\"\n#EXT-X-MAP:URI=\"init.mp4\"\n" }
    let run = try await SessionRun(origin, seconds: 40)
    #expect(run.requested(.key).map { $0.suffix(5) } == ["key34", "key35", "key36", "key37"])
    #expect(run.requested(.map).count == 1)
    let segments = run.segments()
    #expect(segments.map(\.segment.mediaSequence) == Array(104...111))
    #expect(segments.allSatisfy { $0.key?.count == 16 && $0.mapKey == $0.key })
    #expect(segments.allSatisfy { $0.map?.isEmpty == false })
    #expect(segments.allSatisfy { $0.keyURL?.hasPrefix("http://origin.example/live/key") == true })
}

@Test func missingKeyLosesOnlyItsSegments() async throws {
    var origin = SessionOrigin()
    origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0)\"\n" }
    origin.instead = { request, _ in request.url.hasSuffix("key107") ? refused(403, request) : nil }
    let run = try await SessionRun(origin, seconds: 40)
    #expect(run.trace() == "104 105 106 x107..<108 |108 109 110 111")
    let url = "http://origin.example/live/key107"
    #expect(run.losses().first?.reason == .keyUnavailable(url: url, .refused(status: 403)))
    #expect(run.losses().first?.cause == .overtaken)
}

@Test func byteRangeIsExtractedFromAWholeFile() async throws {
    var origin = SessionOrigin()
    origin.stopsAt = .zero
    origin.endsWithList = true
    origin.tags = { "#EXT-X-BYTERANGE:10@\(($0 - 100) * 10)\n" }
    origin.uri = { _, _ in "all.ts" }
    origin.instead = { request, _ in
        guard request.purpose == .segment, let range = request.byteRange else { return nil }
        if range.offset == 20 { return bytes(Array(20..<30), request, status: 206) }
        return bytes(Array(0..<60), request)
    }
    let run = try await SessionRun(origin, seconds: 40)
    let tens: [[UInt8]] = [0, 10, 20, 30, 40, 50].map { Array($0..<$0 + 10) }
    #expect(run.segments().map(\.body) == tens)
}

@Test func segmentsInFlightAreLimitedByCountAndBytes() async throws {
    var origin = SessionOrigin()
    origin.windowLength = 40
    origin.stopsAt = .zero
    origin.endsWithList = true
    origin.latency = { $0.purpose == .segment ? .seconds(2) : .milliseconds(50) }
    let maximum = try await SessionRun(origin).maxAtOnce(.seconds(2))
    #expect(maximum == 4)
    let large = [UInt8](repeating: 0x47, count: 1000)
    origin.instead = { request, _ in request.purpose == .segment ? bytes(large, request) : nil }
    var limits = IntakeLimits()
    limits.aheadBytes = 2500
    let narrow = UpstreamSession.Policy(variant: .highest, limits: limits)
    let run = try await SessionRun(origin, seconds: 200, policy: narrow)
    #expect(run.end == .drained)
    #expect(run.numbers() == Array(66...105))
    let later = run.requests.filter { $0.request.purpose == .segment }.dropFirst(4)
    #expect(later.filter { $0.at == later.first?.at }.count <= 2)
}

@Test func retryThatIsDueWhileNothingMayStartWaitsForAnAnswer() async throws {
    var origin = SessionOrigin()
    origin.windowLength = 20
    origin.stopsAt = .zero
    origin.endsWithList = true
    origin.latency = { $0.url.contains("seg88") ? .zero : .seconds(5) }
    origin.instead = { request, _ in isSegment(request, 88) ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 200)
    #expect(run.end == .drained)
    #expect(run.losses().map(\.mediaSequences) == [88..<89])
    #expect(run.numbers().count == 19)
}

@Test func segmentOutsideTheWindowIsNotRequestedAgain() async throws {
    var origin = SessionOrigin()
    origin.seconds = 2
    origin.windowLength = 3
    origin.latency = { .milliseconds($0.url.contains("seg107") ? 8000 : 50) }
    origin.instead = { request, _ in isSegment(request, 107) ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 40)
    let requests = run.requests.filter { $0.request.url.hasSuffix("seg107.ts") }
    #expect(requests.count == 2 && requests[1].request.needsNewConnection, "a race, and no retry")
    #expect(run.losses().map(\.mediaSequences) == [107..<108])
}

@Test func failedKeyReleasesTheBytesOfItsSegments() async throws {
    var origin = SessionOrigin()
    origin.windowLength = 30
    origin.stopsAt = .zero
    origin.endsWithList = true
    origin.tags = { _ in "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n" }
    origin.instead = { request, _ in request.purpose == .key ? refused(404, request) : nil }
    let run = try await SessionRun(origin, seconds: 200)
    #expect(run.end == .drained && run.losses().count == 30)
    #expect(run.status?.renditions.first?.heldBytes == 0)
}

extension SessionRun {
    /// Returns the largest number of segments in flight, if each fetch takes `latency`.
    fileprivate func maxAtOnce(_ latency: Duration) -> Int {
        let begins = requests.filter { $0.request.purpose == .segment }.map(\.at)
        return begins.map { begin in begins.filter { $0 <= begin && begin < $0 + latency }.count }.max() ?? 0
    }
}
