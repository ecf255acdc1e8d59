import Media

/// The containers a media segment can come in (RFC 8216 §3.2–§3.4).
package enum SegmentContainer: Equatable, Sendable {
    case transportStream, fragmentedMP4, packedAudio

    private static let boxTypes: Set<String> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "free", "skip", "mdat", "uuid", "meta",
    ]

    /// Tells a segment by its first bytes; nil when they are none of the three.
    package static func sniff(_ bytes: [UInt8]) -> SegmentContainer? {
        if bytes.count >= 8, boxTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self)) { return .fragmentedMP4 }
        let audio = ID3Tags(bytes).end
        if bytes.starts(with: Array("ID3".utf8)) { return .packedAudio }
        if PacketSync(bytes)?.blocks.first.map({ $0.start <= 2 * $0.stride }) ?? false { return .transportStream }
        if AudioFraming.sniff(bytes, at: audio) != nil { return .packedAudio }
        return PacketSync(bytes) == nil ? nil : .transportStream
    }
}

extension AudioFraming {
    /// The framing of which two frames stand at `offset`, or one that ends with the bytes.
    static func sniff(_ bytes: [UInt8], at offset: Int) -> AudioFraming? {
        [.mpeg, .ac3].first { framing in
            guard case .frame(let header) = framing.header(bytes, at: offset, end: bytes.count) else { return false }
            let next = offset + header.size
            if next >= bytes.count { return next == bytes.count }
            guard case .frame = framing.header(bytes, at: next, end: bytes.count) else { return false }
            return true
        }
    }
}
