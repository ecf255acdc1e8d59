package import Conformance
package import Export
package import LiveRing
import Media
import Playlist
import Splice
import Support
package import Tracker

/// One channel, from the outputs of the tracker's driver to the ring and the status.
///
/// A relay holds nothing global, so one process can run many. Its caller decides whether time is real.
package struct Relay {
    private let configuration: RelayConfiguration
    private let state: ChannelState
    private let observe: @Sendable (RelayEvent) -> Void
    private let wallClock: @Sendable () -> Int64
    private var isInOutage = false
    /// Whether the upstream is a stream, for which the rules of HLS are not made.
    private var isStream = false
    /// When the main playlist was answered last, and its target duration.
    private var answer: (at: Duration, targetDuration: Duration)?
    /// Whether the main playlist was answered lately, so that it lists nothing new.
    private var isAnswered = false
    /// Whether another source has become active, of which no period has begun.
    private var hasSwitched = false
    /// nil until the upstream is joined, unless the channel continues what an earlier process published.
    private var pipeline: ChannelPipeline?
    /// Sources whose main playlist was joined.
    private var joinedSources: Set<Int> = []
    private var sourcesWithCompanion: Set<Int> = []
    /// The audio renditions of each source beside that of its variant.
    private var audioRenditions: [Int: AudioRenditionTracks] = [:]
    /// The variants of each source beside the leading one, and that one.
    private var variants: [Int: [Variant]] = [:]
    private var leadingVariants: [Int: VideoTrackIdentity] = [:]
    /// REQ-VIDEO-LAYOUT of what is republished of the channel's own upstream.
    private var videoLayout: String?
    private var subtitles: [Rendition] = []
    private var captions: [Rendition] = []
    /// The ring in the spool, until it is opened.
    private var previous: PreviousRing?

    /// - Parameters:
    ///   - wallClock: returns milliseconds since 1970, for an upstream without dates.
    ///   - observe: called with each event, in order; for the slate of ad breaks, on any thread.
    package init(
        _ configuration: RelayConfiguration, state: ChannelState, wallClock: @escaping @Sendable () -> Int64,
        observe: @escaping @Sendable (RelayEvent) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.state = state
        self.wallClock = wallClock
        self.observe = observe
    }

    /// Publishes the ring of an earlier process before the upstream answers, so that an outage can be filled.
    package mutating func resume(after previous: PreviousRing?) async throws(ChannelError) {
        guard let previous, !previous.hasEnded else {
            self.previous = previous
            return
        }
        let ring: DVRRing
        do throws(RingError) {
            ring = try DVRRing(
                directory: configuration.spool, on: configuration.fileSystem, policy: configuration.retention,
                targetDuration: previous.targetDuration, subtitles: .all, previous: previous)
        } catch { throw recordFailure(.spool(error)) }
        try await startPipeline(on: ring, isLive: true)
    }

    /// Processes one output of the tracker's driver.
    /// - Returns: the outcome of a delivery or a probe.
    @discardableResult
    package mutating func perform(
        _ output: DriverOutput, at now: Duration
    ) async throws(ChannelError) -> DeliveryOutcome {
        isAnswered = answer.map { now - $0.at <= $0.targetDuration * 2 } ?? false
        switch output {
        case .event(let event): try await handle(event)
        case .delivery(let delivery): return try await process(delivery)
        case .probe(let delivery):
            if case .segment(let tracked) = delivery.content {
                return MediaProbe(
                    of: tracked, requiresVideo: configuration.requiresVideo,
                    isVariantTrial: delivery.variantTrial != nil
                ).outcome
            }
        case .status(let status):
            isInOutage = status.isOutage
            isStream = status.stream != nil
            if let main = status.renditions.first, let loaded = main.loadedAt, let target = main.targetDuration {
                answer = (loaded, target)
            }
            state.record(status, at: now)
        }
        return .held
    }

    /// Records how the session ended.
    /// - Throws: the session's error, if it did not end with its upstream, or an error if nothing was published.
    package mutating func recordEnd(_ end: SessionEnd) throws(ChannelError) {
        switch end {
        case .drained:
            // A playlist that ends without a segment is never joined.
            guard let pipeline else { throw recordFailure(.empty(EmptyChannel(), url: configuration.upstream)) }
            if let error = pipeline.emptinessError { throw recordFailure(error) }
            report(.drained)
        case .gaveUp(let error), .failed(let error): throw recordFailure(.upstream(error))
        }
    }

    /// Sets the channel's state to failed.
    /// - Returns: `error`, for the caller to throw.
    package func recordFailure(_ error: ChannelError) -> ChannelError {
        state.setState(.failed, reason: .failed(error))
        return error
    }

    /// Whether what the relay knows besides an event does not explain the finding otherwise.
    private mutating func isProven(_ event: RelayEvent.Kind, _ finding: ChannelFinding) -> Bool {
        guard finding.side == .upstream else { return true }
        if case .pipeline(.periodBegan) = event, hasSwitched {
            hasSwitched = false
            return false
        }
        return !isStream && (finding.rule != .publicationPace || isAnswered)
    }

    /// Reports an event, and the rule that it breaks if the rule has not been reported for a while.
    private mutating func report(_ kind: RelayEvent.Kind) {
        observe(RelayEvent(kind: kind, isDuringOutage: isInOutage))
        guard let finding = ChannelFinding(kind), isProven(kind, finding),
            let entry = state.record(finding.rule, finding.text, count: finding.count, of: finding.side)
        else { return }
        observe(RelayEvent(kind: .found(finding.side, entry), isDuringOutage: isInOutage))
    }
}

// MARK: - Upstream events

extension Relay {
    private mutating func handle(_ event: UpstreamEvent) async throws(ChannelError) {
        report(.upstream(event))
        if case .backup(let source, let event) = event { return try await handle(event, of: source) }
        try await handle(event, of: 0)
    }

    private mutating func handle(_ event: UpstreamEvent, of source: Int) async throws(ChannelError) {
        switch event {
        case .variantSelected(let variant, let audio, let listed, let captions):
            leadingVariants[source] = variant.trackIdentity
            if audio?.uri != nil { sourcesWithCompanion.insert(source) } else { sourcesWithCompanion.remove(source) }
            if source == 0 {
                (subtitles, self.captions) = (listed, captions)
                videoLayout = variant.videoLayout?.republished
                if let ring = pipeline?.ring { await declareRenditions(on: ring) }
            }
            addSource(source)
        case .audioTracksSelected(let tracks, let leading, _):
            audioRenditions[source] = AudioRenditionTracks(tracks, leading: leading)
            if source == 0, let ring = pipeline?.ring { await declareRenditions(on: ring) }
        case .variantsSelected(let variants, let dropped):
            self.variants[source] = variants
            if source == 0 { state.update { $0.splice.variantsDropped = dropped } }
        case .variantRefused: (variants[source], audioRenditions[source]) = (nil, nil)
        case .joined(let joined) where joined.rendition == .main: try await open(joined, of: source)
        case .playlistEnded(.main): await pipeline?.ring.stopSliding()
        case .playlistReopened(.main): await pipeline?.ring.resumeSliding()
        case .variantChanged: hasSwitched = true
        case .sourceSwitched:
            hasSwitched = true
            await pipeline?.ring.resumeSliding()
        default: break
        }
    }

    /// Opens the ring when the first source is joined, since the output's EXT-X-TARGETDURATION is fixed from the source's.
    ///
    /// If that was a backup, the ring is opened again with the subtitles of the channel's own upstream once that is joined.
    private mutating func open(_ joined: UpstreamEvent.Joined, of source: Int) async throws(ChannelError) {
        let isFirst = joinedSources.isEmpty
        let opensRing = isFirst || source == 0 && !joinedSources.contains(0)
        joinedSources.insert(source)
        if opensRing { try await openRing(for: joined, of: source, isFirst: isFirst) }
        addSource(source)
    }

    private mutating func addSource(_ source: Int) {
        pipeline?.addSource(
            source, hasCompanion: sourcesWithCompanion.contains(source), audioRenditions: audioRenditions[source],
            variants: (variants[source] ?? []).map(\.trackIdentity), leading: leadingVariants[source])
    }

    private mutating func openRing(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(ChannelError) {
        let ring: DVRRing
        do throws(RingError) { ring = try await self.ring(for: joined, of: source, isFirst: isFirst) } catch {
            throw recordFailure(.spool(error))
        }
        if pipeline == nil {
            try await startPipeline(on: ring, isLive: !joined.isVOD)
        } else {
            let slate = try slate(for: ring)
            pipeline?.replaceRing(ring, isLive: !joined.isVOD, slate: slate)
            state.setRing(ring)
        }
        await declareRenditions(on: ring)
        // A finished playlist is listed whole. If the upstream was live, its viewers keep what they have.
        if joined.isVOD { await ring.stopSliding() } else { await ring.resumeSliding() }
    }

    /// Keeps the attributes of the renditions of the channel's own upstream.
    private func declareRenditions(on ring: DVRRing) async {
        await ring.declareCaptions(captions)
        await ring.declareAudio(audioRenditions[0]?.declared ?? [])
        let further = variants[0] ?? []
        let tracks = pipeline?.videoTracks(of: further.map(\.trackIdentity), source: 0) ?? []
        let declared = zip(tracks, further).compactMap { track, variant in track.map { ($0.text, variant) } }
        await ring.declareVariants(Dictionary(declared) { first, _ in first }, layout: videoLayout)
    }

    private mutating func ring(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(RingError) -> DVRRing {
        var policy = configuration.retention
        if joined.isVOD { (policy.rewind, policy.archive, policy.byteLimit) = (nil, nil, nil) }
        let subtitles: SubtitleSelection =
            source == 0 ? .upstream(self.subtitles, keepsMade: configuration.captionsToWebVTT) : .all
        let targetDuration = max(1, Int(DecimalSeconds.roundedUp(joined.targetDuration).components.seconds))
        if let pipeline {
            // Once this process has published a target duration, it may not change.
            return try await pipeline.ring.reopened(
                policy: policy, targetDuration: isFirst ? targetDuration : pipeline.ring.targetDuration,
                subtitles: subtitles)
        }
        defer { previous = nil }
        return try DVRRing(
            directory: configuration.spool, on: configuration.fileSystem, policy: policy,
            targetDuration: targetDuration,
            firstMediaSequence: joined.mediaSequence, subtitles: subtitles, previous: previous)
    }

    private mutating func startPipeline(on ring: DVRRing, isLive: Bool) async throws(ChannelError) {
        pipeline = ChannelPipeline(
            configuration, ring: ring, isLive: isLive, wallClock: wallClock(), slate: try slate(for: ring))
        do throws(ChannelError) {
            for event in try await pipeline?.publishUnrecordedGaps() ?? [] { handle(event) }
        } catch { throw recordFailure(error) }
        state.setAds(
            configuration.ads,
            configuration.slate.map {
                BreakSlate(
                    $0, longestSegment: Ticks(ring.maximumSegmentDuration), audio: configuration.audio, now: state.now
                ) { [observe] change in
                    observe(RelayEvent(kind: .breakSlate(change), isDuringOutage: false))
                }
            })
        state.setRing(ring)
        if ring.resumePoint != nil { report(.resumed(spool: configuration.spool)) }
    }

    private func slate(for ring: DVRRing) throws(ChannelError) -> Slate? {
        guard let source = configuration.slate else { return nil }
        do throws(SlateError) {
            return try Slate(source, longestSegment: Ticks(ring.maximumSegmentDuration), audio: configuration.audio)
        } catch { throw .slate(error) }
    }
}

// MARK: - Deliveries

extension Relay {
    @discardableResult
    private mutating func process(_ delivery: Delivery) async throws(ChannelError) -> DeliveryOutcome {
        var outcome = DeliveryOutcome.held
        do throws(ChannelError) {
            let processed = try await pipeline?.process(delivery)
            outcome = processed?.outcome ?? .held
            for event in processed?.events ?? [] { handle(event) }
        } catch { throw error == .canceled ? error : recordFailure(error) }
        if let pipeline { state.record(pipeline) }
        return outcome
    }

    private mutating func handle(_ event: ChannelPipeline.Event) {
        report(.pipeline(event))
        switch event {
        case .periodBegan(let period, _): state.update { $0.splice.currentPeriod = RelayStatus.Period(period) }
        case .programSelected(let program, let rendition): state.update { $0.splice.setProgram(program, of: rendition) }
        case .warned(.unsupportedVideo(let entries)): state.update { $0.splice.unsupportedVideo = entries }
        case .warned(.unsupportedAudio(let entries)): state.update { $0.splice.unsupportedAudio = entries }
        case .ended: state.setState(.ended, reason: nil)
        case .fillerBegan, .slateReloaded, .slateFailed, .skipped, .published, .publishFailed, .publishResumed,
            .journalDamaged, .subtitlePublishFailed, .adMarkersDropped, .archiveMeasured, .timestampGap,
            .periodRejected, .audioTranscodeFailed, .warned, .outputBroke:
            break
        }
    }
}

/// An event of a channel that an operator may want to know of.
package struct RelayEvent: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case upstream(UpstreamEvent)
        case pipeline(ChannelPipeline.Event)
        /// The channel continues what an earlier process left in the directory `spool`.
        case resumed(spool: String)
        /// The slate for ad breaks cannot be read, or can again.
        case breakSlate(BreakSlateChange)
        /// A rule is broken, for the first time or for the first time in an hour.
        case found(FindingSide, RuleTally.Entry)
        /// The upstream has ended, and all of it is published.
        case drained
    }

    package let kind: Kind
    /// Whether the channel is in an outage, whose single failures are no news.
    package let isDuringOutage: Bool
}
