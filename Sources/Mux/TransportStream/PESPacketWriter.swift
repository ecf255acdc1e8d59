import Media

/// Writes a PES packet (ISO/IEC 13818-1 §2.4.3.6), whose size is known before its bytes are made.
struct PESPacketWriter {
    enum StreamID: UInt8 {
        case video = 0xE0
        case audio = 0xC0
        /// AC-3, E-AC-3, timed ID3 and private data.
        case private1 = 0xBD
    }

    /// The largest payload of a packet that states its length and contains only a PTS.
    static let longestPayload = 0xFFFF - 8

    /// PES_header_data_length of teletext (ETSI EN 300 472 §4.2).
    static let teletextFieldSize = 0x24

    private let streamID: StreamID
    private let presentationTime: Ticks
    /// nil if the decode time equals the presentation time.
    private let decodeTime: Ticks?
    /// PES_header_data_length: the timestamps, and stuffing after them.
    private let fieldSize: Int
    /// Number of bytes that `appendPayload` appends. Only video may exceed `longestPayload`.
    let payloadSize: Int
    /// Appends the payload, which begins an access unit.
    private let appendPayload: (inout [UInt8]) -> Void

    /// - Parameters:
    ///   - decodeTime: nil if it equals the presentation time.
    ///   - fieldSize: the least value of PES_header_data_length.
    ///   - payloadSize: bytes that `appendPayload` appends.
    init(
        _ streamID: StreamID, presentationTime: Ticks, decodeTime: Ticks? = nil, fieldSize: Int = 0,
        payloadSize: Int,
        _ appendPayload: @escaping (inout [UInt8]) -> Void
    ) {
        self.streamID = streamID
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime == presentationTime ? nil : decodeTime
        self.fieldSize = max(fieldSize, self.decodeTime == nil ? 5 : 10)
        self.payloadSize = payloadSize
        self.appendPayload = appendPayload
    }

    var headerSize: Int { 9 + fieldSize }

    var bytes: [UInt8] {
        let length = streamID == .video ? 0 : 3 + fieldSize + payloadSize
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerSize + payloadSize)
        bytes += [
            0, 0, 1, streamID.rawValue, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
        ]
        // data_alignment_indicator 1; PTS_DTS_flags.
        bytes += [0x84, decodeTime == nil ? 0x80 : 0xC0, UInt8(fieldSize)]
        bytes += Self.timestamp(presentationTime, prefix: decodeTime == nil ? 2 : 3)
        if let decodeTime { bytes += Self.timestamp(decodeTime, prefix: 1) }
        bytes += repeatElement(0xFF, count: headerSize - bytes.count)
        appendPayload(&bytes)
        return bytes
    }

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
