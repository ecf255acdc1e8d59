import Capture
import Channel
import Foundation
import LiveRing
import Logging
import Playlist
import Tracker

/// Runs one channel: its requests to the upstream, its tracker and its relay.
///
/// It holds nothing global, so a process can run many. They share the thread that makes the requests.
struct ChannelRunner: Sendable {
    enum End: Sendable {
        /// The upstream has ended, and all of it is published.
        case drained
        /// The task was canceled.
        case canceled
        case failed(RelayError)
    }

    let configuration: RelayConfiguration
    /// Directory for a capture of the upstream's answers; nil: none is recorded.
    var capture: URL?
    let logger: Logger

    /// Runs until the upstream ends or fails, or the task is canceled. The upstream is not read after that.
    /// - Parameter onPublish: called once, when the first segment can be played.
    func run(into state: ChannelState, onPublish: @Sendable () -> Void = {}) async -> End {
        let log = RelayLog(logger)
        var isPublishing = false
        var relay = Relay(
            configuration, state: state, wallClock: { WallClock.milliseconds }, observe: { log.log($0) })
        do {
            let past = DVRRing.previousRing(in: configuration.spool)
            try await relay.resume(after: past)
            let driver = TrackerDriver(upstream: try upstream(), clock: ContinuousClock())
            let session = ChannelSession(upstream: configuration.upstream, policy: policy(after: past))
            let end = try await driver.run(reporting: session) { output, now in
                let outcome = try await relay.perform(output, at: now)
                if !isPublishing, state.snapshot?.hasSegments == true {
                    isPublishing = true
                    onPublish()
                }
                return outcome
            }
            try relay.recordEnd(end)
            return .drained
        } catch let error as FetchError {
            return .failed(RelayError(relay.recordFailure(.upstream(TrackerError(error, url: error.url)))))
        } catch is CancellationError {
            return .canceled
        } catch {
            return .failed(RelayError(unexpected: error))
        }
    }

    private func policy(after past: PreviousRing?) -> ChannelSession.Policy {
        var policy = configuration.policy(after: past)
        // A replay of the recording would not know the date.
        if capture == nil {
            policy.session.startDate = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds)
        }
        return policy
    }

    /// The fetcher of the channel's upstreams, which records their answers if a capture is asked for.
    private func upstream() throws -> any Fetcher {
        let upstream = try CurlFetcher(
            upstream: configuration.upstream, backups: configuration.backups, configuration: configuration.requests)
        guard let capture else { return upstream }
        let clock = ContinuousClock()
        let start = clock.now
        do throws(CaptureError) {
            let writer = try CaptureWriter(
                capture, upstream: configuration.upstream, variant: configuration.variant,
                backups: configuration.backups, polling: configuration.polling)
            return CaptureRecorder(upstream, to: writer) {
                start.duration(to: clock.now)
            } onFailure: { [logger] error in
                logger.error("Recording ended, the channel continues: \(RelayError(error).message)")
            }
        } catch { throw RelayError(error) }
    }
}
