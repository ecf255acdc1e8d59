import Demux
import Media
import Mux
import Transcode

/// The picture that viewers see while a channel of pictures sends sound alone: its last key frame, again and again.
///
/// A player that has video and audio in hand stalls where one of them lacks, and most never take a track back that was
/// gone; with a key frame beside it the sound plays on.
struct StillFrame: Equatable, Sendable {
    /// Longer than a pod of advertisements: after it the channel has become one of sound alone.
    static let longest = Ticks.seconds(300)
    /// At most so long between two of them: below it steps of time are no gap (`VideoTimestampUnwrapper.longestFrame`).
    static let interval = Ticks.milliseconds(400)

    private var key: VideoPacket?
    /// For how long it was shown since it was noted.
    private var presentedDuration = Ticks.zero

    /// There is one, and it was not shown for too long.
    var isAvailable: Bool { key != nil && presentedDuration < Self.longest }

    /// Keeps the last key frame of `pictures`, in bytes of its own.
    mutating func update(from pictures: [VideoPacket]) {
        guard let found = pictures.last(where: { $0.sync.isRandomAccess && !$0.isDamaged }) else { return }
        key = found.repeated(at: .zero, payload: Array(found.payload)[...])
        presentedDuration = .zero
    }

    /// Key frames for as long as `sound` lasts, evenly: what follows it without a hole is followed without one.
    mutating func frames(covering sound: AudioPeriodPart) -> [VideoPacket] {
        guard let key, let first = sound.frames.first, let last = sound.frames.last else { return [] }
        let length = last.pts + last.packet.configuration.frameDuration - first.pts
        let count = max(1, (length.count + Self.interval.count - 1) / Self.interval.count)
        presentedDuration += length
        return (0..<count).map { place in
            key.repeated(at: first.pts + Ticks(length.count * place / count), payload: key.payload)
        }
    }
}

extension VideoPacket {
    fileprivate func repeated(at time: Ticks, payload: ArraySlice<UInt8>) -> VideoPacket {
        VideoPacket(
            pid: pid, configuration: configuration, pts: time.wire, dts: time.wire, sync: .instantaneousRefresh,
            isDamaged: false, payload: payload)
    }
}
