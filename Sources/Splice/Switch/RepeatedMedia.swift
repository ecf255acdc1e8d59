/// Leaves out what was published already. An upstream that counts anew, or an encoder that is started again, lists once
/// more what it had listed, under other numbers and names.
///
/// Bytes are the proof: behind a seam, a key frame with the time and the content of one that was published lately. From
/// there to the newest picture published everything is a repetition, and what follows goes on as if there were no seam.
/// A loop that shows the same pictures again gives them other times.
struct RepeatedMedia: Sendable {
    private struct KeyFrame: Equatable, Sendable {
        let time: Ticks
        let byteCount: Int
        let beginning: UInt64

        init?(_ packet: VideoPacket) {
            guard packet.sync == .instantaneousRefresh, let time = packet.pts else { return nil }
            self.time = time
            byteCount = packet.payload.count
            beginning = ContentHash.number(of: packet.payload.prefix(RepeatedMedia.compared))
        }
    }

    /// Bytes of a key frame that are compared, beside its size: parameter sets, headers and much of the picture.
    private static let compared = 4096
    /// Key frames remembered: minutes.
    private static let memory = 128

    private var published: [KeyFrame] = []
    /// Decode time of the newest picture and presentation time of the newest frame of sound, on the wire.
    private var lastPicture: Ticks?
    private var lastSound: Ticks?
    private var isRepeating = false
    /// Pictures and frames of sound left out.
    private(set) var pictures = 0
    private(set) var frames = 0

    /// Takes from a segment what was published before, and the seam with it.
    mutating func leaveOut(of demuxed: inout RenditionSource.Demuxed) {
        note(demuxed.left)
        switch demuxed.border {
        case .seam: isRepeating = demuxed.packets.video.contains { KeyFrame($0).map(published.contains) ?? false }
        case .tagged: isRepeating = false
        case .plain, .none: break
        }
        if isRepeating {
            leaveOut(of: &demuxed.packets)
            demuxed.border = .plain
        }
        note(demuxed.packets)
    }

    private mutating func leaveOut(of packets: inout DemuxedSegment) {
        let (lastPicture, lastSound) = (lastPicture, lastSound)
        let isNew = { (time: Ticks?, last: Ticks?) in
            guard let time, let last else { return last == nil }
            return Ticks(wire: time, near: last) > last
        }
        let firstPicture = packets.video.firstIndex { isNew($0.dts ?? $0.pts, lastPicture) } ?? packets.video.endIndex
        let firstSound = packets.audio.firstIndex { isNew($0.pts, lastSound) } ?? packets.audio.endIndex
        pictures += firstPicture
        frames += firstSound
        packets.video.removeFirst(firstPicture)
        packets.audio.removeFirst(firstSound)
        packets.metadata.removeAll { !isNew($0.time, lastPicture) }
        isRepeating = packets.video.isEmpty
    }

    private mutating func note(_ packets: DemuxedSegment) {
        for packet in packets.video { if let keyFrame = KeyFrame(packet) { published.append(keyFrame) } }
        if published.count > 2 * Self.memory { published.removeFirst(published.count - Self.memory) }
        if let last = packets.video.last(where: { $0.dts ?? $0.pts != nil }) { lastPicture = last.dts ?? last.pts }
        if let last = packets.audio.last(where: { $0.pts != nil }) { lastSound = last.pts }
    }
}
