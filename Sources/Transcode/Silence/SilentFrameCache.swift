package import Media

/// Provides silent frames in an audio track's own configuration, so that the track continues while its source has no
/// audio.
///
/// Frames with a short syntax are built directly. libavcodec encodes the others once.
package struct SilentFrameCache: Sendable {
    private var cache: [AudioConfiguration: SilentFrame?] = [:]

    package init() {}

    /// Returns a silent frame, or nil if neither way supports `configuration`.
    package mutating func frame(for configuration: AudioConfiguration) -> SilentFrame? {
        if let cached = cache[configuration] { return cached }
        let frame = Self.make(configuration)
        cache[configuration] = .some(frame)
        return frame
    }

    private static func make(_ configuration: AudioConfiguration) -> SilentFrame? {
        let payload: [UInt8]?
        switch configuration.codec {
        case .aac: payload = configuration.silentRawDataBlock
        case .mpegAudio(layer: 3):
            payload = MPEGAudioSilence.frame(
                sampleRate: configuration.sampleRate, channelCount: configuration.channelCount)
        case .ac3, .eac3: return SilenceEncoder.frame(configuration)
        case .mpegAudio, .flac, .opus: return nil
        }
        return payload.map { SilentFrame(payload: $0, samples: configuration.samplesPerFrame) }
    }
}

/// Builds silent MPEG audio layer III frames (ISO/IEC 11172-3 §2.4.1, ISO/IEC 13818-3 §2.4.1).
private enum MPEGAudioSilence {
    /// Builds a frame of the lowest bit rate with zero side information.
    ///
    /// A decoder reads no main data for it, neither from the frame nor from the bit reservoir before it.
    /// - Returns: nil for a sample rate that the standard does not define.
    static func frame(sampleRate: SampleRate, channelCount: Int) -> [UInt8]? {
        guard let version = versions.first(where: { $0.rates.contains(sampleRate) }),
            let rateIndex = version.rates.firstIndex(of: sampleRate)
        else { return nil }
        let mode = channelCount == 1 ? 3 : 0
        let header = [0xFF, 0xE0 | version.code << 3 | 0b011, 1 << 4 | rateIndex << 2, mode << 6]
        let size = version.eighthOfSamples * version.lowestBitRate / sampleRate.hertz
        return header.map { UInt8($0) } + Array(repeating: 0, count: size - header.count)
    }

    /// The bit rate is that of bit rate index 1.
    private static let versions: [(code: Int, rates: [SampleRate], lowestBitRate: Int, eighthOfSamples: Int)] = [
        (3, [44_100, 48_000, 32_000], 32_000, 144), (2, [22_050, 24_000, 16_000], 8_000, 72),
        (0, [11_025, 12_000, 8_000], 8_000, 72),
    ]
}

/// Builds AAC frames without spectral data, for an audio track whose source has no audio (ISO/IEC 14496-3 §4.4.2).
package enum AACSilence {
    /// Channel element of a raw_data_block, with its id_syn_ele (Table 4.85).
    private enum Element: Int {
        case singleChannel = 0
        case channelPair = 1
        case lowFrequency = 3
    }

    private static let layouts: [Int: [Element]] = [
        1: [.singleChannel],
        2: [.channelPair],
        3: [.singleChannel, .channelPair],
        4: [.singleChannel, .channelPair, .singleChannel],
        5: [.singleChannel, .channelPair, .channelPair],
        6: [.singleChannel, .channelPair, .channelPair, .lowFrequency],
        7: [.singleChannel, .channelPair, .channelPair, .channelPair, .lowFrequency],
    ]

    /// The smallest raw_data_block that decodes to zeros, at any sampling rate and frame length.
    /// - Parameter channelConfiguration: 1 mono, 2 stereo ... 6 for 5.1, 7 for 7.1.
    /// - Returns: nil for any other value.
    package static func frame(channelConfiguration: Int) -> [UInt8]? {
        guard let layout = layouts[channelConfiguration] else { return nil }
        var bits = BitWriter()
        var instances: [Element: Int] = [:]
        for element in layout {
            bits.append(element.rawValue, bits: 3)
            bits.append(instances[element, default: 0], bits: 4)  // element_instance_tag
            instances[element, default: 0] += 1
            if element == .channelPair { appendPair(&bits) } else { appendSingle(&bits) }
        }
        bits.append(7, bits: 3)  // ID_END
        return bits.bytes
    }

    private static func appendSingle(_ bits: inout BitWriter) {
        bits.append(0, bits: 8)  // global_gain
        appendWindow(&bits)
        appendNoTools(&bits)
    }

    private static func appendPair(_ bits: inout BitWriter) {
        bits.append(1, bits: 1)  // common_window
        appendWindow(&bits)
        bits.append(0, bits: 2)  // ms_mask_present
        for _ in 0..<2 {
            bits.append(0, bits: 8)  // global_gain
            appendNoTools(&bits)
        }
    }

    /// Appends ics_info: a long window without scale factor bands, sections, scale factors and spectral data.
    private static func appendWindow(_ bits: inout BitWriter) {
        bits.append(0, bits: 1 + 2 + 1 + 6 + 1)
    }

    /// Appends pulse_data_present, tns_data_present and gain_control_data_present.
    private static func appendNoTools(_ bits: inout BitWriter) {
        bits.append(0, bits: 3)
    }
}

extension AudioConfiguration {
    /// AAC Main, LC and LTP, with or without SBR, share this syntax.
    private static let objectTypes = [1, 2, 4]

    /// A silent AAC frame for this configuration; nil if the configuration needs an encoder.
    var silentRawDataBlock: [UInt8]? {
        guard let specific = try? AudioSpecificConfig(decoderSpecificInfo),
            Self.objectTypes.contains(specific.audioObjectType)
        else { return nil }
        return AACSilence.frame(channelConfiguration: specific.channelConfiguration)
    }
}
