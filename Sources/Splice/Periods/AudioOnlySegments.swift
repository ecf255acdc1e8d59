import Demux
import Media
import Support

/// Decides how segments with audio and without video are published.
///
/// If the clock goes on, the last frame stands, and the period goes on too (`StandingVideo`). Otherwise, on a channel with
/// video, the last key frame is repeated beside the audio of another period. If a channel never had video, or has had
/// none for longer than `StillFrame.longest`, its segments are written without a video track.
struct AudioOnlySegments: Sendable {
    enum Step: Sendable {
        /// Frames that demuxing of earlier segments with video had not completed.
        case leftover(DemuxedSegment)
        /// A segment with video: its own, or repeated key frames, or a frame that stands. `beginsPeriod`: the segment before it had none, so it
        /// begins a period.
        case video(DemuxedSegment, boundary: SegmentBoundary, beginsPeriod: Bool)
        case audioOnly([AudioPeriodPart])
    }

    private enum State: Equatable, Sendable { case video, stillFrame, audioOnly }

    private var state = State.video
    private var stillFrame = StillFrame()
    private var splitter = AudioPeriodSplitter()
    /// Counts of key frames repeated, of video that did not come back, and of timed metadata items without an audio frame beside them.
    private var ownCounts = SpliceCounts()

    var counts: SpliceCounts { ownCounts + splitter.counts }

    mutating func handle(
        _ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput, standing: StandingVideo.Verdict = .unknown
    ) -> [Step] {
        let ended = end(demuxed.flushed, of: segment)
        let previous = state
        let isSpliced = demuxed.boundary == .tagged || demuxed.boundary == .loss
        let isLong = isSpliced && SegmentExtent(segment, audio: demuxed.packets.audio).hasAudioAlone
        state = nextState(for: demuxed.packets, beginsWithAudio: isLong, standing: standing)
        return ended + route(demuxed, of: segment, after: previous)
    }

    /// Returns the steps that publish the frames left at the end of the rendition.
    mutating func end(_ remaining: DemuxedSegment, of segment: SegmentInput) -> [Step] {
        guard state == .audioOnly else { return [.leftover(remaining)] }
        return [.audioOnly(splitter.split(remaining.audio, from: segment, boundary: .none))]
    }

    /// Returns how to publish a segment.
    ///
    /// The program tables or the init section decide, so no segment waits for video that never comes. After audio
    /// alone, only a received video frame ends that state: a video track that is merely declared does not.
    ///
    /// - Parameter beginsWithAudio: whether a splice precedes the segment, and audio enough that video would have come.
    private mutating func nextState(
        for packets: DemuxedSegment, beginsWithAudio: Bool, standing: StandingVideo.Verdict
    ) -> State {
        guard packets.video.isEmpty else { return .video }
        if state == .video, standing == .isOver, !packets.audio.isEmpty {
            stillFrame.end()
            ownCounts[.videoTimeouts] += 1
            return .audioOnly
        }
        guard state != .video || standing != .stands && isAudioOnly(packets, beginsWithAudio: beginsWithAudio)
        else {
            return .video
        }
        if stillFrame.isAvailable { return .stillFrame }
        if state == .stillFrame { ownCounts[.videoTimeouts] += 1 }
        return .audioOnly
    }

    /// Whether a segment without video frames is audio only. After a splice, that is so even if the tables list video: the
    /// first slide of a program may come later.
    private func isAudioOnly(_ packets: DemuxedSegment, beginsWithAudio: Bool) -> Bool {
        packets.isAudioOnly || beginsWithAudio && stillFrame.isAvailable && packets.counts[.undecodableUnits] == 0
    }

    private mutating func route(
        _ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput, after previous: State
    ) -> [Step] {
        let beginsPeriod = state != previous
        let boundary = beginsPeriod ? .loss : demuxed.boundary
        switch state {
        case .video: stillFrame.update(from: demuxed.packets.video)
        case .stillFrame:
            let packets = addStillFrames(demuxed.packets, of: segment, boundary: boundary)
            return [.video(packets, boundary: demuxed.boundary, beginsPeriod: beginsPeriod)]
        case .audioOnly:
            var parts = splitter.split(demuxed.packets.audio, from: segment, boundary: boundary)
            ownCounts[.discardedTimedMetadata] += parts.attach(demuxed.packets.metadata)
            return [.audioOnly(parts)]
        }
        return [.video(demuxed.packets, boundary: demuxed.boundary, beginsPeriod: beginsPeriod)]
    }

    private mutating func addStillFrames(
        _ packets: DemuxedSegment, of segment: SegmentInput, boundary: SegmentBoundary
    ) -> DemuxedSegment {
        var packets = packets
        // `AudioVideoMatcher` drops damaged frames and counts them.
        let intact = packets.audio.filter { !$0.isDamaged }
        for part in splitter.split(intact, from: segment, boundary: boundary) {
            packets.video += stillFrame.frames(covering: part)
        }
        ownCounts[.stillFrames] += packets.video.count
        return packets
    }
}
