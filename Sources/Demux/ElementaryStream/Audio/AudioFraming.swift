import Media

/// The framing of an audio byte stream. The codec follows from the header of each frame, so a stream announced as MPEG
/// audio may carry ADTS, and the reverse.
package enum AudioFraming: Hashable, Sendable {
    /// ADTS (ISO/IEC 13818-7 §6.2) and MPEG-1/2 audio (ISO/IEC 11172-3 §2.4.1.3), distinguished by their layer field.
    case mpeg
    /// AC-3 and E-AC-3 (ETSI TS 102 366), distinguished by bsid.
    case ac3
    /// MPEG-4 audio in LOAS frames (ISO/IEC 14496-3 §1.7).
    case loas
    /// DTS core frames with or without extensions (ETSI TS 102 114).
    case dts
    /// A PES packet of PCM (SMPTE 302M).
    case smpte302
    /// A PES packet of PCM (Blu-ray Disc).
    case blurayPCM

    /// Whether frames have no syncword; each PES packet is one frame.
    var isOneFramePerPacket: Bool { self == .smpte302 || self == .blurayPCM }

    /// Whether fMP4 can carry codecs of this framing; audio of other framings must be transcoded.
    var isCarriedInMP4: Bool {
        switch self {
        case .mpeg, .ac3, .loas: true
        case .dts, .smpte302, .blurayPCM: false
        }
    }
}

extension AudioFraming {
    /// Reads the header at `offset`; bytes from `end` on do not exist.
    func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 2 <= end else { return offset < end && isFirstByte(bytes[offset]) ? .needsMore : .none }
        switch self {
        case .mpeg:
            guard bytes[offset] == 0xFF, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
            return bytes[offset + 1] & 0x06 == 0
                ? ADTS.header(bytes, at: offset, end: end) : MPEGAudio.header(bytes, at: offset, end: end)
        case .ac3:
            guard bytes[offset] == 0x0B, bytes[offset + 1] == 0x77 else { return .none }
            return AC3.header(bytes, at: offset, end: end)
        case .loas: return LOAS.header(bytes, at: offset, end: end)
        case .dts: return DTS.header(bytes, at: offset, end: end)
        case .smpte302: return PCMPacket.smpte302(bytes, at: offset, end: end)
        case .blurayPCM: return PCMPacket.bluray(bytes, at: offset, end: end)
        }
    }

    private func isFirstByte(_ byte: UInt8) -> Bool {
        switch self {
        case .mpeg: byte == 0xFF
        case .ac3: byte == 0x0B
        case .loas: byte == 0x56
        case .dts: DTS.isFirstByte(byte)
        case .smpte302, .blurayPCM: true
        }
    }

    /// Detects the framing: two frames begin at `offset`, or one that ends with the bytes.
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
