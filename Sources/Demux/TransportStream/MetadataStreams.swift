import Media
import Support

/// Assembles the metadata of the followed metadata streams.
struct MetadataStreams: Sendable {
    private enum Track: Sendable {
        case splice(SectionAssembler)
        case id3(PESAssembler)
    }

    private var tracks: [UInt16: Track] = [:]

    /// Opens new streams and closes streams that are no longer listed.
    mutating func update(streams: [MetadataStream]) {
        let listed = Dictionary(streams.map { ($0.pid, $0.kind) }, uniquingKeysWith: { first, _ in first })
        tracks = tracks.filter { listed[$0.key] != nil }
        for (pid, kind) in listed where tracks[pid] == nil {
            tracks[pid] =
                kind == .splice ? .splice(SectionAssembler()) : .id3(PESAssembler(.metadata))
        }
    }

    /// Closes all streams.
    mutating func reset() { update(streams: []) }

    /// - Parameter time: the time of the frames around the packet, as on the wire.
    /// - Returns: Whether the packet belongs to one of the metadata streams.
    mutating func consume(
        _ packet: TransportPacket, of bytes: [UInt8], at time: Ticks?, into segment: inout DemuxedSegment
    ) -> Bool {
        switch tracks.removeValue(forKey: packet.pid) {
        case nil: return false
        case .splice(var assembler):
            for section in assembler.append(packet, of: bytes) { Self.read(section, at: time, into: &segment) }
            tracks[packet.pid] = .splice(assembler)
        case .id3(var assembler):
            Self.appendID3(packet, of: bytes, with: &assembler, into: &segment)
            tracks[packet.pid] = .id3(assembler)
        }
        return true
    }

    private static func read(_ section: [UInt8], at time: Ticks?, into segment: inout DemuxedSegment) {
        guard section.first == SpliceInfoSection.tableID else { return }
        do throws(MediaError) {
            segment.append(TimedMetadata(.splice(try SpliceInfoSection(section)), at: time))
        } catch {
            segment.counts[.badSections] += 1
        }
    }

    /// Emits a tag as soon as its PES packet is complete. An unbounded PES packet is complete when the next one begins.
    private static func appendID3(
        _ packet: TransportPacket, of bytes: [UInt8], with assembler: inout PESAssembler,
        into segment: inout DemuxedSegment
    ) {
        if packet.startsUnit { flushTag(&assembler.buffer, into: &segment) }
        assembler.append(packet, of: bytes, counts: &segment.counts)
        if assembler.isPacketComplete { flushTag(&assembler.buffer, into: &segment) }
        if assembler.buffer.bytes.count > Self.maxTagSize { assembler.buffer = ElementaryBuffer() }
    }

    /// The size limit of a tag in bytes.
    private static let maxTagSize = 1 << 20

    private static func flushTag(_ buffer: inout ElementaryBuffer, into segment: inout DemuxedSegment) {
        defer { buffer = ElementaryBuffer() }
        guard !buffer.bytes.isEmpty else { return }
        // A loss at offset 0 belongs to the preceding tag.
        guard buffer.losses.allSatisfy({ $0.offset == 0 }), buffer.bytes.starts(with: "ID3".utf8) else {
            segment.counts[.undecodableUnits] += 1
            return
        }
        segment.append(TimedMetadata(.id3(buffer.bytes), at: buffer.starts.first?.pts))
    }
}
