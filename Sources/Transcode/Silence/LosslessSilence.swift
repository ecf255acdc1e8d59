import Media

/// Frames of zeros in the two codecs that lose nothing: short enough to write by hand, at any depth and length.
enum LosslessSilence {
    /// A frame of constant subframes (RFC 9639 §9); rate and depth are those of STREAMINFO.
    /// - Returns: nil when the configuration is not one of FLAC, or its block is longer than a frame can say.
    static func flac(_ configuration: AudioConfiguration) -> [UInt8]? {
        let samples = configuration.samplesPerFrame
        guard (1...8).contains(configuration.channelCount), (1...65_536).contains(samples) else { return nil }
        var bits = BitWriter()
        bits.append(0xFFF8, bits: 16)  // sync code, fixed block size
        bits.append(7, bits: 4)  // block size in 16 bits behind the number
        bits.append(0, bits: 4)
        bits.append(configuration.channelCount - 1, bits: 4)
        bits.append(0, bits: 4 + 8)  // depth of STREAMINFO; number 0: what counts in MP4 is the sample's time
        bits.append(samples - 1, bits: 16)
        bits.append(checksum(bits.bytes, polynomial: 0x07, width: 8), bits: 8)
        for _ in 0..<configuration.channelCount {
            bits.append(0, bits: 8)  // SUBFRAME_CONSTANT, no wasted bits
            bits.append(0, bits: Int(configuration.sampleSize))
        }
        let frame = bits.bytes
        let check = checksum(frame, polynomial: 0x8005, width: 16)
        return frame + [UInt8(check >> 8), UInt8(check & 0xFF)]
    }

    /// A frame of one uncompressed element, as the format has it for what does not compress.
    /// - Returns: nil for more than two channels, which need elements of several kinds.
    static func alac(_ configuration: AudioConfiguration) -> [UInt8]? {
        let (channels, samples) = (configuration.channelCount, configuration.samplesPerFrame)
        guard (1...2).contains(channels), (1...16_384).contains(samples) else { return nil }
        var bits = BitWriter()
        bits.append(channels - 1, bits: 3)  // ID_SCE or ID_CPE
        bits.append(0, bits: 4 + 12)
        bits.append(0, bits: 1 + 2)  // a whole frame, nothing shifted off
        bits.append(1, bits: 1)  // not compressed
        for _ in 0..<samples * channels { bits.append(0, bits: Int(configuration.sampleSize)) }
        bits.append(7, bits: 3)  // ID_END
        return bits.bytes
    }

    /// A CRC without reflection, from 0 (RFC 9639 §9.1.8, §9.3).
    private static func checksum(_ bytes: [UInt8], polynomial: Int, width: Int) -> Int {
        let top = 1 << (width - 1)
        var remainder = 0
        for byte in bytes {
            remainder ^= Int(byte) << (width - 8)
            for _ in 0..<8 {
                remainder = remainder & top == 0 ? remainder << 1 : (remainder << 1) ^ polynomial
                remainder &= (top << 1) - 1
            }
        }
        return remainder
    }
}
