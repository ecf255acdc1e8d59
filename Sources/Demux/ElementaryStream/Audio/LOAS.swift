import Media

/// The synchronization layer of MPEG-4 audio (ISO/IEC 14496-3 §1.7.2, AudioSyncStream): eleven bits of syncword and
/// thirteen bits of length before one AudioMuxElement.
enum LOAS {
    static let headerSize = 3
    /// A placeholder: the header does not describe the audio inside, so all headers have the same format.
    private static let format = AudioFrameHeader.Format(
        codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024)

    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard bytes[offset] == 0x56, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
        guard offset + headerSize <= end else { return .needsMore }
        let size = headerSize + (Int(bytes[offset + 1] & 0x1F) << 8 | Int(bytes[offset + 2]))
        return size > headerSize
            ? .frame(AudioFrameHeader(size: size, headerSize: headerSize, format: format)) : .none
    }
}
