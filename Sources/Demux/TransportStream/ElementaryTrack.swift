import Media
import Support

/// One followed PID: assembles its transport packets and emits its frames.
struct ElementaryTrack: Sendable {
    let stream: ProgramSelection.Stream
    private var assembler: PESAssembler
    private var video: VideoFramer?
    private var audio: AudioFramer?
    private var scrambling = ScramblingMark()
    private var packetCounts = (scrambled: 0, clear: 0)

    init(_ stream: ProgramSelection.Stream) {
        self.stream = stream
        assembler = PESAssembler(stream.kind.isVideo ? .video : .audio)
        switch stream.kind {
        case .video(let codec): video = VideoFramer(pid: stream.pid, codec: codec)
        case .audio(let framing): audio = AudioFramer(pid: stream.pid, framing: framing)
        }
    }

    mutating func beginSegment(capacity: Int) {
        assembler.beginSegment()
        packetCounts = (0, 0)
        if stream.kind.isVideo { assembler.buffer.bytes.reserveCapacity(capacity) }
    }

    mutating func expectOpenPackets() { video?.expectOpenPackets() }

    /// The PTS of the last PES packet that began in this segment.
    var lastPTS: Ticks? { assembler.buffer.starts.last?.pts }

    func expects(_ packet: TransportPacket) -> Bool { assembler.expects(packet) }

    /// Whether all packets of this segment are scrambled.
    var isScrambled: Bool { packetCounts.scrambled > 0 && packetCounts.clear == 0 }

    mutating func append(_ packet: TransportPacket, of bytes: [UInt8], counts: inout Counts<DemuxCount>) {
        if !packet.isIntact {
            counts[.transportErrors] += 1
            assembler.recordLoss(packet)
        } else if scrambling.isClear(packet, of: bytes) {
            packetCounts.clear += 1
            assembler.append(packet, of: bytes, counts: &counts)
        } else {
            packetCounts.scrambled += 1
            counts[.scrambledPackets] += 1
            assembler.recordLoss(packet)
        }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) throws(MediaError) {
        assembler.endSegment(counts: &segment.counts)
        let ending = StreamEnding.segmentBoundary(
            isPacketComplete: assembler.isPacketComplete, isPacketDue: assembler.isPacketUnfinished)
        try frame(ending, isClosed: false, into: &segment)
    }

    mutating func close(into segment: inout DemuxedSegment) throws(MediaError) {
        assembler.endSegment(counts: &segment.counts)
        try frame(.closed(isPacketDue: assembler.isPacketUnfinished), isClosed: true, into: &segment)
    }

    private mutating func frame(
        _ ending: StreamEnding, isClosed: Bool, into segment: inout DemuxedSegment
    ) throws(MediaError) {
        let start = assembler.segmentStart
        if let packets = try video?.frame(&assembler.buffer, start: start, ending: ending, counts: &segment.counts) {
            segment.video += packets
        }
        if let packets = try audio?.frame(&assembler.buffer, isClosed: isClosed, counts: &segment.counts) {
            if let track = stream.furtherTrack {
                segment.append(packets, of: track)
            } else {
                segment.audio += packets
            }
        }
    }
}
