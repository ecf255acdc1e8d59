import Capture
import Foundation
import LiveRing
import Logging
import Playlist
import Tracker

/// A capture through the whole line on a virtual clock: no waiting, and the same bytes every time.
struct Replay {
    /// Session time behind the end of a capture after which what still has not come is not waited for.
    static let grace = Duration.seconds(30)

    private let capture: CaptureDirectory
    private let policy: ChannelSession.Policy
    private let relay: Relay
    let state: ChannelResponder

    /// - Parameters:
    ///   - spool: directory for the ring; an empty one, if the bytes shall be the same each time.
    ///   - slate: stands in while nothing comes; nil: gaps do.
    init(
        _ capture: CaptureDirectory, spool: String, sound: AudioSettings = AudioSettings(),
        slate: SlateSource? = nil, logger: Logger
    ) {
        self.capture = capture
        let configuration = RelayConfiguration(
            upstream: capture.index.upstream, backups: capture.index.backups, variant: capture.index.variant,
            giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0), audio: sound, slate: slate)
        state = ChannelResponder(upstream: configuration.upstream) { .zero }
        // A capture has no wall: what its upstream does not date is dated from the beginning of time.
        policy = configuration.policy
        relay = Relay(configuration, site: state, log: RelayLog(logger)) { 0 }
    }

    /// - Parameter observe: called after each output of the tracker, with the session's time.
    /// - Returns: nil when the capture ends before its channel does.
    func run(observe: (DriverOutput, Duration) -> Void = { _, _ in }) async throws -> SessionEnd? {
        var relay = relay
        var answers = ReplayResponder(capture)
        let session = ChannelSession(upstream: capture.index.upstream, policy: policy)
        var driver = ReplayDriver(session: session)
        let length = capture.index.duration
        return try await driver.run(
            until: length + Self.grace, isOver: { status, _ in status.hasConsumed(until: length) },
            answer: { answers.answer($0, at: $1) },
            perform: { output, now in
                // Behind its end a capture says nothing, which is no outage of its upstream.
                if case .delivery(let delivery) = output, case .outageGap = delivery.content, now > length {
                    return .held
                }
                let reception = try await relay.perform(output, at: now)
                observe(output, now)
                return reception
            })
    }
}

extension UpstreamStatus {
    /// Every playlist was read in the state that a capture of that length ends with, and what it lists was taken. A
    /// channel that has ended ends by itself, when it is known that it does not begin again.
    fileprivate func hasConsumed(until length: Duration) -> Bool {
        guard let main = renditions.first, !main.hasEnded else { return false }
        return renditions.allSatisfy { rendition in
            let isRead = rendition.loadedAt.map { $0 >= length } ?? false
            return rendition.queued == 0 && (isRead || rendition.hasEnded)
        }
    }
}
