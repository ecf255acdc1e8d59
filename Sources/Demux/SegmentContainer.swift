package import Media

/// The containers of media segments (RFC 8216 §3.2–§3.4).
package enum SegmentContainer: Equatable, Sendable {
    case transportStream, fragmentedMP4, packedAudio

    private static let boxTypes: Set<String> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "free", "skip", "mdat", "uuid", "meta",
    ]

    /// Detects the container of a segment.
    ///
    /// - Parameters:
    ///   - initialization: the section with which it is read.
    ///   - isRange: whether the segment is known to be a part of a file. A part of a plain MP4 file may begin with any bytes.
    package static func detect(
        _ bytes: [UInt8], initialization: [UInt8]?, isRange: Bool
    ) throws(MediaError) -> SegmentContainer? {
        if isRange, let initialization, Movie.isPlain(initialization) { return .fragmentedMP4 }
        return try sniff(bytes)
    }

    /// Whether `bytes` begin as boxes do.
    package static func isFragmentedMP4(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && boxTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self))
    }

    /// Detects the container by the first bytes; nil if they are none of the three.
    package static func sniff(_ bytes: [UInt8]) throws(MediaError) -> SegmentContainer? {
        if isFragmentedMP4(bytes) { return .fragmentedMP4 }
        if bytes.starts(with: Array("ID3".utf8)) { return .packedAudio }
        let packet = try PacketSync.firstPacket(in: bytes)
        if let packet, packet <= 2 * PacketStride.packetSize { return .transportStream }
        if AudioFraming.sniff(bytes, at: 0) != nil { return .packedAudio }
        if packet != nil { return .transportStream }
        return AudioFraming.find(bytes, from: 0) == nil ? nil : .packedAudio
    }
}

/// Detection of audio frames without a container.
extension AudioFraming {
    /// Bytes before the first frame that are searched: the rest of a frame, padding, a tag of another kind.
    private static let longestLead = 1 << 16
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
            guard let framing = syncFraming(bytes[start]) else { continue }
            if framing.frames(framesAfterLead, in: bytes, at: start).count == framesAfterLead {
                return (framing, start)
            }
        }
        return nil
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
