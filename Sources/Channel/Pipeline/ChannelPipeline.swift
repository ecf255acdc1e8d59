import Conformance
import Decrypt
import Export
import LiveRing
import Media
import Playlist
import Splice
import Support
import Tracker
import Transcode

/// The pipeline of one channel, from the tracker's deliveries to the ring: decrypt, splice, publish.
///
/// It processes one delivery at a time and knows no clock, so a live channel and a replay are processed alike.
package struct ChannelPipeline: Sendable {
    /// Before anything is published, this many unusable segments in a row end the channel.
    private static let failureLimit = 3

    private let configuration: RelayConfiguration
    private let wallClock: Int64
    private var isLive: Bool
    private(set) var publisher: ChannelPublisher
    private(set) var outageFiller: OutageFiller
    private var sources: [Int: SourcePipeline] = [:]
    private var output = Output.source(0)
    /// Date ranges at the end of the channel's own upstream that belong to no segment.
    private var trailingDateRanges: [DateRange] = []
    /// The index of the period published last, if its source is still active.
    private var lastPeriod: Int?
    private var consecutiveFailures = 0
    /// The error of the last unusable segment.
    private var lastFailure: ChannelError?
    /// Counts for the error of a channel that publishes nothing.
    private var found = EmptyChannel()
    /// Segments that could not be decrypted or read.
    private(set) var skippedSegments = 0

    /// - Parameters:
    ///   - ring: published segments follow those that are in it.
    ///   - isLive: whether late subtitles are skipped. Those of a finished playlist are waited for.
    ///   - wallClock: milliseconds since 1970 now, used if the upstream has no dates.
    ///   - slate: fills outages; nil: gaps do.
    init(_ configuration: RelayConfiguration, ring: DVRRing, isLive: Bool, wallClock: Int64, slate: Slate?) {
        (self.configuration, self.isLive, self.wallClock) = (configuration, isLive, wallClock)
        publisher = ChannelPublisher(
            in: ring, from: configuration.beginning, captionsToWebVTT: configuration.captionsToWebVTT, isLive: isLive,
            permit: configuration.permit)
        publisher.markers.interstitials = configuration.interstitials
        publisher.checker = configuration.outputCheck.map { PublicationChecker($0) }
        outageFiller = OutageFiller(slate: slate, wallClock: wallClock)
    }

    /// Continues with the same spool, whose ring was opened again with the upstream's parameters. To be called before
    /// any source is added.
    mutating func replaceRing(_ ring: DVRRing, isLive: Bool, slate: Slate?) {
        self.isLive = isLive
        publisher.replaceRing(ring, isLive: isLive)
        outageFiller.slate = slate
    }

    var ring: DVRRing { publisher.ring }
    var counts: SpliceCounts { sources.values.reduce(into: SpliceCounts()) { $0 += $1.engine.counts } }

    /// The counts of the audio tracks beside the leading one, over all sources.
    var furtherAudioCounts: [(track: AudioTrackIdentity, counts: Counts<FurtherAudioCount>)] {
        let all = sources.values.flatMap(\.engine.furtherAudioCounts)
        return publisher.position.audioTracks.map { position in
            let own = all.filter { $0.track == position.identity }
            return (position.identity, own.reduce(Counts<FurtherAudioCount>()) { $0 + $1.counts })
        }
    }

    /// The counts of the video tracks beside the leading one, over all sources.
    var furtherVideoCounts: [(track: VideoTrackIdentity, counts: Counts<FurtherVideoCount>)] {
        let all = sources.values.flatMap(\.engine.furtherVideoCounts)
        return publisher.position.videoTracks.map { track in
            (track, all.filter { $0.track == track }.reduce(Counts<FurtherVideoCount>()) { $0 + $1.counts })
        }
    }

    /// Returns the tracks that the variants of a source fill: the nearest of the channel, and new ones while there is room.
    /// A backup adds none to a channel that has some.
    func videoTracks(of variants: [VideoTrackIdentity], source: Int) -> [VideoTrackIdentity?] {
        let known = publisher.position.videoTracks
        var filled = [VideoTrackIdentity?](repeating: nil, count: variants.count)
        for (track, variant) in zip(known, VideoTrackIdentity.nearest(to: known, among: variants)) {
            if let variant { filled[variant] = track }
        }
        guard source == 0 || known.isEmpty else { return filled }
        var room = VideoTrackIdentity.limit - known.count
        for (index, variant) in variants.enumerated() where filled[index] == nil && room > 0 {
            guard !known.contains(variant), !filled.contains(variant) else { continue }
            filled[index] = variant
            room -= 1
        }
        return filled
    }

    /// Adds a source, or replaces it if it moved its audio into or out of a companion rendition.
    /// - Parameters:
    ///   - audioRenditions: its audio renditions beside that of its variant; nil if there are none.
    ///   - variants: its variants beside the leading one.
    ///   - leading: the variant that leads.
    mutating func addSource(
        _ source: Int, hasCompanion: Bool, audioRenditions: AudioRenditionTracks? = nil,
        variants: [VideoTrackIdentity] = [], leading: VideoTrackIdentity? = nil
    ) {
        guard sources[source]?.hasCompanion != hasCompanion else { return }
        let (audio, memory) = (configuration.audio, configuration.channelMemory)
        var splice = SpliceConfiguration(
            hasAudioRendition: hasCompanion, audio: audio.policy, fillsSilence: audio.fillsSilence,
            longestSegment: publisher.longestSegment, position: publisher.position, wallClock: wallClock,
            datedUntil: publisher.datedUntil, published: publisher.publishedBefore)
        splice.audioTracks = audio.tracks
        splice.audioRenditions = audioRenditions?.tracks ?? []
        splice.leadingTrack = audioRenditions?.leading
        splice.variants = videoTracks(of: variants, source: source)
        splice.leadingVariant = leading
        splice.hasVariantsOnDemand = configuration.followsLadderOnDemand && isLive
        splice.heldVariantBytes = memory.ladderBytes / 2
        splice.isFinished = !isLive
        splice.patience = patience
        splice.requiresVideo = configuration.requiresVideo
        splice.heldBytes = memory.bytes(of: .held)
        splice.heldAudioBytes = memory.bytes(of: .heldAudio) / 2
        sources[source] = SourcePipeline(splice)
        updateAudioCodec(of: source)
    }

    /// How far the leading track may be published behind another one. The renditions of a finished playlist are fetched
    /// in step, whatever is missing of one.
    private var patience: Ticks {
        let target = Duration.seconds(publisher.ring.targetDuration)
        let limit = SegmentPatience.limit(configured: configuration.patience, targetDuration: target)
        return Ticks(isLive ? limit : max(limit, target * 3) * 2)
    }

    /// Tells a source the codec that the channel's audio keeps: that of its first segment.
    private mutating func updateAudioCodec(of source: Int) {
        guard let isAAC = publisher.transportStream.isAAC else { return }
        sources[source]?.engine.setChannelAAC(isAAC)
    }

    /// Why nothing was published of a channel that has ended; nil if something was.
    var emptinessError: ChannelError? {
        guard !publisher.hasBegun else { return nil }
        var found = found
        found.counts = counts
        return lastFailure ?? .empty(found, url: configuration.upstream)
    }

    /// Lists gaps for segments of an earlier process that its damaged journal no longer records.
    mutating func publishUnrecordedGaps() async throws(ChannelError) -> [Event] {
        do throws(RingError) { return try await publisher.publishUnrecordedGaps() } catch { throw .spool(error) }
    }
}

// MARK: - Deliveries

extension ChannelPipeline {
    /// Processes one delivery of the tracker.
    /// - Returns: the outcome for the tracker, which matters only for media segments, and events in order.
    /// - Throws: `ChannelError` if the channel cannot go on, or the task was canceled.
    mutating func process(
        _ delivery: Delivery
    ) async throws(ChannelError) -> (outcome: DeliveryOutcome, events: [Event]) {
        if case .subtitles(let index) = delivery.rendition {
            // Cues are placed by the clocks of the channel's own video, which a backup does not share.
            guard delivery.source == 0 else { return (.held, []) }
            return (.held, try await publisher.subtitles.process(delivery.content, of: index))
        }
        let rendition = InputRendition(delivery.rendition)
        switch delivery.content {
        case .segment(let tracked):
            let isOther = delivery.source != output.source || output.filler != nil
            let events = isOther && rendition == .main ? try await switchSource(to: delivery.source) : []
            let segment = try await process(
                tracked, of: rendition, from: delivery.source, isVariantTrial: delivery.variantTrial != nil)
            return (segment.outcome, events + segment.events)
        case .lost(let loss):
            if rendition == .main { found.record(loss) }
            return (.held, try await splice(.lost(rendition, duration: Ticks(loss.duration)), from: delivery.source))
        case .outageGap(let duration): return (.held, try await fillOutage(Ticks(duration)))
        case .ended(let dateRanges):
            if rendition == .main, delivery.source == 0 { trailingDateRanges = dateRanges }
            return (.held, try await finish(rendition, of: delivery.source))
        }
    }

    private mutating func process(
        _ tracked: TrackedSegment, of rendition: InputRendition, from source: Int, isVariantTrial: Bool
    ) async throws(ChannelError) -> (outcome: DeliveryOutcome, events: [Event]) {
        if rendition == .main {
            found.segments += 1
            publisher.markers.append(UpstreamAdMarkers(tracked))
            sources[source]?.record(tracked)
        }
        var input: SegmentInput
        do throws(DecryptError) {
            input = try SegmentInput(decrypting: tracked, of: rendition)
            input.isVariantTrial = isVariantTrial
        } catch {
            if error.reason == .canceled { throw .canceled }
            let reason = ChannelError.undecryptable(
                error, segments: consecutiveFailures + 1, url: configuration.upstream)
            let events = try await skip(tracked, of: rendition, from: source, .undecryptable(error), error: reason)
            return (.refused(.undecryptable), events)
        }
        return try await splice(input, of: tracked, from: source)
    }

    private mutating func splice(
        _ segment: SegmentInput, of tracked: TrackedSegment, from source: Int
    ) async throws(ChannelError) -> (outcome: DeliveryOutcome, events: [Event]) {
        let spliced: [SplicedSegment]
        do throws(MediaError) {
            spliced = try sources[source]?.engine.handle(.segment(segment)) ?? []
        } catch {
            if error.reason == .canceled { throw .canceled }
            if segment.isVariantTrial, let codecs = error.foreignCodecs {
                // Another variant may have other tracks beside it.
                if sources[source]?.engine.isUnused == true { sources[source] = nil }
                return (.refused(.foreignVideo(codecs)), [])
            }
            let reason = ChannelError.unusable(
                error, segments: consecutiveFailures + 1, isEncrypted: !tracked.segment.keys.isEmpty,
                url: configuration.upstream)
            let events = try await skip(
                tracked, of: segment.rendition, from: source, .unreadable(error), error: reason,
                isHopeless: error.isProtected)
            return (.refused(UnpublishedReason(error, of: tracked)), events)
        }
        if segment.rendition == .main, sources[source]?.engine.beginsWithDuplicates == true {
            publisher.markers.withdrawCueTags(of: segment.mediaSequence)
        }
        let events = await publish(spliced, after: .segment(segment), from: source)
        guard spliced.isEmpty else { return (.published, events) }
        return (sources[source]?.engine.outcomeOfUnpublished ?? .refused(.noVideo), events)
    }

    /// Skips an unusable segment: a discontinuity follows.
    /// - Parameters:
    ///   - error: ends the channel if too many segments in a row are unusable before anything is published.
    ///   - isHopeless: whether `error` ends the channel at once. It never does if there are backups, or if only a track
    ///     beside the leading one is lost.
    private mutating func skip(
        _ tracked: TrackedSegment, of rendition: InputRendition, from source: Int, _ reason: SkipReason,
        error: ChannelError, isHopeless: Bool = false
    ) async throws(ChannelError) -> [Event] {
        skippedSegments += 1
        if rendition == .main {
            consecutiveFailures += 1
            lastFailure = error
        }
        let isOver =
            isHopeless && !rendition.isFurther || (consecutiveFailures >= Self.failureLimit && !publisher.hasBegun)
        // A backup may have usable segments.
        if isOver, configuration.backups.isEmpty { throw error }
        let skipped = Event.skipped(mediaSequence: tracked.segment.mediaSequence, reason)
        let lost = SpliceInput.lost(rendition, duration: Ticks(tracked.segment.duration))
        return try await [skipped] + splice(lost, from: source)
    }

    /// Splices an input other than a segment; a media error of what the engine held is ignored.
    private mutating func splice(_ input: SpliceInput, from source: Int) async throws(ChannelError) -> [Event] {
        var spliced: [SplicedSegment] = []
        do throws(MediaError) { spliced = try sources[source]?.engine.handle(input) ?? [] } catch {
            if error.reason == .canceled { throw .canceled }
        }
        return await publish(spliced, after: input, from: source)
    }

    /// Ends a rendition. The channel's own upstream ends the channel, a backup only its own media.
    private mutating func finish(
        _ rendition: InputRendition, of source: Int
    ) async throws(ChannelError) -> [Event] {
        guard source == 0 || rendition.isFurther else { return try await flushActiveSource() }
        // Media that a backup still holds comes before the end.
        let flushed = output.source != source && rendition == .main ? try await flushActiveSource() : []
        let events = try await flushed + splice(.ended(rendition), from: source)
        // A playlist that ends without a segment is never joined, so nothing splices it.
        return sources[source] == nil && rendition == .main ? await events + endChannel() : events
    }

    /// Ends the channel once the main rendition of its own upstream has ended and all of it is published. Any input may
    /// complete that: the video may have waited for another track.
    private mutating func endIfFinished(after source: Int) async -> [Event] {
        guard source == 0, sources[source]?.engine.isFinished == true else { return [] }
        return await endChannel()
    }

    private mutating func endChannel() async -> [Event] {
        guard !output.isEnded else { return [] }
        output = .ended(after: output.source)
        return await publisher.end(with: trailingDateRanges)
    }
}

// MARK: - Publishing

extension ChannelPipeline {
    private mutating func publish(
        _ segments: [SplicedSegment], after input: SpliceInput, from source: Int
    ) async -> [Event] {
        if !segments.isEmpty { consecutiveFailures = 0 }
        var events = sources[source]?.dequeueChanges(after: input) ?? []
        for segment in segments { events += await publish(segment, from: source) }
        if let late = sources[source]?.engine.dequeueLateVideo() { events += await publisher.publish(late) }
        events += sources[source]?.dequeueRejections() ?? []
        return await events + endIfFinished(after: source)
    }

    private mutating func publish(_ segment: SplicedSegment, from source: Int) async -> [Event] {
        var events: [Event] = []
        if lastPeriod != segment.description.index {
            lastPeriod = segment.description.index
            let first = segment.spans.first { $0.period == segment.description.index }
            let sequence = first?.mediaSequence ?? segment.mediaSequence
            events.append(.periodBegan(segment.description, mediaSequence: sequence))
        }
        let position = sources[source]?.upstreamPosition(after: segment.upstreamEnd, source: source)
        events += await publisher.publish(segment, from: position, hasSubtitles: source == 0)
        updateAudioCodec(of: source)
        return events
    }

    /// Publishes the media that the active source still holds.
    private mutating func flushActiveSource() async throws(ChannelError) -> [Event] {
        let held: [SplicedSegment]
        do throws(MediaError) { held = try sources[output.source]?.engine.pause() ?? [] } catch {
            if error.reason == .canceled { throw .canceled }
            return []
        }
        var events: [Event] = []
        for segment in held { events += await publish(segment, from: output.source) }
        return events
    }
}

// MARK: - Outages and failover

extension ChannelPipeline {
    /// Fills media time that did not come. Before the first segment is published there is nothing to fill.
    private mutating func fillOutage(_ duration: Ticks) async throws(ChannelError) -> [Event] {
        guard publisher.hasBegun, !output.isEnded else { return [] }
        let events = output.filler == nil ? try await flushActiveSource() : []
        let filler = await outageFiller.fill(duration, after: output.filler, in: &publisher)
        if let kind = filler.kind { output = .filler(kind, after: output.source) }
        return events + filler.events
    }

    /// Makes `next` the active source; its media follows what was published meanwhile.
    private mutating func switchSource(to next: Int) async throws(ChannelError) -> [Event] {
        let events = output.filler == nil ? try await flushActiveSource() : []
        if next != output.source { publisher.resetMarkers() }
        // After filler, a source goes on with its own numbers, which say what is new.
        let published = next == output.source ? nil : sources[output.source]?.engine.published
        output = output.isEnded ? .ended(after: next) : .source(next)
        lastPeriod = nil
        updateAudioCodec(of: next)
        sources[next]?.engine.resume(
            at: publisher.position, datedUntil: publisher.datedUntil, after: published,
            repeatable: Ticks(JoinPoint.reach(publisher.longestSegment.duration)))
        return events
    }
}

extension ChannelPipeline {
    /// The output of a channel at one moment: a source, filler, or nothing any more.
    fileprivate enum Output: Equatable {
        case source(Int)
        /// An outage is filled; `after` is the source that was published before.
        case filler(OutageFiller.Kind, after: Int)
        /// Nothing follows; `after` is the source that was published last.
        case ended(after: Int)

        /// The source that is published, or was published last. Source 0 is the channel's own upstream.
        var source: Int {
            switch self {
            case .source(let source), .filler(_, let source), .ended(let source): source
            }
        }

        /// nil unless an outage is filled.
        var filler: OutageFiller.Kind? { if case .filler(let kind, _) = self { kind } else { nil } }

        var isEnded: Bool { if case .ended = self { true } else { false } }
    }
}
