import Media

/// The containers of media segments (RFC 8216 §3.2–§3.4).
package enum SegmentContainer: Equatable, Sendable {
    case transportStream, fragmentedMP4, packedAudio

    private static let boxTypes: Set<String> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "free", "skip", "mdat", "uuid", "meta",
    ]

    /// Detects the container by the first bytes; nil if they are none of the three.
    package static func sniff(_ bytes: [UInt8]) -> SegmentContainer? {
        if bytes.count >= 8, boxTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self)) { return .fragmentedMP4 }
        let audio = ID3Tags(bytes).end
        if bytes.starts(with: Array("ID3".utf8)) { return .packedAudio }
        if PacketSync(bytes)?.blocks.first.map({ $0.start <= 2 * $0.stride }) ?? false { return .transportStream }
        if AudioFraming.sniff(bytes, at: audio) != nil { return .packedAudio }
        if PacketSync(bytes) != nil { return .transportStream }
        return AudioFraming.find(bytes, from: audio) == nil ? nil : .packedAudio
    }
}
