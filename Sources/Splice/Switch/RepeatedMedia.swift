/// Leaves out what was published already. An upstream that counts anew, or an encoder that is started again, lists once
/// more what it had listed, under other numbers and names; so does a source that takes over and is behind the last one.
///
/// Bytes are the proof: behind a seam, a key frame with the time and the content of one that was published lately. From
/// there to the newest picture published everything is a repetition, and what follows goes on as if there were no seam.
/// A loop that shows the same pictures again gives them other times.
struct RepeatedMedia: Sendable {
    private(set) var published = PublishedMedia()
    private var isRepeating = false
    /// What comes next may have been published by another source of the channel.
    private var isSuspicious = false
    /// Pictures and frames of sound left out.
    private(set) var pictures = 0
    private(set) var frames = 0

    /// What comes next follows on what others published.
    mutating func resume(after published: PublishedMedia) {
        self.published = published
        isSuspicious = true
    }

    /// What was held when the channel left this source is published, too.
    mutating func pause(with left: DemuxedSegment) { published.note(left) }

    /// Takes from a segment what was published before, and the seam with it.
    mutating func leaveOut(of demuxed: inout RenditionSource.Demuxed) {
        published.note(demuxed.left)
        if demuxed.border == .seam || isSuspicious {
            isRepeating = published.has(any: demuxed.packets.video)
        } else if demuxed.border == .tagged {
            isRepeating = false
        }
        isSuspicious = false
        if isRepeating {
            leaveOut(of: &demuxed.packets)
            demuxed.border = .plain
        }
        published.note(demuxed.packets)
    }

    private mutating func leaveOut(of packets: inout DemuxedSegment) {
        let (lastPicture, lastSound) = (published.lastPicture, published.lastSound)
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
}

/// What a channel published lately, as far as it takes to know it again.
package struct PublishedMedia: Sendable {
    private struct KeyFrame: Equatable, Sendable {
        let time: Ticks
        let byteCount: Int
        let beginning: UInt64

        init?(_ packet: VideoPacket) {
            guard packet.sync == .instantaneousRefresh, let time = packet.pts else { return nil }
            self.time = time
            byteCount = packet.payload.count
            beginning = ContentHash.number(of: packet.payload.prefix(PublishedMedia.compared))
        }
    }

    /// Bytes of a key frame that are compared, beside its size: parameter sets, headers and much of the picture.
    private static let compared = 4096
    /// Key frames remembered: minutes.
    private static let memory = 128

    private var keyFrames: [KeyFrame] = []
    /// Decode time of the newest picture and presentation time of the newest frame of sound, on the wire.
    fileprivate private(set) var lastPicture: Ticks?
    fileprivate private(set) var lastSound: Ticks?

    fileprivate func has(any packets: [VideoPacket]) -> Bool {
        packets.contains { KeyFrame($0).map(keyFrames.contains) ?? false }
    }

    fileprivate mutating func note(_ packets: DemuxedSegment) {
        for packet in packets.video { if let keyFrame = KeyFrame(packet) { keyFrames.append(keyFrame) } }
        if keyFrames.count > 2 * Self.memory { keyFrames.removeFirst(keyFrames.count - Self.memory) }
        if let last = packets.video.last(where: { $0.dts ?? $0.pts != nil }) { lastPicture = last.dts ?? last.pts }
        if let last = packets.audio.last(where: { $0.pts != nil }) { lastSound = last.pts }
    }
}
