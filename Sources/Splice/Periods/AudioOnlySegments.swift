import Demux
import Media
import Mux
import Transcode

/// What becomes of segments that hold sound and no picture.
///
/// On a channel that has pictures the last key frame is shown with them, so they go the way of all others. On a channel
/// that never had a picture, or has had none for longer than an advertisement lasts, they are written without one.
struct AudioOnlySegments: Sendable {
    enum Step: Sendable {
        /// What earlier segments with pictures had left open.
        case leftover(DemuxedSegment)
        /// A segment with pictures, its own or still ones. `isBack`: none came before, so they begin a run.
        case video(DemuxedSegment, border: DiscontinuityDetector.Boundary, isBack: Bool)
        /// To be written without a picture.
        case audioOnly([AudioPeriodPart])
    }

    private enum State: Equatable, Sendable { case video, stillFrame, audioOnly }

    /// How the newest segment is published.
    private var state = State.video
    private var stillFrame = StillFrame()
    private var finder = AudioPeriodSplitter()
    /// Key frames shown again.
    private(set) var stillFrames = 0
    /// Timed metadata that no frame of sound stood beside.
    private(set) var metadataDiscarded = 0

    /// Frames left out because bytes of them were lost or doubted.
    var damaged: Int { finder.damaged }

    /// Where the clock of the sound lacks time.
    var gaps: TimestampGaps { finder.gaps }

    /// - Returns: the way of `demuxed`, in order.
    mutating func handle(_ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput) -> [Step] {
        let last = state
        state = next(demuxed.packets)
        return end(last, demuxed.flushed, of: segment) + route(demuxed, of: segment, after: last)
    }

    /// The rendition ended: `left` is what it still held, `segment` the last one of it.
    mutating func end(_ left: DemuxedSegment, of segment: SegmentInput) -> [Step] { end(state, left, of: segment) }

    /// Decided by what the programme tables or the init section say, so that nobody waits for a picture that does not
    /// come; and once there was sound alone, by the first picture, so that none that is only announced interrupts it.
    private func next(_ packets: DemuxedSegment) -> State {
        let isAlone = packets.video.isEmpty && (state != .video || packets.isAudioOnly)
        return !isAlone ? .video : stillFrame.isAvailable ? .stillFrame : .audioOnly
    }

    private mutating func end(_ state: State, _ left: DemuxedSegment, of segment: SegmentInput) -> [Step] {
        guard state == .audioOnly else { return [.leftover(left)] }
        return [.audioOnly(finder.pieces(of: left.audio, from: segment, border: .none))]
    }

    private mutating func route(
        _ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput, after last: State
    ) -> [Step] {
        let isBack = state != last
        let border = isBack ? .loss : demuxed.boundary
        switch state {
        case .video: stillFrame.update(from: demuxed.packets.video)
        case .stillFrame:
            let packets = addStillFrames(demuxed.packets, of: segment, boundary: border)
            return [.video(packets, border: demuxed.boundary, isBack: isBack)]
        case .audioOnly:
            var pieces = finder.pieces(of: demuxed.packets.audio, from: segment, border: border)
            metadataDiscarded += pieces.attach(demuxed.packets.metadata)
            return [.audioOnly(pieces)]
        }
        return [.video(demuxed.packets, border: demuxed.boundary, isBack: isBack)]
    }

    /// The segment with key frames for as long as it has sound.
    private mutating func addStillFrames(
        _ packets: DemuxedSegment, of segment: SegmentInput, boundary: DiscontinuityDetector.Boundary
    ) -> DemuxedSegment {
        var packets = packets
        // The merger leaves damaged frames out, and counts them.
        let intact = packets.audio.filter { !$0.isDamaged }
        for piece in finder.pieces(of: intact, from: segment, border: boundary) {
            packets.video += stillFrame.frames(covering: piece)
        }
        stillFrames += packets.video.count
        return packets
    }
}
