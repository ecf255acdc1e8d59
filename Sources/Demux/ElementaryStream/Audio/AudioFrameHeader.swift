import Media

/// The header of one audio frame.
struct AudioFrameHeader: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        case frame(AudioFrameHeader)
        case needsMore
        case none
    }

    enum Use: Equatable, Sendable {
        case packet
        /// The frame cannot be used; it is counted, and its duration elapses.
        case undecodable
        /// A frame of another program in the same stream, at the same time; it is not followed.
        case otherProgram
    }

    /// The fields that form an `AudioConfiguration`: frames with equal formats share one.
    struct Format: Equatable, Sendable {
        let codec: AudioConfiguration.Codec
        let sampleRate: SampleRate
        var channelCount: Int
        let samplesPerFrame: Int
        /// The decoderSpecificInfo, big-endian in the low bytes.
        var specific: UInt64 = 0
        var specificSize = 0
        /// The data rate in kbit/s, in the first 13 bits of `dec3`. It is that of the first frame: it may differ from
        /// frame to frame, and players ignore it.
        var dataRate = 0
        var enhanced: EnhancedAC3?
        var opus: OpusChannels?

        static func == (left: Self, right: Self) -> Bool {
            left.codec == right.codec && left.sampleRate == right.sampleRate
                && left.channelCount == right.channelCount && left.samplesPerFrame == right.samplesPerFrame
                && left.specific == right.specific && left.opus == right.opus
        }

        var specificBytes: [UInt8] {
            if let opus { return opus.decoderSpecificInfo }
            let rate = dataRate > 0 ? UInt64(min(dataRate, 0x1FFF)) << UInt64(8 * specificSize - 13) : 0
            return (0..<specificSize).reversed().map { UInt8(truncatingIfNeeded: (specific | rate) >> UInt64(8 * $0)) }
        }

        var configuration: AudioConfiguration {
            AudioConfiguration(
                codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
                decoderSpecificInfo: specificBytes)
        }
    }

    /// Bytes from the start of the header to the end of the frame.
    var size: Int
    /// Bytes of the header that are not part of the packet.
    let headerSize: Int
    var format: Format
    var use = Use.packet
    /// Whether this is an E-AC-3 frame that extends the preceding one.
    var isDependent = false

    mutating func merge(_ dependent: AudioFrameHeader) {
        size += dependent.size
        format.merge(dependent.format)
    }
}

/// Frame headers by framing.
extension AudioFraming {
    /// Reads the header at `offset`; bytes from `end` on do not exist.
    func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 2 <= end else { return offset < end && bytes[offset] == firstByte ? .needsMore : .none }
        switch self {
        case .mpeg:
            guard bytes[offset] == firstByte, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
            return bytes[offset + 1] & 0x06 == 0
                ? ADTS.header(bytes, at: offset, end: end) : MPEGAudio.header(bytes, at: offset, end: end)
        case .ac3:
            guard bytes[offset] == firstByte, bytes[offset + 1] == 0x77 else { return .none }
            return AC3.header(bytes, at: offset, end: end)
        case .loas: return LOAS.header(bytes, at: offset, end: end)
        case .opus(let channels): return OpusAccessUnit.header(bytes, at: offset, end: end, channels)
        }
    }

    private var firstByte: UInt8 {
        switch self {
        case .mpeg: 0xFF
        case .ac3: 0x0B
        case .loas: 0x56
        case .opus: OpusAccessUnit.firstByte
        }
    }
}

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
