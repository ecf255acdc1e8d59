import Decrypt
import LiveRing
import Playlist
import Splice
import Tracker

/// One channel's line behind the tracker: what it delivers is decrypted, spliced and published, one delivery at a time.
///
/// It is the same for a live channel and for a replay: nothing in it knows what time it is.
struct ChannelLine: Sendable {
    /// With nothing published yet, so many segments in a row that cannot be used end the channel.
    static let patience = 3

    private let upstream: String
    private let sound: SoundConfiguration
    private let wallClock: Int64
    private(set) var publication: Publication
    private(set) var interlude: Interlude
    /// By source; 0 is the channel's own upstream.
    private var sources: [Int: SourceLine] = [:]
    /// The one that is published.
    private var source = 0
    /// Another source may have what one does not.
    private let hasBackups: Bool
    /// What became of the segment that was taken last.
    private(set) var reception = Reception.held
    /// Listed at the end of the channel's own upstream, with no segment.
    private var closingDateRanges: [DateRange] = []
    private var lastRun: Int?
    private var failures = 0
    private var hasEnded = false
    private(set) var skipped = 0

    /// - Parameters:
    ///   - ring: to publish into, behind what is in it.
    ///   - isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    ///   - wallClock: milliseconds since 1970 now, used when the upstream has no dates of its own.
    ///   - slate: stands in when nothing comes; nil: gaps do.
    ///   - hasBackups: what cannot be used, whatever it is, does not end the channel.
    init(
        upstream: String, ring: DVRRing, sound: SoundConfiguration, isLive: Bool, wallClock: Int64,
        slate: Slate? = nil, hasBackups: Bool = false
    ) {
        self.upstream = upstream
        self.sound = sound
        self.wallClock = wallClock
        self.hasBackups = hasBackups
        publication = Publication(in: ring, isLive: isLive)
        interlude = Interlude(slate: slate, wallClock: wallClock)
    }

    /// Goes on with the same ring, opened as the upstream is; no source was there before.
    mutating func use(_ ring: DVRRing, isLive: Bool, slate: Slate?) {
        publication.use(ring, isLive: isLive)
        interlude.slate = slate
    }

    var ring: DVRRing { publication.ring }
    var counts: SpliceCounts { sources.values.reduce(SpliceCounts()) { $0 + $1.engine.counts } }

    /// A source is there, and how its sound comes. What is known of it already stays.
    mutating func add(source: Int, hasAudioRendition: Bool) {
        guard sources[source]?.hasAudioRendition != hasAudioRendition else { return }
        sources[source] = SourceLine(
            SpliceEngine.Configuration(
                hasAudioRendition: hasAudioRendition, audio: sound.policy, fillsSilence: sound.fillsSilence,
                longestSegment: publication.longestSegment, position: publication.position, wallClock: wallClock,
                datedUntil: publication.datedUntil, published: publication.publishedBefore))
    }

    /// Lists what an earlier process listed and its damaged journal does not tell of.
    mutating func listUnrecorded() async throws(RelayError) -> [Event] {
        do throws(RingError) { return try await publication.listUnrecorded() } catch { throw RelayError(error) }
    }

    mutating func take(_ delivery: Delivery) async throws(RelayError) -> [Event] {
        if case .subtitles(let index) = delivery.rendition {
            // The cues of a backup would be placed by the clocks of the channel's own pictures.
            return delivery.source == 0 ? await publication.take(delivery.content, ofSubtitles: index) : []
        }
        let rendition: SourceRendition = delivery.rendition == .main ? .main : .audio
        switch delivery.content {
        case .segment(let tracked):
            reception = .held
            let isOther = delivery.source != source || interlude.kind != nil
            let events = isOther && rendition == .main ? try await turn(to: delivery.source) : []
            let news = try await take(tracked, of: rendition, from: delivery.source)
            let isHeld = reception == .held && sources[delivery.source]?.engine.isHolding == true
            if reception == .held, !isHeld { reception = .refused(.withoutPicture) }
            return events + news
        case .lost: return try await splice(.lost(rendition), from: delivery.source)
        case .missing(let duration): return try await fill(Ticks(duration))
        case .ended(let dateRanges):
            if rendition == .main, delivery.source == 0 { closingDateRanges = dateRanges }
            return try await end(rendition, of: delivery.source)
        }
    }

    /// The channel ends with its own upstream.
    private mutating func end(_ rendition: SourceRendition, of source: Int) async throws(RelayError) -> [Event] {
        guard source == 0 else { return try await pause() }
        // What another source still holds comes before the end.
        let left = self.source != source && rendition == .main ? try await pause() : []
        let events = try await left + splice(.ended(rendition), from: source)
        guard sources[source]?.engine.isFinished ?? true, !hasEnded else { return events }
        hasEnded = true
        return await events + publication.end(with: closingDateRanges)
    }

    private mutating func take(
        _ tracked: TrackedSegment, of rendition: SourceRendition, from source: Int
    ) async throws(RelayError) -> [Event] {
        if rendition == .main {
            publication.note(UpstreamMarks(tracked))
            sources[source]?.note(tracked)
        }
        let clear: ClearSegment
        do throws(DecryptError) {
            clear = try ClearSegment(tracked)
        } catch {
            return try await skip(
                tracked, of: rendition, from: source, why: error.words, .undecryptable,
                error: RelayError(error, url: upstream, failures: failures + 1))
        }
        let input = SegmentInput(tracked, clear, of: rendition)
        return try await splice(.segment(input), from: source, tracked)
    }

    private mutating func splice(
        _ input: SpliceInput, from source: Int, _ tracked: TrackedSegment? = nil
    ) async throws(RelayError) -> [Event] {
        let segments: [SplicedSegment]
        do throws(SpliceError) {
            segments = try sources[source]?.engine.handle(input) ?? []
        } catch {
            guard let tracked, case .segment(let segment) = input else { return [] }
            let isEncrypted = !tracked.segment.keys.isEmpty
            return try await skip(
                tracked, of: segment.rendition, from: source, why: error.words,
                MediaTrouble(error, of: tracked),
                error: RelayError(error, url: upstream, failures: failures + 1, isEncrypted: isEncrypted))
        }
        if !segments.isEmpty {
            failures = 0
            if case .held = reception { reception = .published }
        }
        if case .segment(let segment) = input, segment.rendition == .main, sources[source]?.engine.beganBefore == true {
            publication.withdrawCues(of: segment.mediaSequence)
        }
        var events = sources[source]?.newsOfProgrammes() ?? []
        if case .segment(let segment) = input { events += sources[source]?.newsOfHoles(in: segment) ?? [] }
        for segment in segments { events += await publish(segment, from: source) }
        return events + (sources[source]?.newsOfRefusals() ?? [])
    }

    private mutating func publish(_ segment: SplicedSegment, from source: Int) async -> [Event] {
        var events: [Event] = []
        if lastRun != segment.description.run {
            lastRun = segment.description.run
            events.append(.runBegan(segment.description, mediaSequence: segment.mediaSequence))
        }
        let mark = sources[source]?.mark(behind: segment.end, of: source)
        return await events + publication.publish(segment, from: mark, hasSubtitles: source == 0)
    }

    /// A segment that cannot be used leaves a seam; too many of them before anything was published end the channel with
    /// `error`, where nobody else may have it.
    private mutating func skip(
        _ tracked: TrackedSegment, of rendition: SourceRendition, from source: Int, why: String,
        _ trouble: MediaTrouble, error: RelayError
    ) async throws(RelayError) -> [Event] {
        skipped += 1
        reception = .refused(trouble)
        if rendition == .main { failures += 1 }
        let isHopeless = error.exit == .unsupportedProtection || (failures >= Self.patience && !publication.hasBegun)
        if isHopeless, !hasBackups { throw error }
        let sequence = tracked.segment.mediaSequence
        return try await [.skipped(mediaSequence: sequence, why: why)] + splice(.lost(rendition), from: source)
    }
}

// MARK: - Outages, and who stands in

extension ChannelLine {
    /// Nothing came for so long. Of a channel that never showed anything nothing is missing.
    private mutating func fill(_ duration: Ticks) async throws(RelayError) -> [Event] {
        guard publication.hasBegun, !hasEnded else { return [] }
        let events = interlude.kind == nil ? try await pause() : []
        return await events + interlude.fill(duration, of: &publication)
    }

    /// What comes next is of `next`, behind what was published meanwhile.
    private mutating func turn(to next: Int) async throws(RelayError) -> [Event] {
        let events = interlude.kind == nil ? try await pause() : []
        if next != source { publication.turnMarks() }
        let published = sources[source]?.engine.published
        interlude.end()
        (source, lastRun) = (next, nil)
        sources[next]?.engine.resume(
            at: publication.position, datedUntil: publication.datedUntil, after: published)
        return events
    }

    /// Publishes what the source that was published still holds.
    private mutating func pause() async throws(RelayError) -> [Event] {
        let held = (try? sources[source]?.engine.pause()) ?? []
        var events: [Event] = []
        for segment in held { events += await publish(segment, from: source) }
        return events
    }
}
