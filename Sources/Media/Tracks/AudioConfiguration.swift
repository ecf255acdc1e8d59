/// The parameters that an audio decoder needs before the first frame.
package struct AudioConfiguration: Hashable, Sendable {
    package enum Codec: Hashable, Sendable {
        /// MPEG-4 AAC. The payload of a packet is one set of raw data blocks without its ADTS or LOAS header.
        case aac
        /// MPEG-1/2 audio layer 1, 2 or 3, complete frames.
        case mpegAudio(layer: Int)
        case ac3, eac3
        case flac, alac, opus
        /// DTS Coherent Acoustics: complete core frames without their extensions.
        case dts
        /// PCM in SMPTE 302M form. A packet is the payload of one PES packet, its four header bytes included.
        case smpte302
        /// PCM in Blu-ray Disc form, its four header bytes included.
        case blurayPCM
    }

    package let codec: Codec
    /// The sample rate of the coded frames: an HE-AAC stream states half of its output rate (ISO/IEC 14496-3 §1.6.5).
    package let sampleRate: SampleRate
    package let channelCount: Int
    /// Samples per channel of one frame at `sampleRate`, within `frameLengths`: 1024 for AAC. 0 for PCM, whose packets
    /// vary.
    package let samplesPerFrame: Int
    /// AAC: the AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1). AC-3 and E-AC-3: the payload of `dac3` or `dec3` (ETSI
    /// TS 102 366 Annex F). Opus: the payload of `dOps`. FLAC: the STREAMINFO block after its header (RFC 9639 §8.2).
    /// ALAC: the ALACSpecificConfig. Otherwise empty.
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
}

extension AudioConfiguration {
    package static let channelCounts = 1...64
    package static let frameLengths = 1...65_535

    /// The duration of one frame, rounded down to ticks.
    package var frameDuration: Ticks {
        Ticks(Int64(samplesPerFrame) * Ticks.perSecond / Int64(sampleRate.hertz))
    }
}
