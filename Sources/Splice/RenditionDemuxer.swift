import Demux
import Media
import Mux
import Transcode

/// One rendition's way from segment bytes to packets that can be written: picks the demuxer, remembers that something is
/// missing, and sends the sound through its stage.
struct RenditionDemuxer: Sendable {
    let tracks: TrackSelection
    private var demuxer: (any SegmentDemuxer)?
    private var container: SegmentContainer?
    /// The next segment does not continue what was fed before.
    private var isContinuityBroken = false
    private(set) var counts = DemuxCounts()
    private(set) var audioStage: AudioTranscodeStage
    /// The programme of a transport stream that is followed.
    private(set) var programme: ProgramSelection?

    init(tracks: TrackSelection, sound: AudioTranscodeStage) {
        self.tracks = tracks
        self.audioStage = sound
    }

    /// Segments of this rendition were lost.
    mutating func breakContinuity() { isContinuityBroken = true }

    /// What one segment gave.
    struct Demuxed {
        /// What the segments before had left open, when this one does not continue them.
        var flushed: DemuxedSegment
        /// What is said of the border between `left` and `packets`.
        var boundary: DiscontinuityDetector.Boundary
        var packets: DemuxedSegment
    }

    /// - Throws: when the segment cannot be taken apart; the next one then lies behind a seam.
    mutating func demux(_ segment: SegmentInput) throws(MediaError) -> Demuxed {
        let border: DiscontinuityDetector.Boundary =
            isContinuityBroken || segment.isAfterDiscontinuity ? .loss : segment.isDiscontinuous ? .tagged : .plain
        isContinuityBroken = true
        guard let found = SegmentContainer.sniff(segment.bytes) else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment.bytes.prefix(16))), section: "RFC 8216 §3")
        }
        var left = found != container ? flush() : border != .plain ? reset() : DemuxedSegment()
        let previous = container
        // Taken out while it is fed: a second owner would make it copy what it holds.
        var demuxer = detachDemuxer(for: found)
        defer { self.demuxer = demuxer }
        if let initialization = segment.initialization { try demuxer.initialize(with: initialization) }
        var packets = try demuxer.feed(segment.bytes)
        counts += packets.counts
        audioStage.process(flushed: &left.audio, &packets.audio, isContinuous: border == .plain && found == previous)
        programme = packets.program
        isContinuityBroken = false
        return Demuxed(flushed: left, boundary: border, packets: packets)
    }

    /// The rendition ended: what it still holds.
    mutating func finish() -> DemuxedSegment {
        var left = flush()
        left.audio = audioStage.finish(left.audio)
        return left
    }

    /// What it still holds; the next segment does not continue it.
    mutating func pause() -> DemuxedSegment {
        isContinuityBroken = true
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
    private mutating func detachDemuxer(for found: SegmentContainer) -> any SegmentDemuxer {
        defer {
            demuxer = nil
            container = found
        }
        if found == container, let demuxer { return demuxer }
        switch found {
        case .transportStream: return TransportDemuxer(tracks: tracks)
        case .packedAudio: return PackedAudioDemuxer(requiresTimestamp: tracks == .audio)
        case .fragmentedMP4: return FragmentedMP4Demuxer(tracks: tracks)
        }
    }
}
