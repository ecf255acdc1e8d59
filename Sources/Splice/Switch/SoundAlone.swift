/// What becomes of segments that hold sound and no picture.
///
/// On a channel that has pictures the last key frame is shown with them, so they go the way of all others. On a channel
/// that never had a picture, or has had none for longer than an advertisement lasts, they are written without one.
struct SoundAlone: Sendable {
    enum Step: Sendable {
        /// What earlier segments with pictures had left open.
        case left(DemuxedSegment)
        /// A segment with pictures, its own or still ones. `isBack`: none came before, so they begin a run.
        case pictures(DemuxedSegment, border: ProgramSwitchDetector.Border, isBack: Bool)
        /// To be written without a picture.
        case sound([SoundPiece])
    }

    private enum State: Equatable, Sendable { case pictures, still, sound }

    /// How the newest segment is published.
    private var state = State.pictures
    private var still = StillPicture()
    private var finder = SoundRunFinder()
    /// Key frames shown again.
    private(set) var stillPictures = 0
    /// Timed metadata that no frame of sound stood beside.
    private(set) var metadataDiscarded = 0

    /// Frames left out because bytes of them were lost or doubted.
    var damaged: Int { finder.damaged }

    /// Where the clock of the sound lacks time.
    var holes: TimelineHoles { finder.holes }

    /// - Returns: the way of `demuxed`, in order.
    mutating func handle(_ demuxed: RenditionSource.Demuxed, of segment: SegmentInput) -> [Step] {
        let last = state
        state = next(demuxed.packets)
        return end(last, demuxed.left, of: segment) + take(demuxed, of: segment, after: last)
    }

    /// The rendition ended: `left` is what it still held, `segment` the last one of it.
    mutating func end(_ left: DemuxedSegment, of segment: SegmentInput) -> [Step] { end(state, left, of: segment) }

    /// Decided by what the programme tables or the init section say, so that nobody waits for a picture that does not
    /// come; and once there was sound alone, by the first picture, so that none that is only announced interrupts it.
    private func next(_ packets: DemuxedSegment) -> State {
        let isAlone = packets.video.isEmpty && (state != .pictures || packets.isSoundAlone)
        return !isAlone ? .pictures : still.isShowable ? .still : .sound
    }

    private mutating func end(_ state: State, _ left: DemuxedSegment, of segment: SegmentInput) -> [Step] {
        guard state == .sound else { return [.left(left)] }
        return [.sound(finder.pieces(of: left.audio, from: segment, border: .none))]
    }

    private mutating func take(
        _ demuxed: RenditionSource.Demuxed, of segment: SegmentInput, after last: State
    ) -> [Step] {
        let isBack = state != last
        let border = isBack ? .seam : demuxed.border
        switch state {
        case .pictures: still.note(demuxed.packets.video)
        case .still:
            let packets = addStill(demuxed.packets, of: segment, border: border)
            return [.pictures(packets, border: demuxed.border, isBack: isBack)]
        case .sound:
            var pieces = finder.pieces(of: demuxed.packets.audio, from: segment, border: border)
            metadataDiscarded += pieces.add(demuxed.packets.metadata)
            return [.sound(pieces)]
        }
        return [.pictures(demuxed.packets, border: demuxed.border, isBack: isBack)]
    }

    /// The segment with key frames for as long as it has sound.
    private mutating func addStill(
        _ packets: DemuxedSegment, of segment: SegmentInput, border: ProgramSwitchDetector.Border
    ) -> DemuxedSegment {
        var packets = packets
        // The merger leaves damaged frames out, and counts them.
        let intact = packets.audio.filter { !$0.isDamaged }
        for piece in finder.pieces(of: intact, from: segment, border: border) {
            packets.video += still.pictures(beside: piece)
        }
        stillPictures += packets.video.count
        return packets
    }
}
