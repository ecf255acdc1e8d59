import Decrypt
import LiveRing
import Media
import Playlist
import Splice
import Tracker

/// One channel's line behind the tracker: what it delivers is decrypted, spliced and published, one delivery at a time.
///
/// It is the same for a live channel and for a replay: nothing in it knows what time it is.
struct ChannelPipeline: Sendable {
    /// With nothing published yet, so many segments in a row that cannot be used end the channel.
    static let failureLimit = 3

    private let upstream: String
    private let audio: AudioSettings
    private let wallClock: Int64
    private(set) var publisher: ChannelPublisher
    private(set) var outageFiller: OutageFiller
    /// By source; 0 is the channel's own upstream.
    private var sources: [Int: SourcePipeline] = [:]
    /// The one that is published.
    private var activeSource = 0
    /// Another source may have what one does not.
    private let hasBackups: Bool
    /// What became of the segment that was taken last.
    private(set) var outcome = DeliveryOutcome.held
    /// Listed at the end of the channel's own upstream, with no segment.
    private var trailingDateRanges: [DateRange] = []
    private var lastPeriod: Int?
    private var consecutiveFailures = 0
    private var hasEnded = false
    private(set) var skipped = 0

    /// - Parameters:
    ///   - ring: to publish into, behind what is in it.
    ///   - isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    ///   - wallClock: milliseconds since 1970 now, used when the upstream has no dates of its own.
    ///   - slate: stands in when nothing comes; nil: gaps do.
    ///   - hasBackups: what cannot be used, whatever it is, does not end the channel.
    init(
        upstream: String, ring: DVRRing, sound: AudioSettings, isLive: Bool, wallClock: Int64,
        slate: Slate? = nil, hasBackups: Bool = false
    ) {
        self.upstream = upstream
        self.audio = sound
        self.wallClock = wallClock
        self.hasBackups = hasBackups
        publisher = ChannelPublisher(in: ring, isLive: isLive)
        outageFiller = OutageFiller(slate: slate, wallClock: wallClock)
    }

    /// Goes on with the same ring, opened as the upstream is; no source was there before.
    mutating func replaceRing(_ ring: DVRRing, isLive: Bool, slate: Slate?) {
        publisher.replaceRing(ring, isLive: isLive)
        outageFiller.slate = slate
    }

    var ring: DVRRing { publisher.ring }
    var counts: SpliceCounts { sources.values.reduce(SpliceCounts()) { $0 + $1.engine.counts } }

    /// A source is there, and how its sound comes. What is known of it already stays.
    mutating func addSource(_ source: Int, hasCompanion: Bool) {
        guard sources[source]?.hasCompanion != hasCompanion else { return }
        sources[source] = SourcePipeline(
            SpliceEngine.Configuration(
                hasAudioRendition: hasCompanion, audio: audio.policy, fillsSilence: audio.fillsSilence,
                longestSegment: publisher.longestSegment, position: publisher.position, wallClock: wallClock,
                datedUntil: publisher.datedUntil, published: publisher.publishedBefore))
    }

    /// Lists what an earlier process listed and its damaged journal does not tell of.
    mutating func publishUnrecordedGaps() async throws(RelayError) -> [Event] {
        do throws(RingError) { return try await publisher.publishUnrecordedGaps() } catch { throw RelayError(error) }
    }

    mutating func process(_ delivery: Delivery) async throws(RelayError) -> [Event] {
        if case .subtitles(let index) = delivery.rendition {
            // The cues of a backup would be placed by the clocks of the channel's own pictures.
            return delivery.source == 0 ? await publisher.process(delivery.content, ofSubtitles: index) : []
        }
        let rendition: InputRendition = delivery.rendition == .main ? .main : .audio
        switch delivery.content {
        case .segment(let tracked):
            outcome = .held
            let isOther = delivery.source != activeSource || outageFiller.kind != nil
            let events = isOther && rendition == .main ? try await switchSource(to: delivery.source) : []
            let news = try await decryptAndSplice(tracked, of: rendition, from: delivery.source)
            let isHeld = outcome == .held && sources[delivery.source]?.engine.isHolding == true
            if outcome == .held, !isHeld { outcome = .refused(.noVideo) }
            return events + news
        case .lost: return try await splice(.lost(rendition), from: delivery.source)
        case .outageGap(let duration): return try await fillOutage(Ticks(duration))
        case .ended(let dateRanges):
            if rendition == .main, delivery.source == 0 { trailingDateRanges = dateRanges }
            return try await finish(rendition, of: delivery.source)
        }
    }

    /// The channel ends with its own upstream.
    private mutating func finish(_ rendition: InputRendition, of source: Int) async throws(RelayError) -> [Event] {
        guard source == 0 else { return try await flushActiveSource() }
        // What another source still holds comes before the end.
        let left = self.activeSource != source && rendition == .main ? try await flushActiveSource() : []
        let events = try await left + splice(.ended(rendition), from: source)
        guard sources[source]?.engine.isFinished ?? true, !hasEnded else { return events }
        hasEnded = true
        return await events + publisher.end(with: trailingDateRanges)
    }

    private mutating func decryptAndSplice(
        _ tracked: TrackedSegment, of rendition: InputRendition, from source: Int
    ) async throws(RelayError) -> [Event] {
        if rendition == .main {
            publisher.append(UpstreamAdMarkers(tracked))
            sources[source]?.record(tracked)
        }
        let clear: DecryptedSegment
        do throws(DecryptError) {
            clear = try DecryptedSegment(tracked)
        } catch {
            return try await skip(
                tracked, of: rendition, from: source, why: error.words, .undecryptable,
                error: RelayError(error, url: upstream, failures: consecutiveFailures + 1))
        }
        let input = SegmentInput(tracked, clear, of: rendition)
        return try await splice(.segment(input), from: source, tracked)
    }

    private mutating func splice(
        _ input: SpliceInput, from source: Int, _ tracked: TrackedSegment? = nil
    ) async throws(RelayError) -> [Event] {
        let segments: [SplicedSegment]
        do throws(MediaError) {
            segments = try sources[source]?.engine.handle(input) ?? []
        } catch {
            guard let tracked, case .segment(let segment) = input else { return [] }
            let isEncrypted = !tracked.segment.keys.isEmpty
            return try await skip(
                tracked, of: segment.rendition, from: source, why: error.words,
                UnpublishedReason(error, of: tracked),
                error: RelayError(error, url: upstream, failures: consecutiveFailures + 1, isEncrypted: isEncrypted))
        }
        if !segments.isEmpty {
            consecutiveFailures = 0
            if case .held = outcome { outcome = .published }
        }
        if case .segment(let segment) = input, segment.rendition == .main,
            sources[source]?.engine.beginsWithDuplicates == true
        {
            publisher.discardCues(of: segment.mediaSequence)
        }
        var events = sources[source]?.dequeueProgramChanges() ?? []
        if case .segment(let segment) = input { events += sources[source]?.dequeueTimestampGaps(in: segment) ?? [] }
        for segment in segments { events += await publish(segment, from: source) }
        return events + (sources[source]?.dequeueRejections() ?? [])
    }

    private mutating func publish(_ segment: SplicedSegment, from source: Int) async -> [Event] {
        var events: [Event] = []
        if lastPeriod != segment.description.index {
            lastPeriod = segment.description.index
            events.append(.periodBegan(segment.description, mediaSequence: segment.mediaSequence))
        }
        let mark = sources[source]?.upstreamPosition(after: segment.upstreamEnd, source: source)
        return await events + publisher.publish(segment, from: mark, hasSubtitles: source == 0)
    }

    /// A segment that cannot be used leaves a seam; too many of them before anything was published end the channel with
    /// `error`, where nobody else may have it.
    private mutating func skip(
        _ tracked: TrackedSegment, of rendition: InputRendition, from source: Int, why: String,
        _ trouble: UnpublishedReason, error: RelayError
    ) async throws(RelayError) -> [Event] {
        skipped += 1
        outcome = .refused(trouble)
        if rendition == .main { consecutiveFailures += 1 }
        let isHopeless =
            error.exit == .unsupportedProtection || (consecutiveFailures >= Self.failureLimit && !publisher.hasBegun)
        if isHopeless, !hasBackups { throw error }
        let sequence = tracked.segment.mediaSequence
        return try await [.skipped(mediaSequence: sequence, why: why)] + splice(.lost(rendition), from: source)
    }
}

// MARK: - Outages, and who stands in

extension ChannelPipeline {
    /// Nothing came for so long. Of a channel that never showed anything nothing is missing.
    private mutating func fillOutage(_ duration: Ticks) async throws(RelayError) -> [Event] {
        guard publisher.hasBegun, !hasEnded else { return [] }
        let events = outageFiller.kind == nil ? try await flushActiveSource() : []
        return await events + outageFiller.fill(duration, in: &publisher)
    }

    /// What comes next is of `next`, behind what was published meanwhile.
    private mutating func switchSource(to next: Int) async throws(RelayError) -> [Event] {
        let events = outageFiller.kind == nil ? try await flushActiveSource() : []
        if next != activeSource { publisher.resetMarkers() }
        let published = sources[activeSource]?.engine.published
        outageFiller.end()
        (activeSource, lastPeriod) = (next, nil)
        sources[next]?.engine.resume(
            at: publisher.position, datedUntil: publisher.datedUntil, after: published)
        return events
    }

    /// Publishes what the source that was published still holds.
    private mutating func flushActiveSource() async throws(RelayError) -> [Event] {
        let held = (try? sources[activeSource]?.engine.pause()) ?? []
        var events: [Event] = []
        for segment in held { events += await publish(segment, from: activeSource) }
        return events
    }
}
