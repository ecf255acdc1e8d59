import Media

/// The ADTS header of an AAC frame (ISO/IEC 14496-3 §1.A.3.2, ISO/IEC 13818-7 §6.2).
enum ADTS {
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
        // The positions of all blocks except the first, and the CRC, follow the fixed header.
        let headerSize = isProtected ? 7 + 2 * blocks : 7
        let sampleRates = AudioSpecificConfig.samplingFrequencies
        guard frequencyIndex < sampleRates.count, size > headerSize else { return .none }
        let format = AudioFrameHeader.Format(
            codec: .aac, sampleRate: sampleRates[frequencyIndex],
            channelCount: AudioSpecificConfig.channelCounts[channels],
            samplesPerFrame: blocks * 1024,
            specific: UInt64(profile + 1) << 11 | UInt64(frequencyIndex) << 7 | UInt64(channels) << 3, specificSize: 2)
        // If there are several protected blocks, each has its own CRC, which no sample may contain.
        let use = isProtected && blocks > 1 ? AudioFrameHeader.Use.undecodable : .packet
        return .frame(
            AudioFrameHeader(size: size, headerSize: headerSize, format: format, use: use))
    }
}
