import Media

/// The ADTS header of an AAC track (ISO/IEC 14496-3 §1.A.2.2). HE-AAC is described as its core, so SBR is implicit.
struct ADTSHeader: Equatable, Sendable {
    static let byteCount = 7
    /// aac_frame_length has 13 bits.
    static let longestFrame = 0x1FFF - byteCount
    private static let samplesPerBlock = 1024

    private let objectType: Int
    private let frequencyIndex: Int
    private let channelConfiguration: Int
    /// Raw data blocks of a frame, 1 ... 4.
    private let blocks: Int

    /// nil if ADTS cannot describe the configuration: another object type, frames of 960 samples, a rate without an
    /// index, or more channels than the header can state.
    init?(_ configuration: AudioConfiguration) {
        guard configuration.codec == .aac, let config = try? AudioSpecificConfig(configuration.decoderSpecificInfo),
            (1...4).contains(config.audioObjectType),
            config.samplesPerFrame ?? Self.samplesPerBlock == Self.samplesPerBlock,
            (1...4).contains(where: { $0 * Self.samplesPerBlock == configuration.samplesPerFrame }),
            let index = AudioSpecificConfig.samplingFrequencies.firstIndex(of: config.samplingFrequency),
            (0...7).contains(config.channelConfiguration)
        else { return nil }
        objectType = config.audioObjectType
        frequencyIndex = index
        channelConfiguration = config.channelConfiguration
        blocks = configuration.samplesPerFrame / Self.samplesPerBlock
    }

    /// The header of one frame.
    /// - Parameter size: size of the raw data blocks in bytes, at most `longestFrame`.
    func bytes(forFrameOf size: Int) -> [UInt8] {
        let length = size + Self.byteCount
        return [
            0xFF, 0xF1,  // MPEG-4, no CRC
            UInt8(objectType - 1) << 6 | UInt8(frequencyIndex) << 2 | UInt8(channelConfiguration >> 2),
            UInt8(channelConfiguration & 3) << 6 | UInt8(length >> 11), UInt8(length >> 3 & 0xFF),
            UInt8(length & 7) << 5 | 0x1F, 0xFC | UInt8(blocks - 1),  // buffer fullness of a variable rate
        ]
    }
}
