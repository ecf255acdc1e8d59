import Media

/// The header of an MPEG-1 or MPEG-2 audio frame (ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.1.3).
enum MPEGAudio {
    /// Bit rates in kbit/s by bitrate_index. The first stands for free format, which does not state its length and is
    /// not supported.
    private static let bitRates: [[Int]] = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],  // MPEG-1 layer I
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],  // MPEG-1 layer II
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],  // MPEG-1 layer III
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],  // MPEG-2 layer I
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],  // MPEG-2 layers II and III
    ]
    private static let sampleRates = [44_100, 48_000, 32_000]

    /// - Precondition: The eleven bits of the syncword are at `offset`, and the layer is not 0.
    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 4 <= end else { return .needsMore }
        let version = bytes[offset + 1] >> 3 & 3  // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
        let layer = 4 - Int(bytes[offset + 1] >> 1 & 3)
        let bitRateIndex = Int(bytes[offset + 2] >> 4)
        let rateIndex = Int(bytes[offset + 2] >> 2 & 3)
        guard version != 1, bitRateIndex != 0, bitRateIndex != 15, rateIndex != 3 else { return .none }
        let isFirstVersion = version == 3
        let row = isFirstVersion ? layer - 1 : layer == 1 ? 3 : 4
        let bitRate = bitRates[row][bitRateIndex] * 1000
        let sampleRate = sampleRates[rateIndex] / (isFirstVersion ? 1 : version == 2 ? 2 : 4)
        let padding = Int(bytes[offset + 2] >> 1 & 1)
        let samples = layer == 1 ? 384 : layer == 3 && !isFirstVersion ? 576 : 1152
        let size =
            layer == 1
            ? (12 * bitRate / sampleRate + padding) * 4 : samples / 8 * bitRate / sampleRate + padding
        let isMono = bytes[offset + 3] >> 6 == 3
        guard let rate = SampleRate(sampleRate) else { return .none }
        let format = AudioFrameHeader.Format(
            codec: .mpegAudio(layer: layer), sampleRate: rate, channelCount: isMono ? 1 : 2,
            samplesPerFrame: samples)
        return .frame(AudioFrameHeader(size: size, headerSize: 0, format: format))
    }
}
