import Demux
import Media
import Mux
import Transcode

/// Repeats the last key frame while a channel with video sends audio alone.
///
/// A player that has audio and video stalls where one of them is missing, and most players never resume a track that
/// ended. With a repeated key frame beside it the audio plays on.
struct StillFrame: Equatable, Sendable {
    /// Longest duration of repetition; longer than an ad pod. After it the channel counts as audio only.
    static let longest = Ticks.seconds(300)
    /// Longest interval between two repetitions. Longer steps would count as gaps
    /// (`VideoTimestampUnwrapper.longestFrame`).
    static let interval = Ticks.milliseconds(400)

    private var key: VideoPacket?
    /// Duration for which the key frame has been repeated.
    private var presentedDuration = Ticks.zero

    /// Whether there is a key frame that was not repeated for too long.
    var isAvailable: Bool { key != nil && presentedDuration < Self.longest }

    /// Ends the repetition: the key frame has stood for long enough.
    mutating func end() { presentedDuration = Self.longest }

    /// Keeps a copy of the last key frame of `frames`.
    mutating func update(from frames: [VideoPacket]) {
        let keys = frames.filter { $0.isIntra && !$0.isDamaged }
        guard let newest = keys.last(where: { $0.parameterSets.isEmpty }) ?? keys.last else { return }
        key = newest.keyFrame(at: .zero, payload: (newest.parameterSets + newest.payload)[...])
        presentedDuration = .zero
    }

    /// Returns key frames, evenly spaced over the duration of `part`. Audio without a gap gets video without a gap.
    mutating func frames(covering part: AudioPeriodPart) -> [VideoPacket] {
        guard let key, let first = part.frames.first, let last = part.frames.last else { return [] }
        let length = last.pts + last.packet.configuration.frameDuration - first.pts
        let count = max(1, (length.count + Self.interval.count - 1) / Self.interval.count)
        presentedDuration += length
        return (0..<count).map { index in
            key.keyFrame(at: first.pts + Ticks(length.count * index / count), payload: key.payload)
        }
    }
}

extension VideoPacket {
    fileprivate func keyFrame(at time: Ticks, payload: ArraySlice<UInt8>) -> VideoPacket {
        VideoPacket(
            pid: pid, configuration: configuration, pts: time.wire, dts: time.wire,
            randomAccess: .instantaneousRefresh, isDamaged: false, payload: payload)
    }
}
