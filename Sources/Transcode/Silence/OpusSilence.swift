import Media

/// Builds Opus packets whose frames contain only the silence flag (RFC 6716 §4.3, Table 56).
enum OpusSilence {
    /// A CELT frame: the first bits of the range coder are all ones, which sets the silence flag.
    private static let frame: [UInt8] = [0xFF, 0xFE]
    /// Configuration numbers of full-band CELT by samples at 48 kHz: 2.5, 5, 10 and 20 ms (§3.1, Table 2).
    private static let configurations: [Int: UInt8] = [120: 28, 240: 29, 480: 30, 960: 31]
    private static let longestFrame = 960
    /// Frames in the longest packet, 120 ms.
    private static let maxFramesPerPacket = 6

    /// Builds a silent packet.
    /// - Returns: nil for a length that no packet can have, and for a channel mapping of several streams.
    static func packet(_ configuration: AudioConfiguration) -> [UInt8]? {
        let (samples, info) = (configuration.samplesPerFrame, configuration.decoderSpecificInfo)
        guard info.count > 10, info[10] == 0 else { return nil }  // ChannelMappingFamily
        let stereo: UInt8 = configuration.channelCount == 2 ? 0x04 : 0
        if let number = configurations[samples] { return [number << 3 | stereo] + frame }
        let count = samples / longestFrame
        guard samples.isMultiple(of: longestFrame), (2...maxFramesPerPacket).contains(count) else { return nil }
        // Code 3: a number of frames of equal size (§3.2.5).
        return [31 << 3 | stereo | 3, UInt8(count)] + Array(repeating: frame, count: count).joined()
    }
}
