import Media

/// One followed PID: its transport packets in, its frames out.
struct ElementaryTrack: Sendable {
    let stream: ProgramSelection.Stream
    private var assembler: PESAssembler
    private var video: VideoFramer?
    private var audio: AudioFramer?

    init(_ stream: ProgramSelection.Stream) {
        self.stream = stream
        assembler = PESAssembler(keepsHeadless: !stream.kind.isVideo)
        switch stream.kind {
        case .video(let codec): video = VideoFramer(pid: stream.pid, codec: codec)
        case .audio(let framing): audio = AudioFramer(pid: stream.pid, framing: framing)
        }
    }

    /// - Parameter capacity: bytes of the segment that this stream may fill alone.
    mutating func beginSegment(capacity: Int) {
        assembler.beginSegment()
        if stream.kind.isVideo { assembler.buffer.bytes.reserveCapacity(capacity) }
    }

    /// Of the PES packet that began last in this segment.
    var lastPTS: Ticks? { assembler.buffer.starts.last?.pts }

    func expects(_ packet: TransportPacket) -> Bool { assembler.expects(packet) }

    mutating func recordLoss(_ packet: TransportPacket) { assembler.recordLoss(packet) }

    mutating func append(_ packet: TransportPacket, of bytes: [UInt8], counts: inout DemuxCounts) {
        assembler.append(packet, of: bytes, counts: &counts)
    }

    /// The segment ends: gives every frame that is at its end.
    mutating func endSegment(into segment: inout DemuxedSegment) {
        let ending = StreamEnding.segmentBoundary(
            isPacketComplete: assembler.isPacketComplete, isPacketDue: assembler.isPacketUnfinished)
        frame(ending, isClosed: false, into: &segment)
    }

    /// The stream ends here: gives what is whole, counts what is not.
    mutating func close(into segment: inout DemuxedSegment) {
        frame(.closed(isPacketDue: assembler.isPacketUnfinished), isClosed: true, into: &segment)
    }

    private mutating func frame(_ ending: StreamEnding, isClosed: Bool, into segment: inout DemuxedSegment) {
        let entry = assembler.segmentStart
        if let packets = video?.frame(&assembler.buffer, entry: entry, ending: ending, counts: &segment.counts) {
            segment.video += packets
        }
        if let packets = audio?.frame(&assembler.buffer, isClosed: isClosed, counts: &segment.counts) {
            segment.audio += packets
        }
    }
}
