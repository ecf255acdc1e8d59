import Demux
import Media
import Mux
import Transcode

/// Repeats the last key frame where a frame stands for longer than its segment: slides, the cover of a radio program,
/// segments of audio alone.
///
/// A fragment must have samples of each track, and a published one cannot be extended. So a segment that has no frame
/// at its start, or none at all, begins with the last key frame once more. The period goes on, and so do both clocks.
struct StandingVideo: Equatable, Sendable {
    /// What is known of the video of a segment without frames.
    enum Verdict: Equatable, Sendable {
        /// The last key frame stands until the segment ends.
        case stands
        /// It has stood for `StillFrame.longest`: the channel has no video any more.
        case isOver
        /// Nothing tells that the period goes on.
        case unknown
    }

    private var key: VideoPacket?
    /// Whether the key frame is the frame received last, or was presented since.
    private var isKeyLast = false
    /// Time for which the key frame was repeated.
    private var repeatedDuration = Ticks.zero
    /// Whether decoding cannot go on after the repeated key frame, because frames followed it when it came.
    private(set) var needsRandomAccess = false

    /// Whether the key frame was repeated for as long as it may.
    var isOver: Bool { repeatedDuration >= StillFrame.longest }

    /// Whether the key frame may be repeated. After frames that stand it would be the wrong image.
    /// - Parameter stands: whether the last frame stands for longer than a frame rate explains.
    func isAvailable(stands: Bool) -> Bool { key != nil && !isOver && (isKeyLast || !stands) }

    /// Records the frames of a segment.
    mutating func update(from packets: [VideoPacket]) {
        guard !packets.isEmpty else { return }
        repeatedDuration = .zero
        needsRandomAccess = false
        let newest = packets.lastIndex { $0.isIntra && !$0.isDamaged }
        if let newest { key = packets[newest] }
        isKeyLast = newest == packets.endIndex - 1
    }

    /// Returns copies of the key frame that cover `range`, a range of decode times, evenly spaced.
    /// - Parameters:
    ///   - reordering: time from decoding to presentation.
    ///   - longest: longest duration of a copy.
    mutating func frames(covering range: Range<Ticks>, reordering: Ticks, longest: Ticks) -> [VideoPacket] {
        guard let key else { return [] }
        let length = (range.upperBound - range.lowerBound).count
        let count = max(1, (length + longest.count - 1) / max(1, longest.count))
        repeatedDuration += Ticks(length)
        needsRandomAccess = needsRandomAccess || !isKeyLast
        isKeyLast = true
        return (0..<count).map { index in
            let time = range.lowerBound + Ticks(length * index / count)
            return key.repeated(decoding: time, presentation: time + reordering)
        }
    }
}

extension VideoPacket {
    /// Whether the frame is right if it is decoded alone.
    var isIntra: Bool {
        switch randomAccess {
        case .instantaneousRefresh, .cleanRandomAccess, .recoveryPoint: true
        case .gradualRefresh, nil: false
        }
    }

    fileprivate func repeated(decoding: Ticks, presentation: Ticks) -> VideoPacket {
        VideoPacket(
            pid: pid, configuration: configuration, pts: presentation.wire, dts: decoding.wire,
            randomAccess: randomAccess, isDamaged: false, payload: payload, parameterSets: parameterSets)
    }
}
