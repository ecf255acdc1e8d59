import Media

/// Frame headers by framing.
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
}
