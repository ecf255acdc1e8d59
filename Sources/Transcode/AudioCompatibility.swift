package import Media

/// Whether sound can be copied as it is: fragmented MP4 has to carry it, and players have to take it.
package enum AudioCompatibility: Equatable, Sendable {
    package enum Incompatibility: Equatable, Sendable {
        /// MPEG audio of layer I or II, DTS, PCM: no sample entry that players know.
        case codec
        /// The channels stand in a program_config_element, or are more than players take.
        case channels
        /// An audio object type beside AAC-LC with or without SBR and parametric stereo.
        case objectType(Int)
        /// Several raw_data_blocks, or an unusual number of samples, in one frame.
        case frameLength(Int)
        /// A rate that the track's timescale does not divide, so that no frame lasts a whole number of its units.
        case sampleRate(Int)
        /// The decoder's configuration cannot be read.
        case configuration
    }

    case copy
    case transcode(Incompatibility)

    package init(_ configuration: AudioConfiguration) {
        self = Self.incompatibility(configuration).map(Self.transcode) ?? .copy
    }

    private static func incompatibility(_ configuration: AudioConfiguration) -> Incompatibility? {
        switch configuration.codec {
        case .mpegAudio(layer: 3), .ac3, .eac3, .flac, .alac, .opus: break
        case .mpegAudio, .dts, .smpte302, .blurayPCM: return .codec
        case .aac:
            if let obstacle = aacIncompatibility(configuration) { return obstacle }
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
            // 960 is what digital radio uses.
            if ![1024, 960].contains(configuration.samplesPerFrame) {
                return .frameLength(configuration.samplesPerFrame)
            }
            return nil
        } catch {
            return .configuration
        }
    }
}

extension TrackTimescale {
    /// Whether a sample at `sampleRate` Hz lasts a whole number of the audio track's units.
    static func divides(sampleRate: Int) -> Bool { sampleRate > 0 && audio % Int64(sampleRate) == 0 }
}

extension AudioConfiguration {
    /// AAC-LC in frames of 1024 samples with this rate and these channels; where it has no such rate, 48 kHz, and no such
    /// channels, the nearest.
    static func aacLC(sampleRate: Int, channelCount: Int) -> AudioConfiguration {
        let known =
            AudioSpecificConfig.samplingFrequencies.contains(sampleRate)
            && TrackTimescale.divides(sampleRate: sampleRate)
        let rate = known ? sampleRate : 48_000
        let layout = AACLayout(nearestTo: channelCount)
        return AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: layout.channelCount, samplesPerFrame: 1024,
            decoderSpecificInfo: AudioSpecificConfig.lowComplexity(
                samplingFrequency: rate, channelConfiguration: layout.channelConfiguration))
    }

    /// Whether it is AAC-LC as the bridge writes it, so that one init section does for both.
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
