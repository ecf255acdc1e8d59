import LiveRing
import Media
import Playlist
import Splice
import Tracker

/// One channel: carries values across the modules' borders, from the tracker's deliveries to the ring and the status.
///
/// It holds nothing global, so many of them live in one process; who calls `perform` decides whether time is real.
struct Relay {
    private let configuration: RelayConfiguration
    private let state: ChannelResponder
    private var log: RelayLog
    /// Milliseconds since 1970 at which the channel joins, for an upstream that has no dates.
    private let wallClock: @Sendable () -> Int64
    /// There before the upstream is, where an earlier process left something to show.
    private var pipeline: ChannelPipeline?
    /// The sources whose main playlist is known.
    private var joinedSources: Set<Int> = []
    /// Sources whose sound comes in a rendition of its own.
    private var sourcesWithCompanion: Set<Int> = []
    private var subtitles: [Rendition] = []
    /// Of an audio rendition whose playlist came before the main one's.
    private var earlyDeliveries: [Delivery] = []

    init(
        _ configuration: RelayConfiguration, site: ChannelResponder, log: RelayLog,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
        self.state = site
        self.log = log
        self.wallClock = wallClock
    }

    /// Shows what an earlier process left, before anything comes of the upstream; an outage is published as one.
    /// - Parameter past: of the ring in the spool.
    mutating func resume(after past: PreviousRing?) async throws(RelayError) {
        guard let past, !past.hasEnded else { return }
        let ring: DVRRing
        do throws(RingError) {
            ring = try DVRRing(
                directory: configuration.spool, policy: configuration.retention, targetDuration: past.targetDuration,
                subtitles: nil)
        } catch { throw recordFailure(RelayError(error)) }
        try await startPipeline(on: ring, isLive: true)
    }

    /// Takes what the tracker's driver hands on, one thing after the other; while one is worked on the next waits.
    /// - Returns: of a delivery, what became of it.
    @discardableResult
    mutating func perform(_ output: DriverOutput, at now: Duration) async throws(RelayError) -> DeliveryOutcome {
        switch output {
        case .event(let event): try await handle(event)
        case .delivery(let delivery):
            try await process(delivery)
            return pipeline?.outcome ?? .held
        case .probe(let delivery):
            if case .segment(let tracked) = delivery.content { return MediaProbe(of: tracked).outcome }
        case .status(let status):
            log.isInOutage = status.isOutage
            state.record(status, at: now)
        }
        return .held
    }

    /// Says how the channel ended.
    func recordEnd(_ end: SessionEnd) throws(RelayError) {
        switch end {
        case .drained: log.info("The upstream has ended and everything of it is published")
        case .gaveUp(let error), .failed(let error): throw recordFailure(RelayError(error))
        }
    }

    /// Shows in the status why the channel is over.
    func recordFailure(_ error: RelayError) -> RelayError {
        state.setState(.failed, reason: error.line)
        return error
    }

    private mutating func handle(_ event: UpstreamEvent) async throws(RelayError) {
        log.log(event)
        if case .backup(let source, let event) = event { return try await handle(event, of: source) }
        try await handle(event, of: 0)
    }

    private mutating func handle(_ event: UpstreamEvent, of source: Int) async throws(RelayError) {
        switch event {
        case .variantSelected(_, let audio, let listed):
            if audio?.uri != nil { sourcesWithCompanion.insert(source) } else { sourcesWithCompanion.remove(source) }
            if source == 0 { subtitles = listed }
            pipeline?.addSource(source, hasCompanion: sourcesWithCompanion.contains(source))
        case .joined(let joined) where joined.rendition == .main: try await open(joined, of: source)
        case .playlistEnded(.main): await pipeline?.ring.stopSliding()
        case .playlistReopened(.main), .sourceSwitched: await pipeline?.ring.resumeSliding()
        default: break
        }
    }

    /// The output's TARGETDURATION is sealed from the upstream's, so the ring is opened when that is known; and once more
    /// where a backup was there first, which says nothing of the channel's subtitles.
    private mutating func open(_ joined: UpstreamEvent.Joined, of source: Int) async throws(RelayError) {
        let isFirst = self.joinedSources.isEmpty
        let isNews = isFirst || source == 0 && !self.joinedSources.contains(0)
        self.joinedSources.insert(source)
        if isNews { try await openRing(for: joined, of: source, isFirst: isFirst) }
        pipeline?.addSource(source, hasCompanion: sourcesWithCompanion.contains(source))
        let waiting = earlyDeliveries
        earlyDeliveries = []
        for delivery in waiting { try await process(delivery) }
    }

    private mutating func openRing(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(RelayError) {
        let ring: DVRRing
        do throws(RingError) { ring = try await self.ring(for: joined, of: source, isFirst: isFirst) } catch {
            throw recordFailure(RelayError(error))
        }
        if pipeline == nil {
            try await startPipeline(on: ring, isLive: !joined.isVOD)
        } else {
            let slate = try slate(for: ring)
            pipeline?.replaceRing(ring, isLive: !joined.isVOD, slate: slate)
            state.setRing(ring)
        }
        // Of a finished programme everything is shown, and of one that was live what its viewers still have.
        if joined.isVOD { await ring.stopSliding() } else { await ring.resumeSliding() }
    }

    private func ring(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(RingError) -> DVRRing {
        var policy = configuration.retention
        if joined.isVOD { policy.rewind = nil }
        let subtitles = source == 0 ? subtitles : nil
        let targetDuration = Int(joined.targetDuration.roundedUp)
        if let pipeline {
            // Viewers of this process were told how long segments are.
            return try await pipeline.ring.reopened(
                policy: policy, targetDuration: isFirst ? targetDuration : pipeline.ring.targetDuration,
                subtitles: subtitles)
        }
        return try DVRRing(
            directory: configuration.spool, policy: policy, targetDuration: targetDuration,
            firstMediaSequence: joined.mediaSequence, subtitles: subtitles)
    }

    private mutating func startPipeline(on ring: DVRRing, isLive: Bool) async throws(RelayError) {
        pipeline = ChannelPipeline(
            upstream: configuration.upstream, ring: ring, sound: configuration.audio,
            isLive: isLive, wallClock: wallClock(), slate: try slate(for: ring),
            hasBackups: !configuration.backups.isEmpty)
        do throws(RelayError) {
            for event in try await pipeline?.publishUnrecordedGaps() ?? [] { handle(event) }
        } catch { throw recordFailure(error) }
        state.setRing(ring)
        if ring.resumePoint != nil { log.info("Goes on behind what an earlier run left in \(configuration.spool)") }
    }

    private func slate(for ring: DVRRing) throws(RelayError) -> Slate? {
        guard let source = configuration.slate else { return nil }
        return try Slate(source, longestSegment: Ticks(ring.maximumSegmentDuration), sound: configuration.audio)
    }

    private mutating func process(_ delivery: Delivery) async throws(RelayError) {
        if joinedSources.isEmpty {
            guard pipeline != nil, case .outageGap = delivery.content else {
                earlyDeliveries.append(delivery)
                return
            }
        }
        do throws(RelayError) {
            for event in try await pipeline?.process(delivery) ?? [] { handle(event) }
        } catch { throw recordFailure(error) }
        guard let pipeline else { return }
        state.update {
            $0.update(from: pipeline.counts, skipped: pipeline.skipped, unwritten: pipeline.publisher.unwrittenSegments)
            $0.update(from: pipeline.publisher.subtitles)
            $0.update(from: pipeline.publisher.markerCounts, pipeline.counts)
            $0.output.gapSegments = pipeline.publisher.gapSegments
            $0.output.slateSegments = pipeline.outageFiller.slateSegments
        }
        state.record(pipeline.publisher.spoolFailure)
    }

    private func handle(_ event: ChannelPipeline.Event) {
        log.log(event)
        switch event {
        case .periodBegan(let run, _): state.update { $0.update(from: run) }
        case .programSelected(let programme, let rendition): state.update { $0.setProgram(programme, of: rendition) }
        case .ended: state.setState(.ended, reason: nil)
        case .fillerBegan, .slateReloaded, .slateFailed, .skipped, .published, .publishFailed, .publishResumed,
            .journalDamaged, .subtitlePublishFailed, .timestampGap, .periodRejected, .audioTranscodeFailed:
            break
        }
    }
}

extension Duration {
    /// Whole seconds, the next ones up.
    fileprivate var roundedUp: Int64 {
        let (seconds, rest) = components
        return max(1, rest > 0 ? seconds + 1 : seconds)
    }
}
