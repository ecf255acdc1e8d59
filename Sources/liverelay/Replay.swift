import Foundation
import LiveRing
import Logging
import Playlist
import Tracker

/// A capture through the whole line on a virtual clock: no waiting, and the same bytes every time.
struct Replay {
    /// Session time after which a capture that never ends is left.
    static let grace = Duration.seconds(120)

    private let capture: CaptureDirectory
    private let relay: Relay
    let site: ChannelSite

    /// - Parameters:
    ///   - spool: directory for the ring; an empty one, if the bytes shall be the same each time.
    init(
        _ capture: CaptureDirectory, spool: String, sound: SoundConfiguration = SoundConfiguration(), logger: Logger
    ) {
        self.capture = capture
        let configuration = RelayConfiguration(
            upstream: capture.index.upstream, giveUp: Self.grace, spool: spool,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0), sound: sound)
        site = ChannelSite(upstream: configuration.upstream) { .zero }
        // A capture has no wall: what its upstream does not date is dated from the beginning of time.
        relay = Relay(configuration, site: site, log: RelayLog(logger)) { 0 }
    }

    /// - Parameter observe: called after each output of the tracker, with the session's time.
    func run(observe: (DriverOutput, Duration) -> Void = { _, _ in }) async throws -> SessionEnd? {
        var relay = relay
        let upstream = ReplayUpstream(capture) { .zero }
        let session = UpstreamSession(
            upstream: capture.index.upstream,
            policy: UpstreamSession.Policy(variant: .highest, giveUp: Self.grace))
        var driver = ReplayDriver(session: session)
        return try await driver.run(
            until: capture.index.duration + Self.grace,
            answer: { upstream.answer($0, at: $1) },
            perform: { output, now in
                try await relay.perform(output, at: now)
                observe(output, now)
            })
    }
}
