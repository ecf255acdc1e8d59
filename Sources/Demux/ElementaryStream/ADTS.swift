import Media

/// The header of an AAC frame in a byte stream (ISO/IEC 14496-3 §1.A.3.2, ISO/IEC 13818-7 §6.2).
enum ADTS {
    /// sampling_frequency_index (ISO/IEC 14496-3 Table 1.18), Hz.
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    /// channel_configuration (ISO/IEC 14496-3 Table 1.19); 0: a program_config_element says it.
    static let channelCounts = [0, 1, 2, 3, 4, 5, 6, 8]

    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard bytes[offset + 1] & 0xF6 == 0xF0 else { return .none }
        guard offset + 7 <= end else { return .needsMore }
        let isProtected = bytes[offset + 1] & 1 == 0
        let profile = Int(bytes[offset + 2] >> 6)
        let frequencyIndex = Int(bytes[offset + 2] >> 2 & 0x0F)
        let channels = Int(bytes[offset + 2] & 1) << 2 | Int(bytes[offset + 3] >> 6)
        let size =
            Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
        let blocks = Int(bytes[offset + 6] & 3) + 1
        // Behind the fixed header: the positions of all blocks but the first, and the CRC.
        let headerSize = isProtected ? 7 + 2 * blocks : 7
        guard frequencyIndex < sampleRates.count, size > headerSize else { return .none }
        let format = AudioFrameHeader.Format(
            codec: .aac, sampleRate: sampleRates[frequencyIndex], channelCount: channelCounts[channels],
            samplesPerFrame: blocks * 1024,
            specific: UInt64(profile + 1) << 11 | UInt64(frequencyIndex) << 7 | UInt64(channels) << 3, specificSize: 2)
        // With protection, each of several blocks is followed by a CRC of its own that no sample may hold.
        let use = isProtected && blocks > 1 ? AudioFrameHeader.Use.undecodable : .packet
        return .frame(
            AudioFrameHeader(size: size, headerSize: headerSize, format: format, use: use))
    }
}
