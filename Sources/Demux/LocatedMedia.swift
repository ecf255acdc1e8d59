package import Media
import Support

/// The containers of media segments (RFC 8216 §3.2–§3.4).
package enum SegmentContainer: Equatable, Sendable {
    case transportStream, fragmentedMP4, packedAudio
}

/// Where the media of a segment begins, and its container.
///
/// The bytes tell it, after any prefix: ID3 tags, the header of a picture, the rest of a packet, other bytes. No other type
/// decides what container a segment or an EXT-X-MAP section has.
package struct LocatedMedia: Equatable, Sendable {
    package let container: SegmentContainer
    /// Bytes before the media that its demuxer does not read: up to the first box, or the tags before a transport stream,
    /// whose first packet may come later. Packed audio begins with its tags.
    private let prefixSize: Int
    /// The offset of the first packet, box or tag of packed audio.
    private let start: Int
    /// Bytes of ID3 tags at the beginning of the prefix.
    private let tagsSize: Int

    /// Bytes of a prefix that are searched, after ID3 tags.
    static let longestPrefix = PacketStride.longestLead
    /// Transport packets in a row that count where they are expected. `PacketStride.provingPackets` count elsewhere.
    private static let expectedPackets = 3
    /// Transport packets within which the first one may begin, where a segment begins inside a packet.
    private static let cutPackets = 2

    /// - Parameter tagsEnd: end of the tags at the beginning.
    private init(_ container: SegmentContainer, at offset: Int, tagsEnd: Int) {
        self.container = container
        prefixSize = container == .transportStream ? tagsEnd : offset
        start = offset
        tagsSize = min(tagsEnd, offset)
    }

    /// Finds the media of a segment or of an EXT-X-MAP section; nil if there is none.
    ///
    /// - Parameters:
    ///   - initialization: the section with which it is read.
    ///   - isRange: whether the segment is known to be a part of a file. A part of a plain MP4 file may begin with any bytes.
    package static func find(
        in bytes: [UInt8], initialization: [UInt8]? = nil, isRange: Bool = false
    ) throws(MediaError) -> LocatedMedia? {
        if isRange, let initialization, Movie.isPlain(initialization) {
            return LocatedMedia(.fragmentedMP4, at: 0, tagsEnd: 0)
        }
        let tagsEnd = ID3Tags.end(in: bytes)
        if let found = expected(in: bytes, at: tagsEnd) { return found }
        if let found = try search(bytes, from: tagsEnd) { return found }
        // A tag may state another length than it has.
        return tagsEnd > 0 ? try search(bytes, from: 0) : nil
    }

    /// The offset at which the media of a segment begins; nil if there is none.
    package static func start(in bytes: [UInt8]) -> Int? { (try? find(in: bytes))?.start }

    /// Returns the media that begins at the end of the tags, where one is expected.
    private static func expected(in bytes: [UInt8], at offset: Int) -> LocatedMedia? {
        if BoxHeader(bytes, at: offset)?.beginsSegment == true {
            return LocatedMedia(.fragmentedMP4, at: offset, tagsEnd: offset)
        }
        // Without tags, the segment may begin inside a packet.
        let end = min(bytes.count, offset == 0 ? cutPackets * PacketStride.packetSize + 1 : offset + 1)
        if offset < end, let packet = firstPacket(in: bytes, offset..<end, proof: expectedPackets) {
            return LocatedMedia(.transportStream, at: packet, tagsEnd: offset)
        }
        // The tags of packed audio have its time.
        return AudioFraming.sniff(bytes, at: offset) == nil ? nil : LocatedMedia(.packedAudio, at: 0, tagsEnd: 0)
    }

    /// Searches the bytes after the tags. Transport packets count first: their payload may look like anything.
    private static func search(_ bytes: [UInt8], from start: Int) throws(MediaError) -> LocatedMedia? {
        let end = min(bytes.count, start + longestPrefix)
        guard start < end else { return nil }
        try MediaError.checkCancellation()
        StepCounter.add(end - start)
        if let offset = firstPacket(in: bytes, start..<end, proof: PacketStride.provingPackets) {
            return LocatedMedia(.transportStream, at: offset, tagsEnd: start)
        }
        for offset in start..<end {
            switch bytes[offset] {
            case 0 where BoxHeader(bytes, at: offset)?.isFollowed(in: bytes) == true:
                return LocatedMedia(.fragmentedMP4, at: offset, tagsEnd: start)
            case UInt8(ascii: "I") where offset > start && ID3Tags.begins(bytes, at: offset):
                guard let found = expected(in: bytes, at: ID3Tags.end(in: bytes, from: offset)) else { continue }
                let isAudio = found.container == .packedAudio
                return LocatedMedia(found.container, at: isAudio ? offset : found.prefixSize, tagsEnd: start)
            case let byte where AudioFraming.begins(bytes, at: offset, with: byte):
                return LocatedMedia(.packedAudio, at: 0, tagsEnd: 0)
            default: break
            }
        }
        return nil
    }

    /// - Parameter proof: packets in a row that count. One less counts if the bytes end with them, and any at the
    ///   beginning.
    private static func firstPacket(in bytes: [UInt8], _ range: Range<Int>, proof: Int) -> Int? {
        for offset in range where bytes[offset] == PacketStride.syncByte {
            for size in PacketStride.sizes {
                let (count, isEnd) = PacketSync.packets(upTo: proof, in: bytes, at: offset, by: size)
                if count == proof || isEnd && (count > proof - 2 || offset == 0) { return offset }
            }
        }
        return nil
    }
}

extension LocatedMedia {
    /// Returns the bytes from the media on.
    package func media(of bytes: [UInt8]) -> [UInt8] { prefixSize == 0 ? bytes : Array(bytes.dropFirst(prefixSize)) }

    /// Adds the metadata in the tags of the prefix, and counts its other bytes.
    package func appendPrefix(of bytes: [UInt8], to segment: inout DemuxedSegment) throws(MediaError) {
        guard prefixSize > 0 else { return }
        segment.counts[.bytesOutOfSync] += prefixSize - tagsSize
        guard tagsSize > 0 else { return }
        let tags = try ID3Tags(bytes)
        for tag in tags.metadataTags { segment.append(TimedMetadata(.id3(tag), at: tags.timestamp)) }
        segment.counts[.excessEventMessages] += tags.excessTags
    }

    /// Whether a segment begins with a box.
    package static func isFragmentedMP4(_ bytes: [UInt8]) -> Bool { BoxHeader(bytes, at: 0)?.beginsSegment == true }

    /// Whether the bytes are whole units of media and nothing else: transport packets, boxes, or audio frames. The chance
    /// that other bytes look so is below 2⁻³².
    package static func isWhole(_ bytes: [UInt8]) -> Bool {
        let size = PacketStride.packetSize
        if bytes.count.isMultiple(of: size), bytes.count >= 2 * size {
            let count = bytes.count / size
            if PacketSync.packets(upTo: count, in: bytes, at: 0, by: size).count == count {
                return count >= 4 || SectionAssembler.hasIntactSection(bytes)
            }
        }
        if BoxHeader(bytes, at: 0)?.beginsSegment == true {
            guard let (boxes, rest) = try? BoxReader.wholeBoxes(in: bytes[...]) else { return false }
            return rest.isEmpty && boxes.allSatisfy { BoxHeader.types.contains($0.type) }
        }
        return AudioFraming.fills(bytes, from: ID3Tags.end(in: bytes))
    }
}

/// The header of a box that may stand first in a segment or a section (ISO/IEC 14496-12 §4.2).
private struct BoxHeader {
    static let types: Set<BoxType> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "free", "skip", "mdat", "uuid", "meta", "mfra",
        "wide", "pdin",
    ]
    /// Boxes of a segment that are not found after other bytes, because they end a segment or hold anything.
    private static let unlikelyTypes: Set<BoxType> = ["mfra", "wide", "pdin"]

    let type: BoxType
    let end: Int

    /// nil if the type is none of `types`.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard bytes.count >= offset + 8, bytes[offset + 4] >= UInt8(ascii: "a") else { return nil }
        let fields = bytes[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        type = BoxType(code: UInt32(truncatingIfNeeded: fields))
        guard Self.types.contains(type) else { return nil }
        end = offset + Int(fields >> 32)
        isLong = fields >> 32 < 8
    }

    /// Whether the size is 0 or 1: up to the end, or a field of 64 bits.
    private let isLong: Bool

    var beginsSegment: Bool { !Self.unlikelyTypes.contains(type) }

    /// Whether another box or the end of the bytes follows.
    func isFollowed(in bytes: [UInt8]) -> Bool {
        guard beginsSegment, !isLong, end <= bytes.count else { return false }
        return end == bytes.count || BoxHeader(bytes, at: end) != nil
    }
}

/// Detection of audio frames without a container.
extension AudioFraming {
    /// Bytes before the first frame that are searched: the rest of a frame, padding, a tag of another kind.
    private static let longestLead = LocatedMedia.longestPrefix
    /// Frames in a row that count as audio after other bytes.
    private static let framesAfterLead = 4

    /// Detects the framing: two frames begin at `offset`, or one that ends with the bytes or before an ID3 tag.
    static func sniff(_ bytes: [UInt8], at offset: Int) -> AudioFraming? {
        [.mpeg, .ac3].first { framing in
            let found = framing.frames(2, in: bytes, at: offset)
            guard found.count == 1 else { return found.count == 2 }
            return found.end == bytes.count || ID3Tags.begins(bytes, at: found.end)
        }
    }

    /// Finds the first frame: at `offset`, or after other bytes, where several frames follow one another.
    static func find(_ bytes: [UInt8], from offset: Int) -> (framing: AudioFraming, offset: Int)? {
        if let framing = sniff(bytes, at: offset) { return (framing, offset) }
        for start in offset..<max(offset, min(bytes.count, offset + longestLead)) {
            guard begins(bytes, at: start, with: bytes[start]) else { continue }
            return syncFraming(bytes[start]).map { ($0, start) }
        }
        return nil
    }

    /// Whether several frames follow one another at `offset`, where `byte` is.
    static func begins(_ bytes: [UInt8], at offset: Int, with byte: UInt8) -> Bool {
        guard let framing = syncFraming(byte) else { return false }
        return framing.frames(framesAfterLead, in: bytes, at: offset).count == framesAfterLead
    }

    /// Whether frames fill the bytes from `offset` on.
    static func fills(_ bytes: [UInt8], from offset: Int) -> Bool {
        guard offset < bytes.count, let framing = syncFraming(bytes[offset]) else { return false }
        let found = framing.frames(.max, in: bytes, at: offset)
        return found.count >= framesAfterLead && found.end == bytes.count
    }

    private static func syncFraming(_ byte: UInt8) -> AudioFraming? {
        byte == 0xFF ? .mpeg : byte == 0x0B ? .ac3 : nil
    }

    /// Returns how many headers follow one another from `offset` on, up to `limit`, and where the last frame ends.
    private func frames(_ limit: Int, in bytes: [UInt8], at offset: Int) -> (count: Int, end: Int) {
        var (count, end) = (0, offset)
        while count < limit, case .frame(let header) = header(bytes, at: end, end: bytes.count) {
            count += 1
            end += header.size
        }
        return (count, end)
    }
}
