import Demux
import LiveRing
import Media
import Playlist
import Splice
import Support
import Tracker

/// The splice of one source's renditions, and the state of it that was already reported.
struct SourcePipeline: Sendable {
    /// How many main segments are remembered: more than the engine holds media of.
    private static let recentSegmentLimit = 64

    let hasCompanion: Bool
    @Boxed var engine: SpliceEngine
    /// The main segments passed to the engine lately, in order.
    private var recentSegments: [MediaSegment] = []
    private var reportedPrograms: [InputRendition: ProgramSelection] = [:]
    private var reportedWarnings: Set<SpliceWarning> = []
    private var reportedRejection: MediaError?
    private var reportedAudioError: MediaError?
    /// The engine's timestamp gaps when they were last reported, and whether they had grown then.
    private var reportedGap = (ticks: 0, grew: false)

    init(_ configuration: SpliceConfiguration) {
        hasCompanion = configuration.hasAudioRendition
        engine = SpliceEngine(configuration)
    }

    /// Remembers a main segment before it is passed to the engine.
    mutating func record(_ tracked: TrackedSegment) {
        recentSegments.append(tracked.segment)
        if recentSegments.count > 2 * Self.recentSegmentLimit { recentSegments.removeFirst(Self.recentSegmentLimit) }
    }

    /// Returns the position at which a process that is restarted after `end` continues.
    ///
    /// In an audio-only channel the engine holds no part of a segment, so the position is the next segment.
    func upstreamPosition(after end: UpstreamSegmentEnd, source index: Int) -> UpstreamPosition {
        let segment = recentSegments.last { $0.mediaSequence == end.mediaSequence }
        let date = segment?.programDateTime
        guard let frames = end.frames else {
            let endDate = date.flatMap { date in segment.map { date.advanced(by: $0.duration) } }
            return UpstreamPosition(sourceIndex: index, mediaSequence: end.mediaSequence &+ 1, programDateTime: endDate)
        }
        return UpstreamPosition(
            sourceIndex: index, mediaSequence: end.mediaSequence, programDateTime: date, publishedFrames: frames.text)
    }
}

// MARK: - Changes since the last report

extension SourcePipeline {
    /// Returns the events that follow from what the engine did with `input`, other than its segments' own.
    mutating func dequeueChanges(after input: SpliceInput) -> [ChannelPipeline.Event] {
        var events = dequeueProgramChanges() + dequeueWarnings()
        if case .segment(let segment) = input { events += dequeueTimestampGaps(in: segment) }
        return events
    }

    private mutating func dequeueProgramChanges() -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        for rendition in [InputRendition.main, .audio] {
            guard let program = engine.program(of: rendition), program != reportedPrograms[rendition] else { continue }
            reportedPrograms[rendition] = program
            events.append(.programSelected(program, of: rendition))
        }
        return events
    }

    private mutating func dequeueWarnings() -> [ChannelPipeline.Event] {
        engine.warnings.filter { reportedWarnings.insert($0).inserted }.map(ChannelPipeline.Event.warned)
    }

    /// Returns the errors for which the engine dropped a period or replaced audio, if they are new.
    mutating func dequeueRejections() -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        if let error = engine.refusal, error != reportedRejection { events.append(.periodRejected(error)) }
        reportedRejection = engine.refusal
        if let error = engine.audioRefusal, error != reportedAudioError { events.append(.audioTranscodeFailed(error)) }
        reportedAudioError = engine.audioRefusal
        return events
    }

    /// Returns an event if `segment`, which the engine got last, has timestamp gaps and the segment before it had none.
    private mutating func dequeueTimestampGaps(in segment: SegmentInput) -> [ChannelPipeline.Event] {
        guard segment.rendition == .main else { return [] }
        let before = reportedGap
        let ticks = engine.counts[.timestampGapTicks]
        reportedGap = (ticks, ticks > before.ticks)
        guard reportedGap.grew, !before.grew else { return [] }
        return [.timestampGap(mediaSequence: segment.mediaSequence, Ticks(Int64(ticks - before.ticks)))]
    }
}
