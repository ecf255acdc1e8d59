/// The synchronisation layer of MPEG-4 audio (ISO/IEC 14496-3 §1.7.2, AudioSyncStream).
enum LOAS {
    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard bytes[offset] == 0x56, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
        return .none
    }
}
