import Media

/// Repeats the last key frame where a frame stands for longer than its segment: slides, the cover of a radio program,
/// segments of audio alone.
///
/// A fragment must have samples of each track, and a published one cannot be extended. So a segment that has no frame
/// at its start, or none at all, begins with the last key frame once more. The period goes on, and so do both clocks.
struct StandingVideo: Equatable, Sendable {
    /// The state of the video in a segment without frames.
    enum Verdict: Equatable, Sendable {
        /// The last key frame stands until the segment ends.
        case stands
        /// The last key frame stood for `StillFrame.longest`: the channel has no video any more.
        case isOver
        case unknown
    }

    private var key: VideoPacket?
    /// Whether the key frame is the frame received last, or was presented since.
    private var isKeyLast = false
    private var repeatedDuration = Ticks.zero
    /// Whether decoding cannot go on after the repeated key frame, because frames followed it when it came.
    private(set) var needsRandomAccess = false

    /// Whether the key frame was repeated for as long as it may.
    var isOver: Bool { repeatedDuration >= StillFrame.longest }

    /// Whether the key frame may be repeated. After frames that stand it would be the wrong image.
    /// - Parameter stands: whether the last frame stands for longer than a frame rate explains.
    func isAvailable(stands: Bool) -> Bool { key != nil && !isOver && (isKeyLast || !stands) }

    /// Records the frames of a segment. The key frame is copied: a slice would hold the bytes of its whole segment.
    mutating func update(from packets: [VideoPacket]) {
        guard !packets.isEmpty else { return }
        repeatedDuration = .zero
        needsRandomAccess = false
        let newest = packets.lastIndex { $0.isIntra && !$0.isDamaged }
        if let newest { key = packets[newest].stillFrame(Array(packets[newest].payload)) }
        isKeyLast = newest == packets.endIndex - 1
    }

    /// Returns copies of the key frame that cover `range`, a range of decode times, evenly spaced.
    mutating func frames(covering range: Range<Ticks>, reordering: Ticks, longest: Ticks) -> [VideoPacket] {
        guard let key else { return [] }
        let length = (range.upperBound - range.lowerBound).count
        let count = max(1, (length + longest.count - 1) / max(1, longest.count))
        repeatedDuration += Ticks(length)
        needsRandomAccess = needsRandomAccess || !isKeyLast
        isKeyLast = true
        return (0..<count).map { index in
            let time = range.lowerBound + Ticks(length * index / count)
            var frame = key
            (frame.dts, frame.pts) = (time.wire, (time + reordering).wire)
            return frame
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

    /// The frame without times, in bytes of its own.
    fileprivate func stillFrame(_ payload: [UInt8]) -> VideoPacket {
        VideoPacket(
            pid: pid, configuration: configuration, pts: nil, dts: nil, randomAccess: randomAccess, isDamaged: false,
            payload: payload[...], parameterSets: parameterSets)
    }
}

/// Repeats the last key frame while a channel with video sends audio alone.
///
/// A player that has audio and video stalls where one of them is missing, and most players never resume a track that
/// ended. With a repeated key frame beside it the audio plays on.
struct StillFrame: Equatable, Sendable {
    /// Longest duration of repetition; longer than an ad pod. After it the channel counts as audio only.
    static let longest = Ticks.seconds(300)
    /// Longest interval between two repetitions. Longer steps would count as gaps
    /// (`Ticks.longestFrame`).
    static let interval = Ticks.milliseconds(400)

    private var key: VideoPacket?
    private var presentedDuration = Ticks.zero

    /// Whether there is a key frame that was not repeated for too long.
    var isAvailable: Bool { key != nil && presentedDuration < Self.longest }

    /// Ends the repetition: the key frame has stood for long enough.
    mutating func end() { presentedDuration = Self.longest }

    mutating func update(from frames: [VideoPacket]) {
        let keys = frames.filter { $0.isIntra && !$0.isDamaged }
        guard let newest = keys.last(where: { $0.parameterSets.isEmpty }) ?? keys.last else { return }
        key = newest.stillFrame(newest.parameterSets + newest.payload)
        key?.randomAccess = .instantaneousRefresh
        key?.parameterSets = []
        presentedDuration = .zero
    }

    /// Returns key frames, evenly spaced over the duration of `part`. Audio without a gap gets video without a gap.
    mutating func frames(covering part: AudioPeriodPart) -> [VideoPacket] {
        guard let key, let first = part.frames.first, let last = part.frames.last else { return [] }
        let length = last.pts + last.packet.configuration.frameDuration - first.pts
        let count = max(1, (length.count + Self.interval.count - 1) / Self.interval.count)
        presentedDuration += length
        return (0..<count).map { index in
            var frame = key
            frame.pts = (first.pts + Ticks(length.count * index / count)).wire
            frame.dts = frame.pts
            return frame
        }
    }
}
