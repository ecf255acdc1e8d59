import LiveRing
import Playlist
import Splice
import Tracker

/// What a channel's line keeps of one source: the splice of its renditions, and what was told of it already.
struct SourceLine: Sendable {
    let hasAudioRendition: Bool
    var engine: SpliceEngine
    /// Of main segments taken lately, in order.
    private var segments: [MediaSegment] = []
    private var programmes: [SourceRendition: ProgramSelection] = [:]
    private var refusal: SpliceError?
    private var soundRefusal: SpliceError?
    /// As counted when it was asked last, and whether that had grown.
    private var holes = (ticks: 0, grew: false)

    init(_ configuration: SpliceEngine.Configuration) {
        hasAudioRendition = configuration.hasAudioRendition
        engine = SpliceEngine(configuration)
    }

    /// Main segments that something may still be held of.
    private static let memory = 64

    /// A main segment is about to be taken.
    mutating func note(_ tracked: TrackedSegment) {
        segments.append(tracked.segment)
        if segments.count > 2 * Self.memory { segments.removeFirst(Self.memory) }
    }

    /// Where a process that is started behind `place` goes on. Of sound alone nothing of a segment is held.
    /// - Parameter number: of this source.
    func mark(behind place: UpstreamPlace, of number: Int) -> SourceMark {
        let segment = segments.last { $0.mediaSequence == place.mediaSequence }
        let begin = segment?.programDateTime
        guard let pictures = place.pictures else {
            let end = begin.flatMap { begin in segment.map { begin.advanced(by: $0.duration) } }
            return SourceMark(number: number, mediaSequence: place.mediaSequence &+ 1, programDateTime: end)
        }
        return SourceMark(
            number: number, mediaSequence: place.mediaSequence, programDateTime: begin, pictures: pictures.text)
    }

    /// Programmes of transport streams that are followed since this was asked last.
    mutating func newsOfProgrammes() -> [ChannelLine.Event] {
        var events: [ChannelLine.Event] = []
        for rendition in [SourceRendition.main, .audio] {
            guard let now = engine.programme(of: rendition), now != programmes[rendition] else { continue }
            programmes[rendition] = now
            events.append(.programme(now, of: rendition))
        }
        return events
    }

    /// What was left out since this was asked last, and why.
    mutating func newsOfRefusals() -> [ChannelLine.Event] {
        var events: [ChannelLine.Event] = []
        if let refused = engine.refusal, refused != refusal { events.append(.runRefused(refused)) }
        refusal = engine.refusal
        if let refused = engine.soundRefusal, refused != soundRefusal { events.append(.soundRefused(refused)) }
        soundRefusal = engine.soundRefusal
        return events
    }

    /// Whether the timeline of `segment`, which was taken last, has holes, where that of the one before had none.
    mutating func newsOfHoles(in segment: SegmentInput) -> [ChannelLine.Event] {
        guard segment.rendition == .main else { return [] }
        let before = holes
        let ticks = engine.counts.ticksInHoles
        holes = (ticks, ticks > before.ticks)
        guard holes.grew, !before.grew else { return [] }
        return [.lackedTime(mediaSequence: segment.mediaSequence, Ticks(Int64(ticks - before.ticks)))]
    }
}
