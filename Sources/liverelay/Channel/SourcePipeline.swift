import Demux
import LiveRing
import Media
import Playlist
import Splice
import Tracker

/// What a channel's line keeps of one source: the splice of its renditions, and what was told of it already.
struct SourcePipeline: Sendable {
    let hasCompanion: Bool
    var engine: SpliceEngine
    /// Of main segments taken lately, in order.
    private var recentSegments: [MediaSegment] = []
    private var reportedPrograms: [InputRendition: ProgramSelection] = [:]
    private var reportedRejection: MediaError?
    private var reportedAudioError: MediaError?
    /// As counted when it was asked last, and whether that had grown.
    private var reportedGap = (ticks: 0, grew: false)

    init(_ configuration: SpliceEngine.Configuration) {
        hasCompanion = configuration.hasAudioRendition
        engine = SpliceEngine(configuration)
    }

    /// Main segments that something may still be held of.
    private static let recentSegmentLimit = 64

    /// A main segment is about to be taken.
    mutating func record(_ tracked: TrackedSegment) {
        recentSegments.append(tracked.segment)
        if recentSegments.count > 2 * Self.recentSegmentLimit { recentSegments.removeFirst(Self.recentSegmentLimit) }
    }

    /// Where a process that is started behind `place` goes on. Of sound alone nothing of a segment is held.
    /// - Parameter number: of this source.
    func upstreamPosition(after place: UpstreamSegmentEnd, source number: Int) -> UpstreamPosition {
        let segment = recentSegments.last { $0.mediaSequence == place.mediaSequence }
        let begin = segment?.programDateTime
        guard let pictures = place.frames else {
            let end = begin.flatMap { begin in segment.map { begin.advanced(by: $0.duration) } }
            return UpstreamPosition(sourceIndex: number, mediaSequence: place.mediaSequence &+ 1, programDateTime: end)
        }
        return UpstreamPosition(
            sourceIndex: number, mediaSequence: place.mediaSequence, programDateTime: begin,
            publishedFrames: pictures.text)
    }

    /// Programmes of transport streams that are followed since this was asked last.
    mutating func dequeueProgramChanges() -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        for rendition in [InputRendition.main, .audio] {
            guard let now = engine.program(of: rendition), now != reportedPrograms[rendition] else { continue }
            reportedPrograms[rendition] = now
            events.append(.programSelected(now, of: rendition))
        }
        return events
    }

    /// What was left out since this was asked last, and why.
    mutating func dequeueRejections() -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        if let refused = engine.refusal, refused != reportedRejection { events.append(.periodRejected(refused)) }
        reportedRejection = engine.refusal
        if let refused = engine.audioRefusal, refused != reportedAudioError {
            events.append(.audioTranscodeFailed(refused))
        }
        reportedAudioError = engine.audioRefusal
        return events
    }

    /// Whether the timeline of `segment`, which was taken last, has holes, where that of the one before had none.
    mutating func dequeueTimestampGaps(in segment: SegmentInput) -> [ChannelPipeline.Event] {
        guard segment.rendition == .main else { return [] }
        let before = reportedGap
        let ticks = engine.counts.timestampGapTicks
        reportedGap = (ticks, ticks > before.ticks)
        guard reportedGap.grew, !before.grew else { return [] }
        return [.timestampGap(mediaSequence: segment.mediaSequence, Ticks(Int64(ticks - before.ticks)))]
    }
}
