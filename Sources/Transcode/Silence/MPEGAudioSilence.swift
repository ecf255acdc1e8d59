import Media

/// Frames of MPEG audio layer III that hold no sound (ISO/IEC 11172-3 §2.4.1, ISO/IEC 13818-3 §2.4.1).
enum MPEGAudioSilence {
    /// A frame of the lowest bit rate whose side information is zero: nothing of it, and nothing in front of it, is
    /// decoded. Nil for a rate that the standard does not have.
    static func frame(sampleRate: Int, channelCount: Int) -> [UInt8]? {
        guard let version = versions.first(where: { $0.rates.contains(sampleRate) }),
            let rateIndex = version.rates.firstIndex(of: sampleRate)
        else { return nil }
        let mode = channelCount == 1 ? 3 : 0
        let header = [0xFF, 0xE0 | version.code << 3 | 0b011, 1 << 4 | rateIndex << 2, mode << 6]
        let size = version.eighthOfSamples * version.lowestBitRate / sampleRate
        return header.map { UInt8($0) } + Array(repeating: 0, count: size - header.count)
    }

    private struct Version {
        let code: Int
        let rates: [Int]
        /// Bit/s of bit rate index 1.
        let lowestBitRate: Int
        /// Of a frame.
        let eighthOfSamples: Int
    }

    private static let versions = [
        Version(code: 3, rates: [44_100, 48_000, 32_000], lowestBitRate: 32_000, eighthOfSamples: 144),
        Version(code: 2, rates: [22_050, 24_000, 16_000], lowestBitRate: 8_000, eighthOfSamples: 72),
        Version(code: 0, rates: [11_025, 12_000, 8_000], lowestBitRate: 8_000, eighthOfSamples: 72),
    ]
}
