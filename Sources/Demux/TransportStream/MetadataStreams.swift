import Media
import Support

/// Assembles the metadata of the followed metadata streams.
struct MetadataStreams: Sendable {
    private struct Track: Sendable {
        let kind: MetadataStreamKind
        var sections = SectionAssembler()
        var packets = PESAssembler(.metadata)
        var scrambling = ScramblingMark()
    }

    private var tracks: [UInt16: Track] = [:]

    /// Opens new streams and closes streams that are no longer listed.
    mutating func update(streams: [MetadataStream]) {
        let listed = Dictionary(streams.map { ($0.pid, $0.kind) }, uniquingKeysWith: { first, _ in first })
        tracks = tracks.filter { listed[$0.key] == $0.value.kind }
        for (pid, kind) in listed where tracks[pid] == nil { tracks[pid] = Track(kind: kind) }
    }

    mutating func reset() { update(streams: []) }

    mutating func beginSegment() {
        for pid in tracks.keys {
            tracks[pid]?.sections.beginSegment()
            tracks[pid]?.packets.beginSegment()
        }
    }

    /// - Parameter time: the time of the frames around the packet, as on the wire.
    /// - Returns: Whether the packet belongs to one of the metadata streams.
    mutating func consume(
        _ packet: TransportPacket, of bytes: [UInt8], at time: Ticks?, into segment: inout DemuxedSegment
    ) -> Bool {
        guard var track = tracks.removeValue(forKey: packet.pid) else { return false }
        if track.kind == .splice {
            // CRC_32 tells whether a section is clear.
            for section in track.sections.append(packet, of: bytes) { Self.read(section, at: time, into: &segment) }
        } else if track.scrambling.isClear(packet, of: bytes) {
            Self.append(packet, of: bytes, at: time, to: &track, into: &segment)
        } else {
            segment.counts[.scrambledPackets] += 1
            track.packets.recordLoss(packet)
        }
        tracks[packet.pid] = track
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

    /// Emits the content of a PES packet as soon as it is complete. An unbounded PES packet is complete when the next one
    /// begins.
    private static func append(
        _ packet: TransportPacket, of bytes: [UInt8], at time: Ticks?, to track: inout Track,
        into segment: inout DemuxedSegment
    ) {
        if packet.startsUnit, !track.packets.isDuplicate(packet, of: bytes) {
            flush(&track, at: time, into: &segment)
        }
        track.packets.append(packet, of: bytes, counts: &segment.counts)
        if track.packets.isPacketComplete { flush(&track, at: time, into: &segment) }
        if track.packets.buffer.bytes.count > Self.maxPacketSize { track.packets.buffer = ElementaryBuffer() }
    }

    private static let maxPacketSize = 1 << 20

    private static func flush(_ track: inout Track, at time: Ticks?, into segment: inout DemuxedSegment) {
        let buffer = track.packets.buffer
        guard !buffer.bytes.isEmpty else { return }
        track.packets.buffer = ElementaryBuffer()
        let pts = buffer.starts.first?.pts
        // A loss at offset 0 belongs to the preceding packet.
        let isWhole = buffer.losses.allSatisfy { $0.offset == 0 }
        switch track.kind {
        case .id3 where isWhole && buffer.bytes.starts(with: "ID3".utf8):
            segment.append(TimedMetadata(.id3(buffer.bytes), at: pts))
        case .privateData(let stream) where isWhole:
            segment.append(TimedMetadata(.privateData(stream, buffer.bytes), at: pts ?? time))
        default: segment.counts[.undecodableUnits] += 1
        }
    }
}
