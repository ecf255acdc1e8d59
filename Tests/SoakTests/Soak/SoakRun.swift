import Channel
import Foundation
import LiveRing
import Playlist
import Tracker

/// A made-up channel through the whole line on a virtual clock, into a ring on a real disk.
struct SoakRun {
    static let rewind = Duration.seconds(600)
    static let spoolLimit: UInt64 = 64 << 20

    let seed: UInt64
    let seconds: Int
    /// Seconds between two faults.
    var calm = 35...150
    /// Session time between two looks at what the process holds.
    var interval = 3600
    /// Called with each of them.
    var report: (SoakSample) -> Void = { _ in }

    func play() async throws -> SoakOutcome {
        let script = try SoakScript(seed: seed, seconds: seconds, calm: calm)
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-soak-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: spool) }
        let configuration = RelayConfiguration(
            upstream: SoakUpstream.url, giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: Self.rewind, byteLimit: Self.spoolLimit, freeReserve: 0))
        let state = ChannelState(upstream: SoakUpstream.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { SoakScript.epoch.millisecondsSince1970 })
        let count = InspectedSession.Count()
        let session = ChannelSession(upstream: SoakUpstream.url, policy: configuration.policy)
        var driver = ReplayDriver(session: InspectedSession(session: session, count: count))
        var upstream = SoakUpstream(script)
        var judge = SoakChecker(script)
        var gauges: [SoakSample] = []
        let end = try await driver.run(until: .seconds(seconds)) { request, now in
            upstream.answer(request, at: now)
        } perform: { output, now in
            let reception = try await relay.perform(output, at: now)
            if let snapshot = state.snapshot { judge.look(at: snapshot, at: now) }
            guard case .status = output, now.milliseconds >= (gauges.count + 1) * interval * 1000 else {
                if now.milliseconds >= (gauges.count + 1) * interval * 1000 - 60_000 { count.want() }
                return reception
            }
            var sizes = count.sizes.merging(SoakSample.collections(in: relay, called: "relay")) { $1 }
            if let index = state.snapshot?.index {
                sizes.merge(SoakSample.collections(in: index, called: "ring")) { $1 }
            }
            let gauge = SoakSample(spool, state.snapshot, collections: sizes, at: now)
            gauges.append(gauge)
            report(gauge)
            return reception
        }
        return SoakOutcome(
            script: script, judge: judge, gauges: gauges, status: state.status, requests: upstream.requests, end: end)
    }
}
