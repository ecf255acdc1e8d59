import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// Returns an origin whose answers fail, are stale or are slow, as a function of seed, request and time.
private func faultyOrigin(_ seed: UInt64) -> SessionOrigin {
    @Sendable func random(_ request: FetchRequest, _ salt: UInt64) -> UInt64 {
        let text = request.url.utf8.reduce(seed &* 31 &+ salt) { $0 &* 1_099_511_628_211 ^ UInt64($1) }
        var generator = SeededGenerator(seed: text)
        return generator.next() >> 8
    }
    var origin = SessionOrigin()
    let healthy = origin
    origin.tags = { $0 % 5 == seed % 5 ? "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0 / 5)\"\n" : "" }
    origin.latency = { request in
        request.purpose == .mediaPlaylist ? .milliseconds(40) : .milliseconds(Int(random(request, 1) % 9000))
    }
    origin.instead = { request, now in
        let value = random(request, UInt64(now.components.seconds))
        guard request.purpose == .mediaPlaylist else {
            return request.purpose == .multivariantPlaylist || value % 3 > 0 ? nil : refused(404, request)
        }
        switch value % 10 {
        case 0: return failed(.timedOut, request)
        case 1: return text("<html>", request)
        case 2: return text(healthy.playlist(at: max(.zero, now - .seconds(9))), request)
        default: return nil
        }
    }
    return origin
}

@Test(arguments: 0..<24 as Range<UInt64>)
func everySegmentIsDeliveredOrLostOnceAndInOrder(seed: UInt64) async throws {
    let run = try await SessionRun(faultyOrigin(seed), seconds: 600)
    var settled: [UInt64] = []
    for (delivery, _) in run.deliveries {
        switch delivery.content {
        case .segment(let tracked): settled.append(tracked.segment.mediaSequence)
        case .lost(let loss): settled += Array(loss.mediaSequences)
        case .ended, .outageGap: Issue.record("seed \(seed): a live channel ended")
        }
    }
    #expect(settled == Array(104..<104 + UInt64(settled.count)), "seed \(seed)")
    #expect(settled.count > 80, "seed \(seed): \(settled.count) of 102")
    #expect(run.numbers().count > settled.count / 2, "seed \(seed)")
    #expect(run.requests.count < 1000, "seed \(seed)")
}
