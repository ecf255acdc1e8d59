import Playlist
import Synchronization
import TestSupport
import Testing
import TrackerTestSupport

@testable import Fetch
@testable import Support
@testable import Tracker

/// The bytes of audio and video that a session may hold at a time: in flight up to their limits, held, and handed
/// downstream until their outcome is known.
private struct MeteredSession: IngestSession {
    private var session: UpstreamSession
    private let segmentBytes: Int
    private let peak: PeakMeter
    private var inFlight: [FetchID: Int] = [:]
    private var delivering: [Delivery] = []

    init(_ session: UpstreamSession, peak: PeakMeter) {
        self.session = session
        self.peak = peak
        segmentBytes = session.policy.limits.segmentBytes
    }

    var status: UpstreamStatus { session.status }

    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        switch input {
        case .answered(let id, _): inFlight[id] = nil
        case .delivered(let delivery, _): delivering.removeAll { $0 == delivery }
        default: break
        }
        let effects = session.handle(input, at: now)
        for effect in effects {
            switch effect {
            case .fetch(let id, let request) where request.purpose == .segment:
                inFlight[id] = request.byteLimit ?? segmentBytes
            case .cancel(let id): inFlight[id] = nil
            case .deliver(let delivery) where delivery.isMedia: delivering.append(delivery)
            default: break
            }
        }
        let held = status.renditions.reduce(0) { $0 + $1.heldBytes }
        peak.record(inFlight.values.reduce(held, +) + delivering.reduce(0) { $0 + $1.bodyBytes })
        return effects
    }
}

private final class PeakMeter: Sendable {
    private let value = Mutex(0)

    var peak: Int { value.withLock { $0 } }
    func record(_ bytes: Int) { value.withLock { $0 = max($0, bytes) } }
}

extension Delivery {
    fileprivate var bodyBytes: Int { if case .segment(let segment) = content { segment.body.count } else { 0 } }
}

/// An origin with muxed or separate audio, whose segments have sizes of up to 1,400 bytes.
private struct SizedOrigin {
    var origin = SessionOrigin()
    let hasCompanion: Bool
    let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        hasCompanion = seed.isMultiple(of: 2)
        origin.windowLength = 20
        origin.seconds = 2
    }

    static let master =
        "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"audio/main.m3u8\"\n"
        + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nlive/main.m3u8\n"

    var upstream: String { hasCompanion ? "http://origin.example/master.m3u8" : SessionOrigin.url }

    private func size(_ request: FetchRequest) -> Int {
        var random = SeededGenerator(seed: request.url.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
        return Int.random(in: 1...(Bool.random(using: &random) ? 200 : 1400), using: &random)
    }

    func answer(_ request: FetchRequest, at now: Duration, random: inout SeededGenerator) -> (FetchOutcome, Duration) {
        let latency = Duration.milliseconds(Int.random(in: 5...(seed % 3 == 0 ? 9000 : 900), using: &random))
        if request.url.hasSuffix("master.m3u8") {
            return (text(Self.master, request), .milliseconds(9))
        }
        guard request.purpose == .segment else { return (origin.answer(request, at: now).0, .milliseconds(9)) }
        let size = size(request)
        if size > request.byteLimit ?? 1000 { return (failed(.tooLarge, request), latency) }
        return (bytes([UInt8](repeating: 0x47, count: size), request), latency)
    }

    func isTooLarge(_ number: UInt64) -> Bool {
        size(FetchRequest(.segment, url: "http://origin.example/live/seg\(number).ts")) > 1000
    }
}

private let smallLimits: IntakeLimits = {
    var limits = IntakeLimits()
    (limits.segmentBytes, limits.companionBytes, limits.aheadBytes) = (1000, 250, 500)
    return limits
}()

struct IntakeLimitsTests {
    @Test(arguments: UInt64(1)...24) func bytesOfSegmentsStayWithinTheirShares(seed: UInt64) async throws {
        let origin = SizedOrigin(seed: seed)
        let peak = PeakMeter()
        let session = UpstreamSession(
            upstream: origin.upstream, policy: .init(variant: .highest, limits: smallLimits))
        var driver = ReplayDriver(session: MeteredSession(session, peak: peak))
        var random = SeededGenerator(seed: seed)
        var delivered = 0
        var lost: [SegmentLoss] = []
        _ = try await driver.run(until: .seconds(240)) { request, now in
            origin.answer(request, at: now, random: &random)
        } perform: { output, _ in
            guard case .delivery(let delivery) = output, delivery.rendition == .main else { return }
            switch delivery.content {
            case .segment: delivered += 1
            case .lost(let loss): lost.append(loss)
            default: break
            }
        }
        #expect(peak.peak <= 1000 + 250 + 500)
        #expect(delivered > 20, "the channel goes on")
        for loss in lost where loss.cause == .permanent {
            #expect(loss.mediaSequences.allSatisfy(origin.isTooLarge), "only what is larger than its share is lost")
        }
    }

    @Test func oldestSegmentsBeyondTheQueueAreLostAndCountedOnce() async throws {
        var origin = SessionOrigin()
        (origin.edge, origin.windowLength, origin.stopsAt, origin.endsWithList) = (20_000, 20_000, .zero, true)
        var limits = IntakeLimits()
        limits.queuedSegments = 100
        let run = try await SessionRun(origin, seconds: 900, policy: .init(variant: .highest, limits: limits))
        #expect(run.end == .drained)
        #expect(run.losses() == [SegmentLoss(mediaSequences: 0..<19_900, reason: .tooMany, cause: .permanent)])
        #expect(run.numbers() == Array(19_900..<20_000))
        let events = run.events.map(\.event.text).filter { $0.contains("too-many") }
        #expect(events.count == 1, "\(events)")
    }

    @Test func subtitlesGetWhatAudioAndVideoLeave() {
        let limits = IntakeLimits()
        let media = limits.queuedSegments(of: .main, queued: nil, companions: 1, subtitles: 8)
        #expect(media >= 3600, "two hours in segments of 2 s")
        let beside = limits.queuedSegments(of: .subtitles(0), queued: 2 * 1200, companions: 1, subtitles: 8)
        #expect(beside >= 1200, "two hours in segments of 6 s, with eight renditions")
        let worst = limits.queuedSegments(of: .subtitles(0), queued: 2 * media, companions: 1, subtitles: 8)
        #expect(2 * media + 8 * worst <= limits.queuedSegments)
        // A finished program of many hours is received from its beginning.
        #expect(limits.queuedSegments(of: .main, queued: nil, companions: 0, subtitles: 0) == limits.queuedSegments)
    }

    @Test(arguments: [
        ("main", RenditionRole.main, nil as Int?), ("its companion", .audio, (16 << 20) / 6),
        ("subtitles", .subtitles(3), (16 << 20) / 24),
    ])
    func playlistsOfOtherRenditionsAreSmaller(name: String, role: RenditionRole, bytes: Int?) {
        #expect(IntakeLimits().playlistBytes(of: role) == bytes)
    }

    /// A trial whose video does not come holds the audio that does.
    @Test func trialHoldsNoMoreThanItsShare() async throws {
        var backup = SessionOrigin()
        (backup.stopsAt, backup.endsWithList, backup.windowLength) = (.zero, true, 100)
        var limits = IntakeLimits()
        (limits.aheadBytes, limits.companionBytes) = (5000, 5000)
        let policy = ChannelSession.Policy(
            session: .init(variant: .highest, limits: limits), backups: ["http://backup.example/master.m3u8"])
        var driver = ReplayDriver(session: ChannelSession(upstream: SessionOrigin.url, policy: policy))
        var fetched = 0
        _ = try await driver.run(until: .seconds(25)) { request, now in
            guard request.url.contains("backup.example") else { return (refused(404, request), .milliseconds(20)) }
            if request.url.hasSuffix("master.m3u8") { return (text(SizedOrigin.master, request), .milliseconds(20)) }
            guard request.purpose == .segment else { return backup.answer(request, at: now) }
            guard request.url.contains("/audio/") else { return (refused(404, request), .milliseconds(20)) }
            fetched += 1
            return (bytes([UInt8](repeating: 0x47, count: 1000), request), .milliseconds(20))
        } perform: { _, _ in
            .held
        }
        #expect((5...10).contains(fetched), "\(fetched) of 100 segments")
    }

    @Test func mapsInFlightAreTwoAtMost() {
        var cache = ResourceCache()
        let maps = (0..<6).map { SegmentResource(FetchRequest(.map, url: "http://h/\($0).mp4")) }
        for map in maps { cache.request(map, at: .zero) }
        cache.request(SegmentResource(FetchRequest(.key, url: "http://h/key")), at: .zero)
        var started: [SegmentResource] = []
        for number in UInt64(0)..<9 {
            guard let next = cache.start(as: FetchID(number: number), at: .zero, where: { _ in true }) else { break }
            started.append(next)
        }
        #expect(started.map(\.request.purpose) == [.map, .map, .key])
        _ = cache.settle(FetchID(number: 0), bytes([7], maps[0].request), at: .zero)
        #expect(cache.start(as: FetchID(number: 10), at: .zero) { _ in true } == maps[2])
    }
}
