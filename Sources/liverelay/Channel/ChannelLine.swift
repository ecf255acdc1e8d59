import Decrypt
import LiveRing
import Playlist
import Splice
import Tracker

/// One channel's line behind the tracker: what it delivers is decrypted, spliced and published, one delivery at a time.
///
/// It is the same for a live channel and for a replay: nothing in it knows what time it is.
struct ChannelLine: Sendable {
    /// What a person may want to know of it, once per occasion.
    enum Event: Equatable, Sendable {
        case skipped(mediaSequence: UInt64, why: String)
        case runBegan(RunDescription, mediaSequence: UInt64)
        /// Which programme of a transport stream is followed, and which of its streams.
        case programme(ProgramSelection, of: SourceRendition)
        case published(mediaSequence: UInt64, upstream: UInt64, duration: Ticks)
        /// The first of those that the spool does not take, or one that it cannot take.
        case notPublished(RingError)
        /// The spool takes segments again, behind so many that it did not take.
        case publishedAgain(after: Int)
        /// The journal that an earlier process left is damaged: so many segments of it are listed as gaps.
        case journalWasDamaged(lost: Int)
        case subtitlesNotPublished(RingError)
        /// A run whose parameter sets cannot be described is left out.
        case runRefused(SpliceError)
        /// Sound that had to be encoded again could not be: there is silence instead.
        case soundRefused(SpliceError)
        /// So much time is missing in or in front of a segment on the upstream's own clock, the first of those in a row.
        case lackedTime(mediaSequence: UInt64, Ticks)
        /// Nothing comes: what stands in for it begins here.
        case standInBegan(StandIn)
        /// The slate is another file than it was, or was written over, and is shown as it is now.
        case slateChanged(SlateMovie.Sound)
        /// A piece of the slate cannot be read, the first of those in a row; a gap is listed for it.
        case slateFailed(RelayError)
        case ended
    }

    /// What is published while nothing comes.
    enum StandIn: String, Equatable, Sendable { case gap, slate }

    /// With nothing published yet, so many segments in a row that cannot be used end the channel.
    static let patience = 3

    private let upstream: String
    private(set) var ring: DVRRing
    private let sound: SoundConfiguration
    private let wallClock: Int64
    /// By source; 0 is the channel's own upstream.
    private var sources: [Int: SourceLine] = [:]
    /// The one that is published.
    private var source = 0
    private var standIn: StandIn?
    private var slate: Slate?
    /// The last piece of it could not be read.
    private var slateFails = false
    /// Another source may have what one does not.
    private let hasBackups: Bool
    /// What became of the segment that was taken last.
    private(set) var reception = Reception.held
    /// Time of the outage that nothing has stood in for; below zero where a piece of the slate was longer.
    private var owed = Ticks.zero
    /// Where the output's clocks stand.
    private var position: TimelinePosition
    /// By an earlier process; nil when there was none.
    private let publishedBefore: PublishedMedia?
    private(set) var subtitles: SubtitleLine
    private var marks: MarkTimeline
    /// Of sources published before.
    private var earlierMarks = MarkCounts()
    /// Listed at the end of the channel's own upstream, with no segment.
    private var closingDateRanges: [DateRange] = []
    private var lastRun: Int?
    private var failures = 0
    private var hasPublished: Bool
    private var hasEnded = false
    private(set) var skipped = 0
    private(set) var notPublished = 0
    private(set) var spoolTrouble = SpoolTrouble()
    /// Segments that stood in for what did not come.
    private(set) var gaps = 0
    private(set) var slates = 0

    /// - Parameters:
    ///   - resume: where an earlier process of this channel stopped.
    ///   - isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    ///   - wallClock: milliseconds since 1970 now, used when the upstream has no dates of its own.
    ///   - slate: stands in when nothing comes; nil: gaps do.
    ///   - hasBackups: what cannot be used, whatever it is, does not end the channel.
    init(
        upstream: String, ring: DVRRing, resume: ContinuationMark?, sound: SoundConfiguration, isLive: Bool,
        wallClock: Int64, slate: Slate? = nil, hasBackups: Bool = false
    ) {
        self.slate = slate
        self.hasBackups = hasBackups
        self.upstream = upstream
        self.ring = ring
        self.sound = sound
        self.wallClock = wallClock
        subtitles = SubtitleLine(ring, isLive: isLive)
        marks = Self.marks(of: ring)
        position = resume.map(TimelinePosition.init) ?? .beginning
        publishedBefore = Self.published(in: ring)
        hasPublished = resume != nil
    }

    /// Goes on with the same ring, opened as the upstream is; no source was there before.
    mutating func use(_ ring: DVRRing, isLive: Bool, slate: Slate?) {
        self.ring = ring
        self.slate = slate
        subtitles = SubtitleLine(ring, isLive: isLive)
    }

    var counts: SpliceCounts { sources.values.reduce(SpliceCounts()) { $0 + $1.engine.counts } }
    var markCounts: MarkCounts { earlierMarks + marks.counts }

    /// A source is there, and how its sound comes. What is known of it already stays.
    mutating func add(source: Int, hasAudioRendition: Bool) {
        guard sources[source]?.hasAudioRendition != hasAudioRendition else { return }
        sources[source] = SourceLine(
            SpliceEngine.Configuration(
                hasAudioRendition: hasAudioRendition, audio: sound.policy, fillsSilence: sound.fillsSilence,
                longestSegment: Ticks(ring.maximumSegmentDuration), position: position, wallClock: wallClock,
                datedUntil: datedUntil, published: publishedBefore))
    }

    private static func published(in ring: DVRRing) -> PublishedMedia? {
        let pictures = ring.snapshot.index.listed
            .compactMap { $0.mark.source?.pictures.flatMap(PublishedPictures.init(text:)) }
        return pictures.isEmpty ? nil : PublishedMedia(Array(pictures))
    }

    private var datedUntil: Int64? { ring.snapshot.edge?.programDateTimeEnd.millisecondsSince1970 }

    mutating func take(_ delivery: Delivery) async throws(RelayError) -> [Event] {
        if case .subtitles(let index) = delivery.rendition {
            // The cues of a backup would be placed by the clocks of the channel's own pictures.
            return delivery.source == 0 ? await subtitles.take(delivery.content, of: index) : []
        }
        let rendition: SourceRendition = delivery.rendition == .main ? .main : .audio
        switch delivery.content {
        case .segment(let tracked):
            reception = .held
            let isOther = delivery.source != source || standIn != nil
            let events = isOther && rendition == .main ? try await turn(to: delivery.source) : []
            let news = try await take(tracked, of: rendition, from: delivery.source)
            let isHeld = reception == .held && sources[delivery.source]?.engine.isHolding == true
            if reception == .held, !isHeld { reception = .refused(.withoutPicture) }
            return events + news
        case .lost: return try await splice(.lost(rendition), from: delivery.source)
        case .missing(let duration): return try await standIn(for: duration)
        case .ended(let dateRanges):
            if rendition == .main, delivery.source == 0 { closingDateRanges = dateRanges }
            return try await end(rendition, of: delivery.source)
        }
    }

    private static func marks(of ring: DVRRing) -> MarkTimeline {
        MarkTimeline(resuming: ring.snapshot.index) { SpliceInformation.returnsByItself($0) }
    }

    /// The channel ends with its own upstream.
    private mutating func end(_ rendition: SourceRendition, of source: Int) async throws(RelayError) -> [Event] {
        guard source == 0 else { return try await pause() }
        // What another source still holds comes before the end.
        let left = self.source != source && rendition == .main ? try await pause() : []
        let events = try await left + splice(.ended(rendition), from: source)
        guard sources[source]?.engine.isFinished ?? true, !hasEnded else { return events }
        hasEnded = true
        await endRing()
        return await events + subtitles.endPictures() + [.ended]
    }

    private mutating func endRing() async {
        guard let edge = ring.snapshot.edge else { return await ring.end() }
        await ring.end(telling: marks.end(closingDateRanges, at: edge.programDateTimeEnd))
    }

    private mutating func take(
        _ tracked: TrackedSegment, of rendition: SourceRendition, from source: Int
    ) async throws(RelayError) -> [Event] {
        if rendition == .main {
            marks.note(UpstreamMarks(tracked))
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
            marks.withdrawCues(of: segment.mediaSequence)
        }
        var events = sources[source]?.newsOfProgrammes() ?? []
        if case .segment(let segment) = input { events += sources[source]?.newsOfHoles(in: segment) ?? [] }
        for segment in segments { events += await publish(segment, from: source) }
        return events + (sources[source]?.newsOfRefusals() ?? [])
    }

    /// - Parameter source: nil: what stands in for all of them.
    private mutating func publish(_ segment: SplicedSegment, from source: Int?) async -> [Event] {
        var events: [Event] = []
        if source != nil, lastRun != segment.description.run {
            lastRun = segment.description.run
            events.append(.runBegan(segment.description, mediaSequence: segment.mediaSequence))
        }
        position = segment.position
        // Marks that could not be published are told with the next segment.
        var next = marks
        let told = next.marks(for: MarkedSegment(segment))
        var shown = segment
        // Subtitles are placed by the clocks of the channel's own upstream.
        if source != 0 { shown.spans = [] }
        let before = ring.snapshot.edge?.mediaSequence
        do throws(RingError) {
            let mark = source.flatMap { sources[$0]?.mark(behind: segment.end, of: $0) }
            try await ring.publish(NewSegment(segment, from: mark, marks: told))
            marks = next
            hasPublished = true
            events += spoolTrouble.end()
            let number = ring.snapshot.edge?.mediaSequence ?? 0
            events.append(
                .published(mediaSequence: number, upstream: segment.mediaSequence, duration: segment.duration))
            return await events + subtitles.note(shown, as: number)
        } catch {
            notPublished += 1
            // The ring lists it as a gap, if it can.
            if ring.snapshot.edge?.mediaSequence != before { gaps += 1 }
            return await events + spoolTrouble.note(error) + subtitles.note(shown, as: nil)
        }
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
        let isHopeless = error.exit == .unsupportedProtection || (failures >= Self.patience && !hasPublished)
        if isHopeless, !hasBackups { throw error }
        let sequence = tracked.segment.mediaSequence
        return try await [.skipped(mediaSequence: sequence, why: why)] + splice(.lost(rendition), from: source)
    }
}

// MARK: - Outages, and who stands in

extension ChannelLine {
    /// Nothing came for so long: the output goes on all the same.
    private mutating func standIn(for duration: Duration) async throws(RelayError) -> [Event] {
        // Of a channel that never showed anything nothing is missing.
        guard hasPublished, !hasEnded else { return [] }
        var events = standIn == nil ? try await pause() : []
        owed = (standIn == nil ? .zero : owed) + min(Ticks(duration), Ticks(ring.maximumSegmentDuration))
        while owed > .zero {
            let last = standIn
            let (used, news) = await standInPiece()
            if let now = standIn, now != last { events.append(.standInBegan(now)) }
            events += news
            // A piece that lasts no time is none.
            owed = used > .zero ? owed - used : .zero
        }
        return events
    }

    /// One piece of the slate, or of nothing where there is no slate or it cannot be read.
    private mutating func standInPiece() async -> (lasting: Ticks, events: [Event]) {
        var events: [Event] = []
        do throws(RelayError) {
            let date = datedUntil ?? wallClock
            if let segment = try slate?.next(at: position, date: date) {
                (standIn, slateFails) = (.slate, false)
                slates += 1
                if let sound = slate?.newsOfRenewal() { events.append(.slateChanged(sound)) }
                return (segment.duration, await events + publish(segment, from: nil))
            }
        } catch {
            if !slateFails { events.append(.slateFailed(error)) }
            slateFails = true
        }
        standIn = .gap
        let later = position.advanced(by: owed)
        do throws(RingError) {
            try await ring.publishGap(lasting: owed.count, mark: ContinuationMark(later))
            position = later
            gaps += 1
        } catch {
            events += spoolTrouble.note(error)
        }
        return (owed, events)
    }

    /// Lists the segments of an earlier process of which its damaged journal tells nothing any more. Of those that nothing
    /// is known behind nobody knows how long they were: the clocks go on behind what it can have been at most.
    mutating func listUnrecorded() async throws(RelayError) -> [Event] {
        let lost = ring.lostRecords + ring.unrecordedSegments
        guard lost > 0 else { return [] }
        if ring.unrecordedSegments > 0 {
            let marks = (0..<ring.unrecordedSegments).map { _ in
                position = position.advanced(by: Ticks(ring.maximumSegmentDuration))
                return ContinuationMark(position)
            }
            do throws(RingError) { try await ring.listUnrecorded(marks) } catch { throw RelayError(error) }
        }
        gaps += lost
        return [.journalWasDamaged(lost: lost)]
    }

    /// What comes next is of `next`, behind what was published meanwhile.
    private mutating func turn(to next: Int) async throws(RelayError) -> [Event] {
        let events = standIn == nil ? try await pause() : []
        if next != source {
            earlierMarks = earlierMarks + marks.counts
            marks = Self.marks(of: ring)
        }
        let (dated, published) = (datedUntil, sources[source]?.engine.published)
        (source, standIn, lastRun) = (next, nil, nil)
        sources[next]?.engine.resume(at: position, datedUntil: dated, after: published)
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

// Values of one module in the words of another: the only place where they meet.

extension NewSegment {
    /// - Parameter source: nil of what stands in for all of them.
    init(_ segment: SplicedSegment, from source: SourceMark?, marks: SegmentMarks) {
        let description = segment.description
        self.init(
            initialization: InitializationFile(name: segment.initSection.name, bytes: segment.initSection.bytes),
            header: segment.fragment.header, payload: segment.fragment.payloads, duration: segment.duration.count,
            isDiscontinuous: segment.isDiscontinuous, isIndependent: segment.isIndependent,
            programDateTime: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            mark: ContinuationMark(segment.position, source: source),
            format: SegmentFormat(
                videoCodec: description.picture?.codec, audioCodec: description.audioCodec,
                resolution: description.picture.map { Variant.Resolution(width: $0.width, height: $0.height) },
                frameRate: description.picture?.frameRate, videoRange: description.picture?.videoRange.rawValue),
            marks: marks)
    }
}

extension ContinuationMark {
    init(_ position: TimelinePosition, source: SourceMark? = nil) {
        self.init(
            videoDecodeTime: UInt64(position.videoDecodeTime ?? 0),
            audioDecodeTime: UInt64(position.audioDecodeTime ?? 0),
            fragmentSequenceNumber: UInt64(position.fragmentSequence),
            presentationEnd: position.presentationEnd.count,
            compositionOffset: TimelinePosition.compositionDelay.count, sound: position.sound?.text,
            source: source)
    }
}

extension TimelinePosition {
    init(_ mark: ContinuationMark) {
        self.init(
            videoDecodeTime: Int64(mark.videoDecodeTime),
            audioDecodeTime: mark.audioDecodeTime == 0 ? nil : Int64(mark.audioDecodeTime),
            presentationEnd: Ticks(mark.presentationEnd),
            fragmentSequence: UInt32(truncatingIfNeeded: mark.fragmentSequenceNumber),
            sound: mark.sound.flatMap { AudioConfiguration(text: $0) })
    }
}
