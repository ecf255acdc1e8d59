import Media

/// Writes PES packets (ISO/IEC 13818-1 §2.4.3.6).
enum PESPacketWriter {
    enum StreamID: UInt8 {
        case video = 0xE0
        case audio = 0xC0
        /// AC-3, E-AC-3 and timed ID3.
        case private1 = 0xBD
    }

    /// The largest payload of a packet that states its length and has a PTS only.
    static let longestPayload = 0xFFFF - 8

    /// A packet with its payload.
    /// - Parameters:
    ///   - decodeTime: nil if it is the presentation time.
    ///   - payloadSize: bytes that `appendPayload` appends. More than `longestPayload` are for video only.
    ///   - appendPayload: appends the payload, which begins an access unit.
    static func packet(
        _ streamID: StreamID, presentationTime: Ticks, decodeTime: Ticks? = nil, payloadSize: Int,
        _ appendPayload: (inout [UInt8]) -> Void
    ) -> [UInt8] {
        let hasDecodeTime = decodeTime.map { $0 != presentationTime } ?? false
        let fieldSize = hasDecodeTime ? 10 : 5
        let length = streamID == .video ? 0 : 3 + fieldSize + payloadSize
        var bytes: [UInt8] = []
        bytes.reserveCapacity(9 + fieldSize + payloadSize)
        bytes += [
            0, 0, 1, streamID.rawValue, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
        ]
        // data_alignment_indicator 1; PTS_DTS_flags.
        bytes += [0x84, hasDecodeTime ? 0xC0 : 0x80, UInt8(fieldSize)]
        bytes += timestamp(presentationTime, prefix: hasDecodeTime ? 3 : 2)
        if hasDecodeTime, let decodeTime { bytes += timestamp(decodeTime, prefix: 1) }
        appendPayload(&bytes)
        return bytes
    }

    /// Size of a packet's header by its PES_header_data_length.
    static func headerSize(of packet: [UInt8]) -> Int { 9 + Int(packet[8]) }

    /// 33 bits in five bytes; a marker bit follows each of the three parts.
    static func timestamp(_ time: Ticks, prefix: UInt8) -> [UInt8] {
        let wire = time.wire.count
        return [
            prefix << 4 | UInt8(wire >> 30) << 1 | 1,
            UInt8(truncatingIfNeeded: wire >> 22), UInt8(truncatingIfNeeded: wire >> 14) | 1,
            UInt8(truncatingIfNeeded: wire >> 7), UInt8(truncatingIfNeeded: wire << 1) | 1,
        ]
    }
}
