package import Media
import Support

/// Demuxes MPEG-2 transport stream segments into packets (ISO/IEC 13818-1). One value per rendition.
///
/// Frames that span two segments are kept between them. Damage costs only the frames it hits. A change of program takes
/// effect at its PMT, even in the middle of a segment. After a thrown error, call `reset()`; the refused segment then
/// counts as lost.
package struct TransportDemuxer: SegmentDemuxer {
    /// The streams followed at the end of the last segment; nil before any table.
    package var selection: ProgramSelection? { tables.selection }

    /// The lowest PID of a stream; lower ones are reserved for tables (ISO/IEC 13818-1 Table 2-3, ETSI EN 300 468 Table
    /// 1).
    private static let firstStreamPID: UInt16 = 0x20

    private let trackSelection: TrackSelection
    private var tables: ProgramTables
    private var tracks: [ElementaryTrack] = []
    private var metadata = MetadataStreams()
    /// The end of the last byte range, if the segment was one of a file.
    private var rangeEnd: UInt64?

    /// - Parameter choice: the audio tracks that are followed beside the leading one.
    package init(tracks: TrackSelection = .both, audio choice: AudioTrackChoice = .leading) {
        trackSelection = tracks
        tables = ProgramTables(tracks: tracks, audio: choice)
    }

    /// Reads the tables of an EXT-X-MAP section, a PAT and a PMT (RFC 8216 §3.2), as if the next segment began with them.
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {
        guard let sync = try PacketSync(section) else { return }
        _ = try tables.scan(section, blocks: sync.blocks)
    }

    /// A part of a file that follows the last one may begin and end inside a frame, however cleanly others began.
    package mutating func feed(_ segment: [UInt8], of ranges: [Range<UInt64>]) throws(MediaError) -> DemuxedSegment {
        if let start = ranges.first?.lowerBound, start == rangeEnd {
            for index in tracks.indices { tracks[index].expectOpenPackets() }
        }
        rangeEnd = ranges.last?.upperBound
        return try feed(segment)
    }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        guard let sync = try PacketSync(segment) else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment.prefix(16))), section: "ISO/IEC 13818-1 2.4.3.2")
        }
        let changes = try selections(in: segment, blocks: sync.blocks)
        var output = DemuxedSegment()
        output.counts[.bytesOutOfSync] = sync.bytesOutOfSync
        output.counts[.badSections] = tables.dequeueBadSections()
        output.declaresVideo = changes.last?.selection.video != nil
        output.declaresAudio = changes.last?.selection.audio != nil
        for index in tracks.indices { tracks[index].beginSegment(capacity: segment.count) }
        metadata.beginSegment()
        try demux(segment, blocks: sync.blocks, changes: changes, into: &output)
        for index in tracks.indices { try tracks[index].endSegment(into: &output) }
        output.isScrambled = isScrambled(output)
        output.program = tables.selection
        output.audioTrack = tables.selection?.audioTrack
        return output
    }

    /// Whether the video, or the audio of a program without video, is scrambled and gave no frame.
    private func isScrambled(_ output: DemuxedSegment) -> Bool {
        guard let main = tracks.first(where: \.stream.kind.isVideo) ?? tracks.first, main.isScrambled else {
            return false
        }
        return main.stream.kind.isVideo ? output.video.isEmpty : output.audio.isEmpty
    }

    package mutating func reset() throws(MediaError) -> DemuxedSegment {
        let output = try closeAll()
        tables.reset()
        return output
    }

    package mutating func finish() throws(MediaError) -> DemuxedSegment { try closeAll() }

    private mutating func closeAll() throws(MediaError) -> DemuxedSegment {
        var output = DemuxedSegment()
        for index in tracks.indices { try tracks[index].close(into: &output) }
        tracks = []
        metadata.reset()
        return output
    }

    /// Returns the selection changes of a segment. The first tables after a reset apply from the first byte, wherever
    /// they are.
    private mutating func selections(
        in segment: [UInt8], blocks: [PacketBlock]
    ) throws(MediaError) -> [SelectionChange] {
        let known = tables.selection
        let isFirst = tables.isEmpty
        var changes = try tables.scan(segment, blocks: blocks)
        if let refusal = tables.unsupportedError() { throw refusal }
        if isFirst, let first = changes.first {
            changes[0] = SelectionChange(offset: 0, selection: first.selection)
        } else if let known {
            changes.insert(SelectionChange(offset: 0, selection: known), at: 0)
        } else {
            changes = [SelectionChange(offset: 0, selection: try probe(segment, blocks: blocks))]
        }
        return changes
    }

    /// Selects streams by their first bytes, if the segment has no tables.
    private mutating func probe(_ segment: [UInt8], blocks: [PacketBlock]) throws(MediaError) -> ProgramSelection {
        let probed = try ProgramProbe(segment, blocks: blocks).selection(tracks: trackSelection)
        tables.setProbed(probed)
        return probed
    }
}

extension TransportDemuxer {
    private mutating func demux(
        _ segment: [UInt8], blocks: [PacketBlock], changes: [SelectionChange], into output: inout DemuxedSegment
    ) throws(MediaError) {
        var pending = changes[...]
        for block in blocks {
            try MediaError.checkCancellation()
            StepCounter.add(block.count)
            for index in 0..<block.count {
                let offset = block[index]
                while let change = pending.first, change.offset <= offset {
                    try apply(change.selection, before: pending.dropFirst(), segmentSize: segment.count, into: &output)
                    pending.removeFirst()
                }
                consume(TransportPacket(segment, at: offset), of: segment, block: block, into: &output)
            }
        }
        for change in pending { try apply(change.selection, before: [], segmentSize: 0, into: &output) }
    }

    /// Closes streams that are no longer followed and opens new ones. Streams that only a later table of this segment
    /// lists are opened too, because their packets may precede the table.
    private mutating func apply(
        _ selection: ProgramSelection, before later: ArraySlice<SelectionChange>, segmentSize: Int,
        into output: inout DemuxedSegment
    ) throws(MediaError) {
        StepCounter.add(later.count + tracks.count)
        let followed = selection.streams
        metadata.update(streams: selection.metadata)
        let isKept = tracks.map { followed.contains($0.stream) || Self.isOpenedAhead($0, selection, later) }
        for index in tracks.indices where !isKept[index] { try tracks[index].close(into: &output) }
        tracks = zip(tracks, isKept).filter(\.1).map(\.0)
        for stream in followed { open(stream, capacity: segmentSize) }
        for stream in later.flatMap(\.selection.streams) { open(stream, capacity: 0) }
    }

    private mutating func open(_ stream: ProgramSelection.Stream, capacity: Int) {
        guard !tracks.contains(where: { $0.stream.pid == stream.pid }) else { return }
        var track = ElementaryTrack(stream)
        track.beginSegment(capacity: capacity)
        tracks.append(track)
    }

    /// Whether a track was opened ahead of its table and `selection` does not replace it.
    private static func isOpenedAhead(
        _ track: ElementaryTrack, _ selection: ProgramSelection, _ later: ArraySlice<SelectionChange>
    ) -> Bool {
        StepCounter.add(later.count)
        let isReplaced = selection.streams.contains { $0.kind.isVideo == track.stream.kind.isVideo }
        return !isReplaced && later.contains { $0.selection.streams.contains(track.stream) }
    }

    /// The PTS of the current video frame, or of the audio frame if there is no video.
    private var currentPTS: Ticks? {
        (tracks.first { $0.stream.kind.isVideo } ?? tracks.first)?.lastPTS
    }

    @inline(__always)
    private mutating func consume(
        _ packet: TransportPacket, of segment: [UInt8], block: PacketBlock, into output: inout DemuxedSegment
    ) {
        guard let index = tracks.firstIndex(where: { $0.stream.pid == packet.pid }) else {
            return consumeUnfollowed(packet, of: segment, block: block, into: &output)
        }
        if block.hasBadSyncBytes {
            guard !packet.hasError, tracks[index].expects(packet) else {
                output.counts[.bytesOutOfSync] += PacketStride.packetSize
                return
            }
        }
        tracks[index].append(packet, of: segment, counts: &output.counts)
    }

    /// Consumes a packet of a PID that is not a followed audio or video stream: metadata, tables and others.
    private mutating func consumeUnfollowed(
        _ packet: TransportPacket, of segment: [UInt8], block: PacketBlock, into output: inout DemuxedSegment
    ) {
        if block.hasBadSyncBytes {
            output.counts[.bytesOutOfSync] += PacketStride.packetSize
            return
        }
        if packet.isIntact, metadata.consume(packet, of: segment, at: currentPTS, into: &output) { return }
        guard packet.pid >= Self.firstStreamPID, packet.pid != TransportPacket.nullPID, !tables.isTable(packet.pid)
        else { return }
        output.counts[.otherPackets] += 1
    }
}
