import Channel
import Fetch
import Foundation
import LiveRing
import Media
import Playlist
import Splice
import Support
import Tracker

@testable import Transcode

/// Runs a generated channel through the whole pipeline on a virtual clock, into a ring on a real disk.
struct SoakRun {
    static let rewind = Duration.seconds(600)
    static let spoolLimit: UInt64 = 64 << 20

    let seed: UInt64
    /// Seconds for which the channel has run before.
    var start = 0
    let seconds: Int
    /// Seconds between two faults.
    var faultInterval = 35...150
    /// Session time between two samples of the process's resources, seconds.
    var sampleInterval = 3600
    /// Whether limits are exceeded every few minutes.
    var exceedsLimits = false
    /// Called with each sample.
    var report: (SoakSample) -> Void = { _ in }

    func run() async throws -> SoakOutcome {
        // A channel loads libav, 16 MB, when it first transcodes: no growth of what it holds.
        _ = unsafe try LibAV.functions()
        let script = try SoakScript(seed: seed, from: start, seconds: seconds, faultInterval: faultInterval)
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-soak-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: spool) }
        var configuration = RelayConfiguration(
            upstream: SoakUpstream.url, giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: Self.rewind, byteLimit: Self.spoolLimit, freeReserve: 0))
        configuration.beginning = .beginning.advanced(by: .seconds(Int64(start)))
        let state = ChannelState(upstream: SoakUpstream.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { script.epoch.millisecondsSince1970 })
        let count = InspectedSession.Count()
        let session = ChannelSession(upstream: SoakUpstream.url, policy: configuration.policy)
        var driver = ReplayDriver(session: InspectedSession(session: session, count: count))
        var upstream = SoakUpstream(script, exceedsLimits: exceedsLimits)
        var checker = SoakChecker(script)
        var samples: [SoakSample] = []
        let end = try await driver.run(until: .seconds(seconds)) { request, now in
            upstream.answer(request, at: now)
        } perform: { output, now in
            let outcome = try await relay.perform(output, at: now)
            if let snapshot = state.snapshot { checker.check(snapshot, at: now) }
            guard case .status = output, now.milliseconds >= (samples.count + 1) * sampleInterval * 1000 else {
                if now.milliseconds >= (samples.count + 1) * sampleInterval * 1000 - 60_000 { count.request() }
                return outcome
            }
            var sizes = count.sizes.merging(SoakSample.collections(in: relay, named: "relay")) { $1 }
            if let index = state.snapshot?.index {
                sizes.merge(SoakSample.collections(in: index, named: "ring")) { $1 }
            }
            let sample = SoakSample(spool, state.snapshot, collections: sizes, at: now)
            samples.append(sample)
            report(sample)
            return outcome
        }
        return SoakOutcome(
            script: script, checker: checker, samples: samples, status: state.status, requests: upstream.requests,
            end: end)
    }
}
