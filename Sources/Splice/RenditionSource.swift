/// One rendition's way from segment bytes to packets that can be written: picks the demuxer, remembers that something is
/// missing, and sends the sound through its stage.
struct RenditionSource: Sendable {
    let tracks: TrackSelection
    private var demuxer: (any SegmentDemuxer)?
    private var container: SegmentContainer?
    /// The next segment does not continue what was fed before.
    private var isBrokenOff = false
    private(set) var counts = DemuxCounts()
    private(set) var sound: SoundStage
    /// The programme of a transport stream that is followed.
    private(set) var programme: ProgramSelection?

    init(tracks: TrackSelection, sound: SoundStage) {
        self.tracks = tracks
        self.sound = sound
    }

    /// Segments of this rendition were lost.
    mutating func breakOff() { isBrokenOff = true }

    /// What one segment gave.
    struct Demuxed {
        /// What the segments before had left open, when this one does not continue them.
        var left: DemuxedSegment
        /// What is said of the border between `left` and `packets`.
        var border: ProgramSwitchDetector.Border
        var packets: DemuxedSegment
    }

    /// - Throws: when the segment cannot be taken apart; the next one then lies behind a seam.
    mutating func demux(_ segment: SegmentInput) throws(SpliceError) -> Demuxed {
        let border: ProgramSwitchDetector.Border =
            isBrokenOff || segment.isAfterSeam ? .seam : segment.isDiscontinuous ? .tagged : .plain
        isBrokenOff = true
        guard let found = SegmentContainer.sniff(segment.bytes) else {
            throw SpliceError(
                .unknownContainer(firstBytes: Array(segment.bytes.prefix(16))), section: "RFC 8216 §3")
        }
        var left = found != container ? flush() : border != .plain ? reset() : DemuxedSegment()
        let previous = container
        // Taken out while it is fed: a second owner would make it copy what it holds.
        var demuxer = takeDemuxer(for: found)
        defer { self.demuxer = demuxer }
        if let initialization = segment.initialization { try demuxer.initialize(with: initialization) }
        var packets = try demuxer.feed(segment.bytes)
        counts += packets.counts
        sound.carry(left: &left.audio, &packets.audio, isPlain: border == .plain && found == previous)
        programme = packets.programme
        isBrokenOff = false
        return Demuxed(left: left, border: border, packets: packets)
    }

    /// The rendition ended: what it still holds.
    mutating func finish() -> DemuxedSegment {
        var left = flush()
        left.audio = sound.finish(left.audio)
        return left
    }

    /// What it still holds; the next segment does not continue it.
    mutating func pause() -> DemuxedSegment {
        isBrokenOff = true
        return finish()
    }

    private mutating func flush() -> DemuxedSegment {
        guard let left = demuxer?.finish() else { return DemuxedSegment() }
        counts += left.counts
        return left
    }

    private mutating func reset() -> DemuxedSegment {
        guard let left = demuxer?.reset() else { return DemuxedSegment() }
        counts += left.counts
        return left
    }

    /// The one that goes on, as long as the container does.
    private mutating func takeDemuxer(for found: SegmentContainer) -> any SegmentDemuxer {
        defer {
            demuxer = nil
            container = found
        }
        if found == container, let demuxer { return demuxer }
        switch found {
        case .transportStream: return TransportDemuxer(tracks: tracks)
        case .packedAudio: return PackedAudioDemuxer(isAligned: tracks == .audio)
        case .fragmentedMP4: return FragmentedMP4Demuxer(tracks: tracks)
        }
    }
}
