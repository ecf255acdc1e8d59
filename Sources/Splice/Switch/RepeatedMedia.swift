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
    /// The segment taken last begins with what was published before.
    private(set) var beganBefore = false
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
        beganBefore = isRepeating
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
