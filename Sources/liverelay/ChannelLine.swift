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
        case notPublished(RingError)
        case subtitlesNotPublished(RingError)
        /// A run whose parameter sets cannot be described is left out.
        case runRefused(SpliceError)
        /// Sound that had to be encoded again could not be: there is silence instead.
        case soundRefused(SpliceError)
        case ended
    }

    /// With nothing published yet, so many segments in a row that cannot be used end the channel.
    static let patience = 3

    private let upstream: String
    private let ring: DVRRing
    private var engine: SpliceEngine
    private(set) var subtitles: SubtitleLine
    private var marks: MarkTimeline
    private var lastRun: Int?
    private var failures = 0
    private var hasPublished = false
    private var hasEnded = false
    private var refusal: SpliceError?
    private var programmes: [SourceRendition: ProgramSelection] = [:]
    private var soundRefusal: SpliceError?
    private(set) var skipped = 0
    private(set) var notPublished = 0

    /// - Parameters:
    ///   - resume: where an earlier process of this channel stopped.
    ///   - isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    ///   - wallClock: milliseconds since 1970 now, used when the upstream has no dates of its own.
    init(
        upstream: String, ring: DVRRing, resume: ContinuationMark?, hasAudioRendition: Bool, sound: SoundConfiguration,
        isLive: Bool, wallClock: Int64
    ) {
        self.upstream = upstream
        self.ring = ring
        subtitles = SubtitleLine(ring, isLive: isLive)
        marks = MarkTimeline(resuming: ring.snapshot.index)
        engine = SpliceEngine(
            SpliceEngine.Configuration(
                hasAudioRendition: hasAudioRendition, audio: sound.policy, fillsSilence: sound.fillsSilence,
                longestSegment: Ticks(ring.maximumSegmentDuration),
                position: resume.map(TimelinePosition.init) ?? .beginning, wallClock: wallClock,
                datedUntil: ring.snapshot.edge?.programDateTimeEnd.millisecondsSince1970))
    }

    var counts: SpliceCounts { engine.counts }
    var markCounts: MarkCounts { marks.counts }

    mutating func take(_ delivery: Delivery) async throws(RelayError) -> [Event] {
        if case .subtitles(let index) = delivery.rendition {
            return await subtitles.take(delivery.content, of: index)
        }
        let rendition: SourceRendition = delivery.rendition == .main ? .main : .audio
        switch delivery.content {
        case .segment(let tracked): return try await take(tracked, of: rendition)
        case .lost: return try await splice(.lost(rendition), from: nil)
        case .ended:
            let events = try await splice(.ended(rendition), from: nil)
            guard engine.isFinished, !hasEnded else { return events }
            hasEnded = true
            do { try await ring.end() } catch { throw RelayError(error) }
            return await events + subtitles.endPictures() + [.ended]
        }
    }

    private mutating func take(
        _ tracked: TrackedSegment, of rendition: SourceRendition
    ) async throws(RelayError) -> [Event] {
        if rendition == .main { marks.note(UpstreamMarks(tracked)) }
        let clear: ClearSegment
        do throws(DecryptError) {
            clear = try ClearSegment(tracked)
        } catch {
            return try await skip(
                tracked, of: rendition, why: error.words,
                error: RelayError(error, url: upstream, failures: failures + 1))
        }
        let input = SegmentInput(
            rendition: rendition, mediaSequence: tracked.segment.mediaSequence,
            discontinuitySequence: tracked.segment.discontinuitySequence,
            isDiscontinuous: tracked.segment.isDiscontinuous, isAfterSeam: tracked.isAfterSeam,
            programDateTime: tracked.segment.programDateTime?.millisecondsSince1970,
            initialization: clear.initialization, bytes: clear.bytes)
        return try await splice(.segment(input), from: tracked)
    }

    private mutating func splice(_ input: SpliceInput, from tracked: TrackedSegment?) async throws(RelayError)
        -> [Event]
    {
        let segments: [SplicedSegment]
        do throws(SpliceError) {
            segments = try engine.handle(input)
        } catch {
            guard let tracked, case .segment(let segment) = input else { return [] }
            return try await skip(
                tracked, of: segment.rendition, why: error.words,
                error: RelayError(
                    error, url: upstream, failures: failures + 1, isEncrypted: !tracked.segment.keys.isEmpty))
        }
        if !segments.isEmpty { failures = 0 }
        var events = changesOfProgramme()
        for segment in segments { events += await publish(segment) }
        if let refused = engine.refusal, refused != refusal { events.append(.runRefused(refused)) }
        refusal = engine.refusal
        if let refused = engine.soundRefusal, refused != soundRefusal { events.append(.soundRefused(refused)) }
        soundRefusal = engine.soundRefusal
        return events
    }

    private mutating func changesOfProgramme() -> [Event] {
        var events: [Event] = []
        for rendition in [SourceRendition.main, .audio] {
            guard let now = engine.programme(of: rendition), now != programmes[rendition] else { continue }
            programmes[rendition] = now
            events.append(.programme(now, of: rendition))
        }
        return events
    }

    private mutating func publish(_ segment: SplicedSegment) async -> [Event] {
        var events: [Event] = []
        if lastRun != segment.description.run {
            lastRun = segment.description.run
            events.append(.runBegan(segment.description, mediaSequence: segment.mediaSequence))
        }
        // Marks that could not be published are told with the next segment.
        var next = marks
        let told = next.marks(for: MarkedSegment(segment))
        do throws(RingError) {
            try await ring.publish(NewSegment(segment, marks: told))
            marks = next
            hasPublished = true
            let number = ring.snapshot.edge?.mediaSequence ?? 0
            events.append(
                .published(mediaSequence: number, upstream: segment.mediaSequence, duration: segment.duration))
            return await events + subtitles.note(segment, as: number)
        } catch {
            notPublished += 1
            return await events + [.notPublished(error)] + subtitles.note(segment, as: nil)
        }
    }

    /// A segment that cannot be used leaves a seam; too many of them before anything was published end the channel with
    /// `error`.
    private mutating func skip(
        _ tracked: TrackedSegment, of rendition: SourceRendition, why: String, error: RelayError
    ) async throws(RelayError) -> [Event] {
        skipped += 1
        if rendition == .main { failures += 1 }
        if error.exit == .unsupportedProtection || (failures >= Self.patience && !hasPublished) { throw error }
        let sequence = tracked.segment.mediaSequence
        return try await [.skipped(mediaSequence: sequence, why: why)] + splice(.lost(rendition), from: nil)
    }
}

// Values of one module in the words of another: the only place where they meet.

extension NewSegment {
    init(_ segment: SplicedSegment, marks: SegmentMarks) {
        let description = segment.description
        self.init(
            initialization: InitializationFile(name: segment.initSection.name, bytes: segment.initSection.bytes),
            header: segment.fragment.header, payload: segment.fragment.payloads, duration: segment.duration.count,
            isDiscontinuous: segment.isDiscontinuous, isIndependent: segment.isIndependent,
            programDateTime: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            mark: ContinuationMark(segment.position),
            format: SegmentFormat(
                videoCodec: description.picture?.codec, audioCodec: description.audioCodec,
                resolution: description.picture.map { Variant.Resolution(width: $0.width, height: $0.height) },
                frameRate: description.picture?.frameRate, videoRange: description.picture?.videoRange.rawValue),
            marks: marks)
    }
}

extension ContinuationMark {
    init(_ position: TimelinePosition) {
        self.init(
            videoDecodeTime: UInt64(position.videoDecodeTime ?? 0),
            audioDecodeTime: UInt64(position.audioDecodeTime ?? 0),
            fragmentSequenceNumber: UInt64(position.fragmentSequence),
            presentationEnd: position.presentationEnd.count,
            compositionOffset: TimelinePosition.compositionDelay.count, sound: position.sound?.text)
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
