import Media

/// Builds silent FLAC frames of any bit depth and length without an encoder.
enum LosslessSilence {
    /// Builds a FLAC frame of constant subframes (RFC 9639 §9) with the rate and bit depth of STREAMINFO.
    /// - Returns: nil if the configuration is not valid for FLAC, or its block is longer than a frame header can state.
    static func flac(_ configuration: AudioConfiguration) -> [UInt8]? {
        let samples = configuration.samplesPerFrame
        guard (1...8).contains(configuration.channelCount), (1...65_536).contains(samples) else { return nil }
        var bits = BitWriter()
        bits.append(0xFFF8, bits: 16)  // sync code, fixed block size
        bits.append(7, bits: 4)  // the block size follows the frame number, in 16 bits
        bits.append(0, bits: 4)
        bits.append(configuration.channelCount - 1, bits: 4)
        bits.append(0, bits: 4 + 8)  // bit depth of STREAMINFO; frame number 0, because MP4 uses the sample's time
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

    /// Computes a CRC without reflection and with initial value 0 (RFC 9639 §9.1.8, §9.3).
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
