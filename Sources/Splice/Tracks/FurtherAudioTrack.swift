import Demux
package import Media
package import Mux
import Support
import Transcode

/// An audio track beside the leading one: another language, or a commentary.
///
/// It adopts what the leading track decides: where periods begin and are placed, and where segments end. In a period for
/// which it has no audio, as in an ad with fewer languages, it has the leading audio.
struct FurtherAudioTrack: Sendable {
    /// The frames that the current period has.
    private enum Source: Equatable { case own, leading }

    let identity: AudioTrackIdentity
    private var stage: AudioTranscodeStage
    private var matcher: AudioVideoMatcher
    private var assembler: AudioTrackAssembler
    private var source = Source.own
    /// The init section of the current period; nil before it has one.
    private var initSection: InitSection?
    private var ownCounts = Counts<FurtherAudioCount>()
    /// The rendition that the track comes in; nil: it is multiplexed in the main rendition.
    private var rendition: AudioRendition?

    /// A track in a rendition of its own.
    private struct AudioRendition: Sendable {
        var demuxer: RenditionDemuxer
        var queue: CompanionQueue
        var patience: TrackPatience
        /// Whether the video went on without all audio of its last part.
        var isLate = false
    }

    init(_ identity: AudioTrackIdentity, policy: AudioPolicy, fillsSilence: Bool, after position: AudioTrackPosition?) {
        self.identity = identity
        stage = AudioTranscodeStage(policy, uniform: position?.configuration)
        stage.isChannelAAC = position.map { $0.configuration.codec == .aac }
        matcher = AudioVideoMatcher(isMuxed: true)
        assembler = AudioTrackAssembler(
            next: position?.decodeTime, configuration: position?.configuration, fillsGaps: fillsSilence)
    }

    /// Makes the track that of a rendition.
    /// - Parameters:
    ///   - byteLimit: bytes of the audio that waits, here and in the matcher each.
    ///   - patience: how long the leading track waits for it.
    mutating func follow(renditionWithin byteLimit: Int, longestSegment: Ticks, patience: Ticks) {
        rendition = AudioRendition(
            demuxer: RenditionDemuxer(tracks: .audio, audioStage: stage), queue: CompanionQueue(byteLimit: byteLimit),
            patience: TrackPatience(patience))
        matcher = AudioVideoMatcher(isMuxed: false, longestSegment: longestSegment, byteLimit: byteLimit)
    }

    /// Ends the rendition without its audio: the channel has no video.
    mutating func removeRendition() { rendition = nil }

    /// Where the track continues after the segments written; nil before the first.
    var position: AudioTrackPosition? {
        guard let time = assembler.nextDecodeTime, let configuration = assembler.configuration else { return nil }
        return AudioTrackPosition(identity: identity, configuration: configuration, decodeTime: time)
    }

    var counts: Counts<FurtherAudioCount> {
        var counts = ownCounts
        let all = matcher.counts + assembler.counts
        counts[.silentFrames] = all[.silentAudioFrames]
        counts[.droppedFrames] += (rendition?.demuxer.audioStage ?? stage).counts.undecodable
        counts[.droppedFrames] += rendition?.queue.counts[.unmatchedAudioFrames] ?? 0
        for key in [
            SpliceCount.overlappingAudioFrames, .trimmedAudioFrames, .unmatchedAudioFrames, .damagedAudioFrames,
            .untimedAudioFrames,
        ] { counts[.droppedFrames] += all[key] }
        return counts
    }

    mutating func limitQueue(bytes: Int) { matcher.byteLimit = bytes }

    mutating func append(
        flushed: [AudioPacket], _ packets: [AudioPacket], _ boundary: SegmentBoundary, isContinuous: Bool,
        discontinuitySequence: UInt64, videoStart: Ticks?
    ) throws(MediaError) {
        guard rendition == nil else { return }
        var (flushed, packets) = (flushed, packets)
        try stage.process(flushed: &flushed, &packets, isContinuous: isContinuous)
        matcher.append(flushed, discontinuitySequence: nil)
        matcher.append(
            packets, after: boundary, discontinuitySequence: discontinuitySequence, videoStart: videoStart)
    }

    mutating func finish(_ packets: [AudioPacket]) throws(MediaError) {
        guard rendition == nil else { return }
        matcher.append(try stage.finish(packets), discontinuitySequence: nil)
    }

    mutating func append(_ segment: SegmentInput) throws(MediaError) {
        guard var demuxed = try rendition?.demuxer.demux(segment) else { return }
        demuxed.packets.metadata = []  // that of the main rendition is published
        rendition?.queue.append(.segment(demuxed, discontinuitySequence: segment.discontinuitySequence))
    }

    mutating func breakContinuity() { rendition?.demuxer.breakContinuity() }

    mutating func endRendition() throws(MediaError) {
        guard let remaining = try rendition?.demuxer.finish() else { return }
        rendition?.queue.append(.ended(remaining.audio))
    }

    mutating func awaitsAudio(for span: AudioVideoMatcher.VideoSpan) -> Bool {
        guard rendition != nil, !read(for: span) else { return false }
        return rendition?.patience.isAwaited == true
    }

    /// Reads the segments that `span` needs. What is read depends on the content of both renditions alone.
    /// - Returns: whether its audio is known.
    private mutating func read(for span: AudioVideoMatcher.VideoSpan) -> Bool {
        while !matcher.canMatch(span) {
            guard let entry = rendition?.queue.popFirst() else { return false }
            matcher.append(entry)
        }
        return true
    }

    /// Adopts a part of the leading track.
    /// - Parameter leading: the leading audio of the part, in its configuration; nil if the period has no audio track.
    mutating func adopt(
        _ span: AudioVideoMatcher.VideoSpan, on timeline: PeriodTimeline, leading: [TimedAudio],
        _ leadingConfiguration: AudioConfiguration?, silence: inout SilentFrameCache
    ) {
        defer { matcher.finish(span) }
        if rendition != nil {
            let isComplete = read(for: span)
            rendition?.isLate = !isComplete
            rendition?.patience.record(span, isComplete: isComplete, lag: matcher.lag(before: span))
        }
        let found = matcher.configuration(for: span)
        if span.beginsPeriod || initSection == nil {
            guard let configuration = found ?? substitute(for: leadingConfiguration) else {
                initSection = nil
                return
            }
            source = found == nil && configuration == leadingConfiguration ? .leading : .own
            beginPeriod(
                configuration, on: timeline,
                at: span.beginsPeriod ? timeline.outputPresentation : timeline.presentation(of: span.start),
                silence: &silence)
        }
        let frames = found == nil ? [] : matcher.dequeueAudio(for: span)
        if found != nil, found == assembler.configuration {
            source = .own
            assembler.append(frames)
        } else {
            ownCounts[.droppedFrames] += frames.count
        }
        if source == .leading { assembler.append(leading) }
    }

    /// Returns the configuration of a period without audio of the track: the leading one. A rendition that is late may still
    /// have some: it keeps its own, and does not begin before it has one.
    private func substitute(for leading: AudioConfiguration?) -> AudioConfiguration? {
        rendition?.isLate == true ? assembler.configuration : leading
    }

    private mutating func beginPeriod(
        _ configuration: AudioConfiguration?, on timeline: PeriodTimeline, at start: Ticks,
        silence: inout SilentFrameCache
    ) {
        initSection = configuration.flatMap { try? InitWriter.write(video: nil, audio: $0) }
        assembler.beginPeriod(
            configuration ?? assembler.configuration, silence: configuration.flatMap { silence.frame(for: $0) },
            on: timeline, at: start)
    }

    /// Appends audio of the current period that came after its segments.
    /// - Parameter tail: the time after the last part whose audio belongs to the channel; zero unless the channel ends.
    mutating func appendLate(before next: AudioVideoMatcher.VideoSpan?, tail: Ticks, leading: [TimedAudio]) {
        var late = matcher.dequeueLateAudio(before: next)
        if tail > .zero { late += matcher.dequeueTail(upTo: tail) }
        late.removeAll { $0.packet.configuration != assembler.configuration }
        assembler.append(source == .leading ? leading : late)
    }

    mutating func write(from start: Ticks, to end: Ticks, sequenceNumber: UInt32) -> SplicedAudioTrack? {
        guard let initSection, let configuration = assembler.configuration,
            let (time, samples) = assembler.dequeueSamples(
                from: start, to: end, isFinal: source == .own && rendition != nil)
        else { return nil }
        if source == .own { ownCounts[.segments] += 1 } else { ownCounts[.leadingSegments] += 1 }
        let track = MuxTrack(trackID: TrackID.audio, decodeTime: UInt64(time), samples: samples)
        return SplicedAudioTrack(
            identity: identity, configuration: configuration, initSection: initSection,
            fragment: FragmentWriter.write(sequenceNumber: sequenceNumber, video: nil, audio: track))
    }

    /// Resumes where other sources left the track; the next part begins a period.
    mutating func resume(at position: AudioTrackPosition?) {
        assembler.resume(at: position?.decodeTime, configuration: position?.configuration)
        initSection = nil
    }
}

/// The part of a segment in an audio track beside the leading one.
package struct SplicedAudioTrack: Equatable, Sendable {
    package let identity: AudioTrackIdentity
    package let configuration: AudioConfiguration
    package let initSection: InitSection
    package let fragment: Fragment
}

/// The outcome of the segments and frames of an audio track beside the leading one.
package enum FurtherAudioCount: Int, CountKey {
    /// Segments with the track's own audio, and those with the leading audio because the track had none.
    case segments, leadingSegments
    case silentFrames
    /// Frames that were late, damaged, in another configuration than their period, or matched no video.
    case droppedFrames
}
