import Media

/// What a PES packet carries. It begins an access unit.
enum PESPayload {
    /// NAL units, each prefixed with its length in four bytes, in the byte stream format after a delimiter.
    case accessUnit(ArraySlice<UInt8>, VideoConfiguration.Codec)
    /// Audio frames, each after `header` if there is one.
    case audio(ArraySlice<TransportMedia.AudioFrame>, ADTSHeader?)
    case bytes(ArraySlice<UInt8>)

    /// Bytes that `append` appends.
    var byteCount: Int {
        switch self {
        case .accessUnit(let sample, let codec):
            AnnexBAccessUnit.delimiter(codec).count + AnnexBAccessUnit.byteCount(of: sample)
        case .audio(let frames, let header):
            frames.reduce(0) { $0 + (header == nil ? 0 : ADTSHeader.byteCount) + $1.payload.count }
        case .bytes(let bytes): bytes.count
        }
    }

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .accessUnit(let sample, let codec):
            bytes += AnnexBAccessUnit.delimiter(codec)
            AnnexBAccessUnit.append(sample, to: &bytes)
        case .audio(let frames, let header):
            for frame in frames {
                if let header { bytes += header.bytes(forFrameOf: frame.payload.count) }
                bytes += frame.payload
            }
        case .bytes(let payload): bytes += payload
        }
    }
}

/// Writes a PES packet (ISO/IEC 13818-1 §2.4.3.6), whose size is known before its bytes are made.
struct PESPacketWriter {
    enum StreamID: UInt8 {
        case video = 0xE0
        case audio = 0xC0
        /// AC-3, E-AC-3, timed ID3 and private data.
        case private1 = 0xBD
    }

    /// The largest payload of a packet that states its length and has a PTS only.
    static let longestPayload = 0xFFFF - 8

    /// PES_header_data_length of teletext (ETSI EN 300 472 §4.2).
    static let teletextFieldSize = 0x24

    private let streamID: StreamID
    private let presentationTime: Ticks
    /// nil if it is the presentation time.
    private let decodeTime: Ticks?
    /// PES_header_data_length: the timestamps, and stuffing after them.
    private let fieldSize: Int
    /// Bytes of the payload. More than `longestPayload` are for video only.
    let payloadSize: Int
    private let payload: PESPayload

    /// - Parameters:
    ///   - decodeTime: nil if it is the presentation time.
    ///   - fieldSize: the least PES_header_data_length.
    init(
        _ streamID: StreamID, presentationTime: Ticks, decodeTime: Ticks? = nil, fieldSize: Int = 0,
        _ payload: PESPayload
    ) {
        self.streamID = streamID
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime == presentationTime ? nil : decodeTime
        self.fieldSize = max(fieldSize, self.decodeTime == nil ? 5 : 10)
        payloadSize = payload.byteCount
        self.payload = payload
    }

    var headerSize: Int { 9 + fieldSize }

    /// Appends the packet.
    func append(to bytes: inout [UInt8]) {
        let length = streamID == .video ? 0 : 3 + fieldSize + payloadSize
        let end = bytes.count + headerSize
        bytes += [
            0, 0, 1, streamID.rawValue, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
        ]
        // data_alignment_indicator 1; PTS_DTS_flags.
        bytes += [0x84, decodeTime == nil ? 0x80 : 0xC0, UInt8(fieldSize)]
        bytes += Self.timestamp(presentationTime, prefix: decodeTime == nil ? 2 : 3)
        if let decodeTime { bytes += Self.timestamp(decodeTime, prefix: 1) }
        bytes += repeatElement(0xFF, count: end - bytes.count)
        payload.append(to: &bytes)
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
