/// What an audio decoder must know before the first frame.
package struct AudioConfiguration: Hashable, Sendable {
    package enum Codec: Hashable, Sendable {
        /// MPEG-4 AAC; the payload of a packet is one raw_data_block set without its ADTS or LOAS header.
        case aac
        /// MPEG-1/2 audio layer 1, 2 or 3, whole frames.
        case mpegAudio(layer: Int)
        case ac3, eac3
        case flac, alac, opus
        /// DTS Coherent Acoustics: whole core frames, without their extensions.
        case dts
        /// PCM as SMPTE 302M has it: a packet is what one PES packet holds, its four bytes of header included.
        case smpte302
        /// PCM as Blu-ray Disc has it, its four bytes of header included.
        case blurayPCM
    }

    package let codec: Codec
    /// Hz, of the coded frames: an HE-AAC stream says half of what it plays at (ISO/IEC 14496-3 §1.6.5).
    package let sampleRate: Int
    package let channelCount: Int
    /// Samples per channel of one frame at `sampleRate`: 1024 for AAC. 0 for PCM, whose packets differ.
    package let samplesPerFrame: Int
    /// AAC: the AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1). AC-3 and E-AC-3: the payload of `dac3` or `dec3`
    /// (ETSI TS 102 366 Annex F). Opus: the payload of `dOps`. FLAC: the STREAMINFO block behind its header
    /// (RFC 9639 §8.2). ALAC: the ALACSpecificConfig. Otherwise empty.
    package let decoderSpecificInfo: [UInt8]

    package init(
        codec: Codec, sampleRate: Int, channelCount: Int, samplesPerFrame: Int, decoderSpecificInfo: [UInt8]
    ) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samplesPerFrame = samplesPerFrame
        self.decoderSpecificInfo = decoderSpecificInfo
    }
}

extension AudioConfiguration {
    /// What one frame lasts, rounded down.
    package var frameDuration: Ticks {
        Ticks(Int64(samplesPerFrame) * Ticks.perSecond / Int64(max(1, sampleRate)))
    }

    /// `samplesize`: bits of a sample where nothing is lost, 16 for all others.
    package var sampleSize: UInt16 {
        let info = decoderSpecificInfo
        switch codec {
        // bits_per_sample − 1 behind the four bytes of the block's header.
        case .flac where info.count > 17: return UInt16(info[16] & 1) << 4 | UInt16(info[17] >> 4) + 1
        case .alac where info.count > 5: return UInt16(info[5])  // bitDepth
        default: return 16
        }
    }
}
