import Media

/// Opus packets of which every frame says no more than that it is silent (RFC 6716 §4.3, Table 56).
enum OpusSilence {
    /// The range coder's first bits, all ones: the silence flag.
    private static let frame: [UInt8] = [0xFF, 0xFE]
    /// Full band CELT of 2.5, 5, 10 and 20 ms: samples at 48 kHz and the number of the configuration (§3.1, Table 2).
    private static let configurations: [Int: UInt8] = [120: 28, 240: 29, 480: 30, 960: 31]
    private static let longestFrame = 960
    /// 120 ms.
    private static let mostFrames = 6

    /// - Returns: nil for a length that no packet has, and for a mapping of several streams.
    static func packet(_ configuration: AudioConfiguration) -> [UInt8]? {
        let (samples, info) = (configuration.samplesPerFrame, configuration.decoderSpecificInfo)
        guard info.count > 10, info[10] == 0 else { return nil }  // ChannelMappingFamily
        let stereo: UInt8 = configuration.channelCount == 2 ? 0x04 : 0
        if let number = configurations[samples] { return [number << 3 | stereo] + frame }
        let count = samples / longestFrame
        guard samples.isMultiple(of: longestFrame), (2...mostFrames).contains(count) else { return nil }
        // Code 3: so many frames of equal size (§3.2.5).
        return [31 << 3 | stereo | 3, UInt8(count)] + Array(repeating: frame, count: count).joined()
    }
}
