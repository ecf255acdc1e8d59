package import Media

/// Decision whether audio is copied or transcoded: fragmented MP4 and transport streams must carry it, and players must
/// decode it in both.
package enum AudioCompatibility: Equatable, Sendable {
    package enum Incompatibility: Equatable, Sendable {
        /// MPEG audio layer I or II, for which players know no sample entry. FLAC or Opus, which they do not expect in a
        /// transport stream.
        case codec
        /// Channels described by a program_config_element, or more channels than players accept.
        case channels
        /// An audio object type other than AAC-LC with or without SBR and parametric stereo.
        case objectType(Int)
        /// Several raw_data_blocks in one frame, or frames of 960 samples, which ADTS cannot describe.
        case frameLength(Int)
        /// A sample rate that does not divide the track's timescale, so that no frame lasts a whole number of units, or one
        /// that AAC has no index for.
        case sampleRate(SampleRate)
        case configuration
    }

    case copy
    case transcode(Incompatibility)

    package init(_ configuration: AudioConfiguration) {
        self = Self.incompatibility(configuration).map(Self.transcode) ?? .copy
    }

    private static func incompatibility(_ configuration: AudioConfiguration) -> Incompatibility? {
        switch configuration.codec {
        case .mpegAudio(layer: 3), .ac3, .eac3: break
        case .mpegAudio, .flac, .opus: return .codec
        case .aac:
            if let incompatibility = aacIncompatibility(configuration) { return incompatibility }
        }
        return TrackTimescale.divides(sampleRate: configuration.sampleRate)
            ? nil : .sampleRate(configuration.sampleRate)
    }

    private static func aacIncompatibility(_ configuration: AudioConfiguration) -> Incompatibility? {
        do throws(MediaError) {
            let specific = try AudioSpecificConfig(configuration.decoderSpecificInfo)
            if specific.audioObjectType != AudioSpecificConfig.lowComplexity {
                return .objectType(specific.audioObjectType)
            }
            if AACLayout(channelConfiguration: specific.channelConfiguration) == nil { return .channels }
            if configuration.samplesPerFrame != AACEncoder.samplesPerFrame {
                return .frameLength(configuration.samplesPerFrame)
            }
            return AudioSpecificConfig.samplingFrequencies.contains(specific.samplingFrequency)
                ? nil : .sampleRate(configuration.sampleRate)
        } catch {
            return .configuration
        }
    }
}

extension TrackTimescale {
    /// Whether a sample at `sampleRate` lasts a whole number of the audio track's units.
    static func divides(sampleRate: SampleRate) -> Bool { audio % Int64(sampleRate.hertz) == 0 }
}

extension AudioConfiguration {
    /// AAC-LC configuration nearest to `sampleRate` and `channelCount`, with 1024 samples per frame.
    ///
    /// A rate that AAC does not have becomes 48 kHz.
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
            TrackTimescale.divides(sampleRate: sampleRate)
        else {
            return false
        }
        do throws(MediaError) {
            let specific = try AudioSpecificConfig(decoderSpecificInfo)
            return specific.audioObjectType == AudioSpecificConfig.lowComplexity
                && specific.extensionAudioObjectType == nil
                && AACLayout(channelConfiguration: specific.channelConfiguration)?.channelCount == channelCount
        } catch {
            return false
        }
    }
}
