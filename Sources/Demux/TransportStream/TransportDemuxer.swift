package import Media

/// MPEG-2 transport stream segments in, packets out (ISO/IEC 13818-1). One value per run of a rendition.
///
/// What straddles two segments is kept between them; damage costs the frames it hits; a change of programme takes
/// effect at its PMT, inside a segment if that is where it is. After a thrown error the value goes on with the next
/// segment as if the refused one had been lost: call `reset()` first.
package struct TransportDemuxer: SegmentDemuxer {
    /// The streams followed at the end of what was fed; nil before any table.
    package var selection: ProgramSelection? { tables.selection }

    /// PIDs below are reserved for tables (ISO/IEC 13818-1 Table 2-3, ETSI EN 300 468 Table 1).
    private static let firstStreamPID: UInt16 = 0x20

    private let trackSelection: TrackSelection
    private var tables: ProgramTables
    private var tracks: [ElementaryTrack] = []
    private var metadata = MetadataStreams()

    package init(tracks: TrackSelection = .both) {
        trackSelection = tracks
        tables = ProgramTables(tracks: tracks)
    }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        guard let sync = PacketSync(segment) else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment.prefix(16))), section: "ISO/IEC 13818-1 2.4.3.2")
        }
        let changes = try selections(in: segment, runs: sync.blocks)
        var output = DemuxedSegment()
        output.counts.bytesOutOfSync = sync.bytesOutOfSync
        output.counts.badSections = tables.badSections
        output.declaresVideo = changes.last?.selection.video != nil
        output.declaresAudio = changes.last?.selection.audio != nil
        for index in tracks.indices { tracks[index].beginSegment(capacity: segment.count) }
        demux(segment, runs: sync.blocks, changes: changes, into: &output)
        for index in tracks.indices { tracks[index].endSegment(into: &output) }
        output.program = tables.selection
        return output
    }

    package mutating func reset() -> DemuxedSegment {
        let output = closeAll()
        tables.reset()
        return output
    }

    package mutating func finish() -> DemuxedSegment { closeAll() }

    private mutating func closeAll() -> DemuxedSegment {
        var output = DemuxedSegment()
        for index in tracks.indices { tracks[index].close(into: &output) }
        tracks = []
        metadata.reset()
        return output
    }

    /// The changes of this segment; the first tables of a run hold from its first byte, wherever they stand.
    private mutating func selections(
        in segment: [UInt8], runs: [PacketBlock]
    ) throws(MediaError) -> [SelectionChange] {
        let known = tables.selection
        let isFirst = tables.isEmpty
        var changes = tables.scan(segment, blocks: runs)
        if let refusal = tables.unsupportedError() { throw refusal }
        if isFirst, let first = changes.first {
            changes[0] = SelectionChange(offset: 0, selection: first.selection)
        } else if let known {
            changes.insert(SelectionChange(offset: 0, selection: known), at: 0)
        } else {
            changes = [SelectionChange(offset: 0, selection: try probe(segment, blocks: runs))]
        }
        return changes
    }

    /// No table came in the whole run.
    private mutating func probe(_ segment: [UInt8], blocks: [PacketBlock]) throws(MediaError) -> ProgramSelection {
        guard let guess = ProgramProbe.selection(segment, blocks: blocks, tracks: trackSelection) else {
            throw MediaError(.noSupportedStream(streamTypes: []), section: "ISO/IEC 13818-1 2.4.4")
        }
        tables.setProbed(guess)
        return guess
    }
}

extension TransportDemuxer {
    private mutating func demux(
        _ segment: [UInt8], runs: [PacketBlock], changes: [SelectionChange], into output: inout DemuxedSegment
    ) {
        var pending = changes[...]
        for run in runs {
            for index in 0..<run.count {
                let offset = run[index]
                while let change = pending.first, change.offset <= offset {
                    apply(change.selection, before: pending.dropFirst(), segmentSize: segment.count, into: &output)
                    pending.removeFirst()
                }
                consume(TransportPacket(segment, at: offset), of: segment, block: run, into: &output)
            }
        }
        for change in pending { apply(change.selection, before: [], segmentSize: 0, into: &output) }
    }

    /// Closes what is no longer followed and opens what is new. Streams that only a later table of this segment names
    /// are opened as well: their packets may come before their table does.
    private mutating func apply(
        _ selection: ProgramSelection, before later: ArraySlice<SelectionChange>, segmentSize: Int,
        into output: inout DemuxedSegment
    ) {
        let named = selection.streams
        metadata.update(streams: selection.metadata)
        tracks.removeAll { track in
            guard !named.contains(track.stream), !Self.isOpenedAhead(track, selection, later) else { return false }
            var track = track
            track.close(into: &output)
            return true
        }
        let upcoming = later.flatMap(\.selection.streams)
        for stream in named + upcoming where !tracks.contains(where: { $0.stream.pid == stream.pid }) {
            tracks.append(ElementaryTrack(stream))
            tracks[tracks.count - 1].beginSegment(capacity: segmentSize)
        }
    }

    /// Opened ahead of its table, and not one that this table takes away.
    private static func isOpenedAhead(
        _ track: ElementaryTrack, _ selection: ProgramSelection, _ later: ArraySlice<SelectionChange>
    ) -> Bool {
        let isTakenAway = selection.streams.contains { $0.kind.isVideo == track.stream.kind.isVideo }
        return !isTakenAway && later.contains { $0.selection.streams.contains(track.stream) }
    }

    /// Of the picture at hand, or of the sound when there is none.
    private var currentPTS: Ticks? {
        (tracks.first { $0.stream.kind.isVideo } ?? tracks.first)?.lastPTS
    }

    @inline(__always)
    private mutating func consume(
        _ packet: TransportPacket, of segment: [UInt8], block: PacketBlock, into output: inout DemuxedSegment
    ) {
        guard let index = tracks.firstIndex(where: { $0.stream.pid == packet.pid }) else {
            if block.hasBadSyncBytes {
                output.counts.bytesOutOfSync += block.stride
            } else if packet.isReadable, metadata.consume(packet, of: segment, at: currentPTS, into: &output) {
                return
            } else if packet.pid >= Self.firstStreamPID, packet.pid != TransportPacket.nullPID,
                !tables.isTable(packet.pid)
            {
                output.counts.otherPackets += 1
            }
            return
        }
        if block.hasBadSyncBytes {
            guard !packet.hasError, !packet.isScrambled, tracks[index].expects(packet) else {
                output.counts.bytesOutOfSync += block.stride
                return
            }
        }
        if packet.hasError || packet.isMalformed {
            output.counts.transportErrors += 1
            tracks[index].recordLoss(packet)
        } else if packet.isScrambled {
            output.counts.scrambledPackets += 1
            tracks[index].recordLoss(packet)
        } else {
            tracks[index].append(packet, of: segment, counts: &output.counts)
        }
    }
}
