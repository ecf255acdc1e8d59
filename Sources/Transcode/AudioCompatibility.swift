import Media

/// The reason why audio cannot be copied. Fragmented MP4 and transport streams must be able to carry it, and players
/// must decode it in both.
enum AudioIncompatibility: Equatable, Sendable {
    /// MPEG audio layer I or II, for which players know no sample entry, or FLAC or Opus, which players do not expect
    /// in a transport stream.
    case codec
    /// Channels described by a program_config_element, or more channels than players accept.
    case channels
    /// An audio object type other than AAC-LC with or without SBR and parametric stereo.
    case objectType(Int)
    /// Several raw_data_blocks in one frame, or frames of 960 samples, which ADTS cannot describe.
    case frameLength(Int)
    /// A sample rate that does not divide the track's timescale, so that no frame lasts a whole number of units, or a
    /// sample rate that has no index in AAC.
    case sampleRate(SampleRate)
    case configuration
}

extension AudioConfiguration {
    var incompatibility: AudioIncompatibility? {
        switch codec {
        case .mpegAudio(layer: 3), .ac3, .eac3: break
        case .mpegAudio, .flac, .opus: return .codec
        case .aac:
            if let aacIncompatibility { return aacIncompatibility }
        }
        return TrackTimescale.divides(sampleRate: sampleRate) ? nil : .sampleRate(sampleRate)
    }

    private var aacIncompatibility: AudioIncompatibility? {
        guard let specific = try? AudioSpecificConfig(decoderSpecificInfo) else { return .configuration }
        if specific.audioObjectType != AudioSpecificConfig.lowComplexity {
            return .objectType(specific.audioObjectType)
        }
        if AACLayout(channelConfiguration: specific.channelConfiguration) == nil { return .channels }
        if samplesPerFrame != AACEncoder.samplesPerFrame { return .frameLength(samplesPerFrame) }
        return AudioSpecificConfig.samplingFrequencies.contains(specific.samplingFrequency)
            ? nil : .sampleRate(sampleRate)
    }
}

extension TrackTimescale {
    /// Whether a sample at `sampleRate` lasts a whole number of the audio track's units.
    static func divides(sampleRate: SampleRate) -> Bool { audio % Int64(sampleRate.hertz) == 0 }
}

extension AudioConfiguration {
    /// AAC-LC configuration nearest to `sampleRate` and `channelCount`, with 1024 samples per frame.
    ///
    /// A rate that AAC does not define becomes 48 kHz.
    static func aacLC(sampleRate: SampleRate, channelCount: Int) -> AudioConfiguration {
        let isSupported =
            AudioSpecificConfig.samplingFrequencies.contains(sampleRate)
            && TrackTimescale.divides(sampleRate: sampleRate)
        let rate = isSupported ? sampleRate : 48_000
        let layout = AACLayout(nearestTo: channelCount)
        return AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: layout.channelCount, samplesPerFrame: 1024,
            decoderSpecificInfo: AudioSpecificConfig.lowComplexity(
                samplingFrequency: rate, channelConfiguration: layout.channelConfiguration))
    }

    /// Whether this is AAC-LC as the transcoder writes it, so that both share one init section.
    var isPlainAACLC: Bool {
        guard codec == .aac, samplesPerFrame == AACEncoder.samplesPerFrame,
            TrackTimescale.divides(sampleRate: sampleRate),
            let specific = try? AudioSpecificConfig(decoderSpecificInfo)
        else { return false }
        return specific.audioObjectType == AudioSpecificConfig.lowComplexity && specific.extensionAudioObjectType == nil
            && AACLayout(channelConfiguration: specific.channelConfiguration)?.channelCount == channelCount
    }
}
