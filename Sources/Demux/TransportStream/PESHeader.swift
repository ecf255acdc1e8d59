import Media

/// The header of a PES packet (ISO/IEC 13818-1 §2.4.3.7).
struct PESHeader: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        case header(PESHeader)
        case needsMore
        /// No start code, or a stream_id without this header.
        case malformed
    }

    let streamID: UInt8
    /// Bytes from packet_start_code_prefix to the payload.
    let size: Int
    /// Bytes of payload; nil if unbounded, up to the start of the next PES packet; negative if the header is longer than
    /// PES_packet_length says.
    let payloadSize: Int?
    /// 0 ..< 2³³; nil if absent or if a marker bit is wrong.
    let pts: Ticks?
    /// The decoding time; equal to `pts` if the header has only that.
    let dts: Ticks?

    /// Whether a PES packet begins with `bytes`, as far as they go. Scrambled payload looks so once in 2²⁴ times.
    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        switch read(bytes) {
        case .header: true
        case .needsMore: bytes.count >= 4 && bytes.starts(with: [0, 0, 1])
        case .malformed: false
        }
    }

    static func read(_ bytes: ArraySlice<UInt8>) -> Outcome {
        guard bytes.count >= 9 else {
            return bytes.starts(with: [0, 0, 1].prefix(bytes.count)) ? .needsMore : .malformed
        }
        let base = bytes.startIndex
        guard bytes[base] == 0, bytes[base + 1] == 0, bytes[base + 2] == 1, bytes[base + 6] & 0xC0 == 0x80 else {
            return .malformed
        }
        let size = 9 + Int(bytes[base + 8])
        let packetLength = Int(bytes[base + 4]) << 8 | Int(bytes[base + 5])
        guard bytes.count >= size else { return .needsMore }
        let flags = bytes[base + 7] >> 6
        guard size >= 9 + [0, 0, 5, 10][Int(flags)] else { return .malformed }
        let pts = flags & 2 == 0 ? nil : timestamp(bytes, at: base + 9)
        let dts = flags == 3 ? timestamp(bytes, at: base + 14) : pts
        return .header(
            PESHeader(
                streamID: bytes[base + 3], size: size,
                payloadSize: packetLength == 0 ? nil : packetLength + 6 - size, pts: pts, dts: dts))
    }

    /// Reads 33 bits from five bytes; a marker bit follows each of the three parts.
    private static func timestamp(_ bytes: ArraySlice<UInt8>, at offset: Int) -> Ticks? {
        guard bytes[offset] & bytes[offset + 2] & bytes[offset + 4] & 1 == 1 else { return nil }
        let high = Int64(bytes[offset] >> 1 & 7) << 30
        let middle = Int64(bytes[offset + 1]) << 22 | Int64(bytes[offset + 2] >> 1) << 15
        let low = Int64(bytes[offset + 3]) << 7 | Int64(bytes[offset + 4] >> 1)
        return Ticks(high | middle | low)
    }
}
