import Media

/// An elementary stream that is neither picture nor sound and is carried all the same, by its stream_type.
enum MetadataStreamKind: UInt8, Hashable, Sendable {
    /// ID3v2 tags in PES packets (Timed Metadata for HTTP Live Streaming §2).
    case id3 = 0x15
    /// Sections of splice information (SCTE 35 §8.1).
    case splice = 0x86
}

/// Gathers what the metadata streams of a programme carry.
struct MetadataStreams: Sendable {
    struct Stream: Hashable, Sendable {
        let pid: UInt16
        let kind: MetadataStreamKind
    }

    private enum Track: Sendable {
        case splice(SectionAssembler)
        case id3(PESAssembler)
    }

    private var tracks: [UInt16: Track] = [:]

    /// Opens what is new and forgets what is no longer listed.
    mutating func update(streams: [Stream]) {
        let listed = Dictionary(streams.map { ($0.pid, $0.kind) }, uniquingKeysWith: { first, _ in first })
        tracks = tracks.filter { listed[$0.key] != nil }
        for (pid, kind) in listed where tracks[pid] == nil {
            tracks[pid] = kind == .splice ? .splice(SectionAssembler()) : .id3(PESAssembler(keepsHeadless: false))
        }
    }

    /// What is open will not be continued.
    mutating func reset() { update(streams: []) }

    /// - Parameter time: of the pictures around it, as on the wire.
    /// - Returns: whether the packet is of one of these streams.
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
            segment.metadata.append(TimedMetadata(.splice(try SpliceInfoSection(section)), at: time))
        } catch {
            segment.counts.badSections += 1
        }
    }

    /// Tags are given as soon as their packet is whole; of one that does not say how long it is, when the next begins.
    private static func appendID3(
        _ packet: TransportPacket, of bytes: [UInt8], with assembler: inout PESAssembler,
        into segment: inout DemuxedSegment
    ) {
        if packet.startsUnit { flushTag(&assembler.buffer, into: &segment) }
        assembler.append(packet, of: bytes, counts: &segment.counts)
        if assembler.isPacketComplete { flushTag(&assembler.buffer, into: &segment) }
        if assembler.buffer.bytes.count > Self.maxTagSize { assembler.buffer = ElementaryBuffer() }
    }

    /// What is larger is no tag.
    private static let maxTagSize = 1 << 20

    private static func flushTag(_ buffer: inout ElementaryBuffer, into segment: inout DemuxedSegment) {
        defer { buffer = ElementaryBuffer() }
        guard !buffer.bytes.isEmpty else { return }
        // What is missing in front of it was the end of the one before.
        guard buffer.losses.allSatisfy({ $0.offset == 0 }), buffer.bytes.starts(with: "ID3".utf8) else {
            segment.counts.undecodable += 1
            return
        }
        segment.metadata.append(TimedMetadata(.id3(buffer.bytes), at: buffer.starts.first?.pts))
    }
}
