package import Capture
package import Conformance
package import Export
import LiveRing
import Media
package import Splice
package import Tracker
package import Transcode

/// A capture that is played through the whole pipeline on a virtual clock: without waiting, with the same bytes each time.
package struct Replay {
    /// Session time after the end of a capture until which late answers are waited for.
    package static let grace = Duration.seconds(30)

    private let capture: CaptureDirectory
    private let policy: ChannelSession.Policy
    private let relay: Relay
    package let state: ChannelState

    /// - Parameters:
    ///   - spool: directory of the ring; an empty one if each replay is to give the same bytes.
    ///   - slate: fills outages; nil: gaps do.
    ///   - beginning: where the timeline begins.
    ///   - check: how the output is checked; nil: not at all.
    ///   - observe: called with each event.
    package init(
        _ capture: CaptureDirectory, spool: String, audio: AudioSettings = AudioSettings(),
        slate: SlateSource? = nil, beginning: TimelinePosition = .beginning, check: PublicationChecker.Depth? = nil,
        observe: @escaping @Sendable (RelayEvent) -> Void = { _ in }
    ) {
        self.capture = capture
        var configuration = RelayConfiguration(
            upstream: capture.index.upstream, backups: capture.index.backups, variant: capture.index.variant,
            giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0), audio: audio, slate: slate,
            polling: capture.index.polling)
        configuration.beginning = beginning
        configuration.outputCheck = check
        configuration.loopsFiles = capture.index.loopsFiles
        configuration.ladder = capture.index.ladder
        configuration.followsWholeLadder = !capture.index.followsLadderOnDemand
        state = ChannelState(upstream: configuration.upstream) { .zero }
        policy = configuration.policy
        // A capture has no wall clock: media that its upstream does not date is dated from 1970 on.
        relay = Relay(configuration, state: state, wallClock: { 0 }, observe: observe)
    }

    /// Plays the capture.
    /// - Parameter afterOutput: called after each output of the tracker, with the session's time.
    /// - Returns: how the channel ended; nil if the capture ends before its channel does.
    /// - Throws: an error if the channel ended and nothing of it was published.
    package func run(afterOutput: (DriverOutput, Duration) -> Void = { _, _ in }) async throws -> SessionEnd? {
        var relay = relay
        var responder = ReplayResponder(capture)
        let demands = capture.index.demands.compactMap { demand in
            VideoTrackIdentity(text: demand.track).map { (track: $0, at: demand.at) }
        }
        var driver = ReplayDriver(
            session: ChannelSession(upstream: capture.index.upstream, policy: policy), demands: demands)
        let length = capture.index.duration
        let end = try await driver.run(
            until: length + Self.grace, isOver: { status, _ in status.hasConsumed(until: length) },
            respond: { responder.respond($0, at: $1) },
            perform: { output, now in
                // The silence after the end of a capture is no outage of its upstream.
                if case .delivery(let delivery) = output, case .outageGap = delivery.content, now > length {
                    return .held
                }
                let outcome = try await relay.perform(output, at: now)
                afterOutput(output, now)
                return outcome
            })
        if end == .drained { try relay.recordEnd(.drained) }
        return end
    }
}

extension UpstreamStatus {
    /// Whether every playlist was loaded at or after `length`, the end of a capture, and all that it lists was delivered.
    ///
    /// A channel that has ended ends its session by itself, once it is known that it does not reopen.
    fileprivate func hasConsumed(until length: Duration) -> Bool {
        guard let main = renditions.first, !main.hasEnded else { return false }
        return renditions.allSatisfy { rendition in
            let isLoaded = rendition.loadedAt.map { $0 >= length } ?? false
            return rendition.queued == 0 && (isLoaded || rendition.hasEnded)
        }
    }
}
