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
}

/// Frame headers by framing.
extension AudioFraming {
    /// Reads the header at `offset`; bytes from `end` on do not exist.
    func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 2 <= end else { return offset < end && bytes[offset] == firstByte ? .needsMore : .none }
        switch self {
        case .mpeg:
            guard bytes[offset] == firstByte, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
            return bytes[offset + 1] & 0x06 == 0
                ? ADTS.header(bytes, at: offset, end: end) : MPEGAudio.header(bytes, at: offset, end: end)
        case .ac3:
            guard bytes[offset] == firstByte, bytes[offset + 1] == 0x77 else { return .none }
            return AC3.header(bytes, at: offset, end: end)
        case .loas: return LOAS.header(bytes, at: offset, end: end)
        }
    }

    /// The first byte of the syncword.
    private var firstByte: UInt8 {
        switch self {
        case .mpeg: 0xFF
        case .ac3: 0x0B
        case .loas: 0x56
        }
    }
}
