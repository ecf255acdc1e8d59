package import Media

/// The containers of media segments (RFC 8216 §3.2–§3.4).
package enum SegmentContainer: Equatable, Sendable {
    case transportStream, fragmentedMP4, packedAudio

    private static let boxTypes: Set<String> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "free", "skip", "mdat", "uuid", "meta",
    ]

    /// Detects the container by the first bytes; nil if they are none of the three.
    package static func sniff(_ bytes: [UInt8]) throws(MediaError) -> SegmentContainer? {
        if bytes.count >= 8, boxTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self)) { return .fragmentedMP4 }
        if bytes.starts(with: "ID3".utf8) { return .packedAudio }
        let packets = try PacketSync.detect(bytes)
        if let packets, packets.first <= 2 * packets.stride { return .transportStream }
        if AudioFraming.sniff(bytes, at: 0) != nil { return .packedAudio }
        if packets != nil { return .transportStream }
        return AudioFraming.find(bytes, from: 0) == nil ? nil : .packedAudio
    }
}
