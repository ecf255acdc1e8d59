import Capture
import Channel
import Export
import Fetch
import Fleet
import Foundation
import LiveRing
import Logging
import Media
import Observability
import Record
import Splice
package import Support
import Tracker

/// Runs one channel: its requests to the upstream, its tracker and its relay.
///
/// It uses no global state, so a process can run many. They share the thread that makes the requests.
package struct ChannelRunner: Sendable {
    package enum End: Sendable {
        /// The upstream has ended, and everything from it is published.
        case drained
        case canceled
        case failed(RelayError)
        /// Another node of the fleet runs the channel.
        case elsewhere
    }

    var configuration: RelayConfiguration
    /// Directory for a capture of the upstream's answers; nil: no capture.
    var capture: URL?
    /// Whether a capture that cannot be written ends the channel at its start.
    var endsWithoutCapture = true
    /// Path of the MP4 file that fills outages; nil: the file in the configuration.
    var slate: String?
    /// How the channel is recorded; nil: it is not.
    var recording: ChannelRecorder.Settings?
    /// The list of recordings for the API; nil: none is kept.
    var recordings: ContinuousRecordings?
    /// nil: there is no guide.
    var programs: ProgramLookup?
    /// nil: the archive is in the spool.
    var archive: ChannelArchive?
    /// nil: no other node runs the channel.
    var fleet: FleetSeat?
    /// The name for people.
    var title: String?
    /// Media that a client of the endless transport stream gets at once.
    var burst = EndlessStream.Policy().burst
    /// Whether an upstream that has ended is requested again after a while.
    var restartsAfterEnd = false
    /// The channel's slug; nil in a process of one channel.
    var channel: String?
    let logger: Logger
    /// Publishes the run's events; nil: no events are published.
    var events: RunEvents?

    /// Why the channel cannot start; nil: it can.
    var startFailure: RelayError?

    /// Counts what the run does, for its metrics.
    let meter = ChannelMeter()
}

extension ChannelRunner {
    /// Runs until the upstream ends or fails, or the task is canceled. The upstream is not read after the return.
    /// - Parameters:
    ///   - onResume: called once, when the ring of an earlier process is continued, or there is none.
    ///   - onPublish: called once, when the first segment can be played.
    func run(
        into state: ChannelState, onResume: @escaping @Sendable () -> Void = {},
        onPublish: @escaping @Sendable () -> Void = {}
    ) async -> End {
        if let startFailure { return .failed(startFailure) }
        guard let fleet else { return await runHere(into: state, from: nil, onResume, onPublish) }
        let beginning: UInt64
        do throws(FleetMember.Refusal) {
            beginning = try await fleet.prepare(
                spool: configuration.spool, liveWindow: configuration.retention.liveWindow, archive: archive,
                logger: logger)
        } catch {
            if Task.isCancelled { return .canceled }
            if error == .elsewhere { return .elsewhere }
            return .failed(RelayError(.upstreamUnavailable, "No node can run the channel now", advice: "Ask again"))
        }
        defer { fleet.member.recordEnd(of: fleet.channel) }
        var runner = self
        runner.configuration.permit = fleet.permit
        return await runner.runHere(into: state, from: beginning, onResume, onPublish)
    }

    private func runHere(
        into state: ChannelState, from beginning: UInt64?, _ onResume: @Sendable () -> Void,
        _ onPublish: @Sendable () -> Void
    ) async -> End {
        events?.start(url: configuration.upstream)
        guard let archive else { return await relay(into: state, onResume, onPublish) }
        return await archive.upload(state, from: beginning, logger: logger, events: events) {
            await relay(into: state, onResume, onPublish)
        }
    }

    /// Answers requests for media that only the store contains; nil without a store.
    var archiveResponder: ArchiveResponder? {
        archive.map {
            ArchiveResponder(
                $0.reader, rewind: configuration.retention.rewind, channel: channel,
                offersStills: configuration.offersStills)
        }
    }

    private func relay(
        into state: ChannelState, _ onResume: @Sendable () -> Void, _ onPublish: @Sendable () -> Void
    ) async -> End {
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await record(state) }
            let end = await follow(into: state, onResume, onPublish)
            // Everything published is recorded before the run ends.
            if !state.isOver { group.cancelAll() }
            await group.waitForAll()
            return end
        }
        let receivedBytes = meter.counts.receivedBytes.values.reduce(0, +)
        switch end {
        case .drained: events?.end(.ended, receivedBytes: receivedBytes)
        case .canceled, .elsewhere: events?.end(.stopped, receivedBytes: receivedBytes)
        case .failed(let error): events?.end(.failed, error: error.line, receivedBytes: receivedBytes)
        }
        return end
    }

    private func record(_ state: ChannelState) async {
        guard let recording else { return }
        let recorder = ChannelRecorder(
            recording, channel: channel, title: title, list: recordings, programs: programs
        ) { [logger, events] in $0.report(to: logger, events) }
        await recorder.run(state)
    }

    private func follow(
        into state: ChannelState, _ onResume: @Sendable () -> Void, _ onPublish: @Sendable () -> Void
    ) async -> End {
        let log = RelayLog(logger)
        var (isPublishing, isAnswered, replacements) = (false, true, 0)
        let configuration = configurationWithSlate()
        var relay = Relay(
            configuration, state: state, wallClock: { WallClock.milliseconds },
            observe: { [meter, events] in
                log.log($0)
                meter.record($0)
                events?.record($0)
            })
        for url in configuration.insecureURLs {
            logger.warning("TLS certificates are not verified (insecure): \(url.redacted)")
        }
        do {
            let past = DVRRing.previousRing(in: configuration.spool)
            try await relay.resume(after: past)
            onResume()
            // What an earlier process published can be played before the upstream answers.
            if state.snapshot?.hasSegments == true {
                isPublishing = true
                HeapSettings.trimSoon()
                onPublish()
            }
            let (fetcher, capturing, thread) = try upstream()
            let driver = TrackerDriver(
                upstream: MeteredFetcher(fetcher: fetcher, meter: meter), clock: EventLoopClock(thread),
                executor: thread?.executor)
            if configuration.followsLadderOnDemand {
                state.setDemand { track in
                    driver.demand(track)
                    if let capturing { Task { await capturing.storeDemand(of: track.text) } }
                }
            }
            let session = ChannelSession(
                upstream: configuration.upstream, policy: policy(configuration, after: past))
            let end = try await driver.run(reporting: session) { output, now in
                let outcome = try await relay.perform(output, at: now)
                if let fleet, state.isUpstreamAnswering != isAnswered {
                    isAnswered.toggle()
                    fleet.recordUpstream(isAnswering: isAnswered)
                }
                guard let snapshot = state.snapshot else { return outcome }
                if !isPublishing, snapshot.hasSegments {
                    isPublishing = true
                    HeapSettings.trimSoon()
                    onPublish()
                }
                if snapshot.spoolReplacements > replacements {
                    replacements = snapshot.spoolReplacements
                    logger.warning(
                        "Spool removed or replaced: starting a new one, missing segments are listed as gaps")
                }
                return outcome
            }
            try relay.recordEnd(end)
            return .drained
        } catch let error as FetchError {
            return .failed(RelayError(relay.recordFailure(.upstream(TrackerError(error, url: error.url)))))
        } catch is CancellationError {
            return .canceled
        } catch ChannelError.canceled {
            return .canceled
        } catch {
            return .failed(RelayError(unexpected: error))
        }
    }

    /// The configuration with the slate. If the slate, which was valid when it was configured, cannot be read, the
    /// channel runs without it.
    private func configurationWithSlate() -> RelayConfiguration {
        if configuration.ads == .slate, configuration.slate == nil, slate == nil {
            logger.warning("Ad breaks stay as they are: the channel has no slate")
        }
        guard let slate else { return configuration }
        var configuration = configuration
        do throws(RelayError) { configuration.slate = try SlateSource.open(slate) } catch {
            logger.error("Outages are filled with gaps: \(error.line)")
        }
        if let slate = configuration.slate, slate.movie.audioTrackUse != .copied {
            let reason = slate.movie.audioTrackUse.message
            logger.warning("The slate \(slate.path) is published without its audio: \(reason)")
        }
        return configuration
    }

    private func policy(
        _ configuration: RelayConfiguration, after past: PreviousRing?
    ) -> ChannelSession.Policy {
        var policy = configuration.policy(after: past)
        // A replay of the capture would not know the date.
        if capture == nil {
            policy.session.startDate = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds)
        }
        return policy
    }

    /// The fetcher of the channel's upstreams, and the thread that can run the channel. If a capture is requested, this is
    /// the capturing fetcher, which is returned too; it writes to a disk.
    private func upstream() throws -> (any Fetcher, CapturingFetcher?, CurlThread?) {
        let upstream = try configuration.fetcher
        guard let capture else { return (upstream, nil, upstream.thread) }
        let clock = ContinuousClock()
        let start = clock.now
        do throws(CaptureError) {
            let writer = try CaptureWriter(
                capture,
                CaptureIndex(
                    upstream: configuration.upstream, variant: configuration.variant, backups: configuration.backups,
                    polling: configuration.polling, loopsFiles: configuration.loopsFiles, ladder: configuration.ladder,
                    followsLadderOnDemand: configuration.followsLadderOnDemand))
            events?.startCapture(in: capture.path)
            let capturing = CapturingFetcher(upstream, to: writer) {
                start.duration(to: clock.now)
            } onFailure: { [logger, events] error in
                events?.endCapture()
                logger.error("Capture ended, the channel continues: \(RelayError(error).message)")
            }
            return (capturing, capturing, nil)
        } catch {
            guard !endsWithoutCapture else { throw RelayError(error) }
            logger.error("Nothing is captured, the channel continues: \(RelayError(error).message)")
            return (upstream, nil, upstream.thread)
        }
    }
}
