import Support

/// The parameters that an audio decoder needs before the first frame.
package struct AudioConfiguration: Hashable, Sendable {
    package enum Codec: Hashable, Sendable {
        /// MPEG-4 AAC. The payload of a packet is one set of raw data blocks without its ADTS or LOAS header.
        case aac
        case mpegAudio(layer: Int)
        case ac3, eac3
        case flac, opus
    }

    package let codec: Codec
    /// The sample rate of the coded frames: an HE-AAC stream states half of its output rate (ISO/IEC 14496-3 §1.6.5).
    package let sampleRate: SampleRate
    package let channelCount: Int
    /// Samples per channel of one frame at `sampleRate`, within `frameLengths`: 1024 for AAC.
    package let samplesPerFrame: Int
    /// AAC: the AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1). AC-3 and E-AC-3: the payload of `dac3` or `dec3` (ETSI
    /// TS 102 366 Annex F). Opus: the payload of `dOps`. FLAC: the STREAMINFO block after its header (RFC 9639 §8.2).
    /// Otherwise empty.
    package let decoderSpecificInfo: [UInt8]

    package init(
        codec: Codec, sampleRate: SampleRate, channelCount: Int, samplesPerFrame: Int, decoderSpecificInfo: [UInt8]
    ) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samplesPerFrame = samplesPerFrame
        self.decoderSpecificInfo = decoderSpecificInfo
    }

    package static let channelCounts = 1...64
    package static let frameLengths = 1...65_535

    /// The duration of one frame, rounded down to ticks.
    package var frameDuration: Ticks {
        Ticks(Int64(samplesPerFrame) * Ticks.perSecond / Int64(sampleRate.hertz))
    }
}

/// A text form of a configuration that outlives the process: `aac/48000/2/1024/1190`.
extension AudioConfiguration {
    /// Codec, sample rate in Hz, channels, samples per frame, and the decoder specific information in hexadecimal
    /// digits.
    package var text: String {
        let info = Hexadecimal.encode(decoderSpecificInfo)
        return "\(codec.name)/\(sampleRate)/\(channelCount)/\(samplesPerFrame)/\(info)"
    }

    /// Parses the text form; nil if `text` cannot have been written by the `text` property.
    package init?(text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 5, let codec = Codec.restorable.first(where: { $0.name == fields[0] }),
            let sampleRate = Int(fields[1]).flatMap({ SampleRate($0) }),
            let channelCount = Int(fields[2]), Self.channelCounts.contains(channelCount),
            let samplesPerFrame = Int(fields[3]), Self.frameLengths.contains(samplesPerFrame),
            let info = Hexadecimal.decode(fields[4].utf8)
        else { return nil }
        self.init(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
            decoderSpecificInfo: info)
    }
}

extension AudioConfiguration.Codec {
    /// The codecs with a text form that can be read back.
    fileprivate static let restorable: [Self] = [.aac, .mpegAudio(layer: 3), .ac3, .eac3]

    fileprivate var name: String {
        switch self {
        case .aac: "aac"
        case .mpegAudio(let layer): "mpeg\(layer)"
        case .ac3: "ac3"
        case .eac3: "eac3"
        case .flac: "flac"
        case .opus: "opus"
        }
    }
}

extension AudioConfiguration {
    /// The CODECS entry (RFC 6381 §3.3). MPEG audio has one entry for all rates: players know "mp4a.6B" for both object
    /// types.
    package var codecString: String {
        switch codec {
        case .aac: "mp4a.40.\(signaledObjectType)"
        case .mpegAudio: "mp4a.6B"
        case .ac3: "ac-3"
        case .eac3: "ec-3"
        case .flac: "fLaC"
        case .opus: "opus"
        }
    }

    /// The object type that CODECS names; AAC LC if the configuration cannot be read.
    private var signaledObjectType: Int {
        guard let configuration = try? AudioSpecificConfig(decoderSpecificInfo) else {
            return AudioSpecificConfig.lowComplexity
        }
        return configuration.extensionAudioObjectType ?? configuration.audioObjectType
    }
}

/// The code tables of AC-3 and E-AC-3 (ETSI TS 102 366 §4.4).
package enum AC3Tables {
    /// Sample rates in Hz by fscod.
    package static let sampleRates = [48_000, 44_100, 32_000]
    /// Bit rates in kbit/s by frmsizecod / 2.
    package static let bitRates = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
    /// Full-bandwidth channels by acmod.
    package static let channelCounts = [2, 1, 2, 3, 3, 4, 4, 5]
}
