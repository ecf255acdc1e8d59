import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// Nothing that could be had is lost.

/// An origin with faults that end early enough for each segment to be fetched while it is listed.
private struct FaultPlan {
    enum Fault: CaseIterable { case unavailable, notYetThere, reset, silent }

    let seconds: Int
    /// When all media fails, and how.
    let burst: Range<Duration>
    let burstFault: Fault
    /// Segments of which the first requests fail.
    let period: UInt64
    let failingTries: Int

    static let window = 6

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        seconds = [2, 4, 6].randomElement(using: &random) ?? 2
        period = .random(in: 2..<9, using: &random)
        failingTries = .random(in: 0..<seconds / 2, using: &random)
        // Until the first gap a segment is listed, and tried once more than it fails after the burst.
        let firstGap = OutageTimer.Tolerance.beforeGaps.duration(.seconds(seconds)) / .seconds(1)
        let longest = firstGap - Double(seconds) - 1.6 * Double(failingTries + 1)
        let begin = Double.random(in: 20..<30, using: &random)
        burst = .seconds(begin) ..< .seconds(begin + .random(in: 0.3..<longest, using: &random))
        burstFault = Fault.allCases.randomElement(using: &random) ?? .reset
    }

    func outcome(_ request: FetchRequest, fault: Fault) -> FetchOutcome {
        switch fault {
        case .unavailable: refused(503, request)
        case .notYetThere: refused(404, request)
        case .reset: failed(.reset, request)
        case .silent: failed(.timedOut, request)
        }
    }
}

@Test(arguments: 0..<200 as Range<UInt64>)
func segmentsThatCanBeHadAreNotLost(seed: UInt64) async throws {
    let plan = FaultPlan(seed: seed)
    let tries = RequestCounter()
    var origin = SessionOrigin()
    origin.seconds = plan.seconds
    origin.instead = { request, now in
        guard request.purpose == .segment else { return nil }
        let number = UInt64(request.url.filter(\.isNumber)) ?? 0
        if plan.burst.contains(now) { return plan.outcome(request, fault: plan.burstFault) }
        let isFailing = number % plan.period == 0 && tries.count(request.url) <= plan.failingTries
        return isFailing ? plan.outcome(request, fault: .unavailable) : nil
    }
    let window = Duration.seconds(plan.seconds * FaultPlan.window)
    let seconds = Int((plan.burst.upperBound + window) / .seconds(1)) + 2
    var policy = UpstreamSession.Policy(variant: .highest, patience: window)
    policy.seed = seed
    let run = try await SessionRun(origin, seconds: seconds, policy: policy)
    #expect(run.losses() == [], "seed \(seed): \(plan)")
    let listed = origin.numbers(at: .seconds(seconds)).upperBound
    let delivered = run.numbers().last ?? 0
    #expect(delivered + 2 >= listed - 1, "seed \(seed): \(delivered) of \(listed), \(plan)")
}

@Test func failingHostGetsFourRequestsASecond() async throws {
    for kind in [FetchError.Reason.reset, .timedOut] {
        var origin = SessionOrigin()
        origin.seconds = 1
        origin.windowLength = 20
        origin.instead = { request, now in
            request.purpose == .segment && now > .seconds(10) ? failed(kind, request) : nil
        }
        let run = try await SessionRun(origin, seconds: 60)
        let starts = run.requests.filter { $0.request.purpose == .segment && $0.at > .seconds(12) }.map(\.at)
        let most = starts.map { first in starts.count { $0 >= first && $0 < first + .seconds(5) } }.max() ?? 0
        #expect((5...21).contains(most), "\(kind): \(most) in 5 s")
    }
}

// MARK: - Races

@Test func lateSegmentIsRequestedAgainAndTheFirstAnswerCounts() async throws {
    // One connection hangs at 12 s and answers after 20 s. The second one answers at once.
    let tries = RequestCounter()
    var origin = SessionOrigin()
    origin.latency = { request in
        request.url.hasSuffix("seg107.ts") && tries.count(request.url) == 1 ? .seconds(20) : .milliseconds(50)
    }
    let run = try await SessionRun(origin, seconds: 40)
    let requests = run.requests.filter { $0.request.url.hasSuffix("seg107.ts") }
    #expect(run.trace() == "104 105 106 107 108 109 110 111")
    #expect(requests.count == 2)
    #expect(requests.map(\.request.needsNewConnection) == [false, true])
    #expect(requests[1].at - requests[0].at == .milliseconds(1200))
    #expect(run.status?.renditions[0].inFlight == 0)
}

@Test func everyRedundantVariantIsTriedForAMissingSegment() async throws {
    let master = "http://origin.example/master.m3u8"
    let healthy = SessionOrigin()
    var origin = healthy
    origin.instead = { request, now in
        if request.url == master {
            return text(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=1
                http://a.example/live.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1
                http://b.example/live.m3u8

                """, request)
        }
        if request.purpose == .mediaPlaylist { return text(healthy.playlist(at: now), request) }
        return request.url.hasPrefix("http://a.example") && request.url.hasSuffix("seg107.ts")
            ? refused(404, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 40, upstream: master)
    #expect(run.trace() == "104 105 106 107 108 109 110 111")
    let delivered = run.deliveries.first { run in
        if case .segment(let segment) = run.delivery.content { segment.segment.mediaSequence == 107 } else { false }
    }
    #expect((delivered?.at ?? .zero) < .seconds(16))
}
