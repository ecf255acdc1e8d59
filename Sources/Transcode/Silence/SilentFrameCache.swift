package import Media

/// One coded frame that decodes to silence.
package struct SilentFrame: Equatable, Sendable {
    package let payload: [UInt8]
    /// Samples per channel, at the rate of its configuration.
    package let samples: Int
}

/// Silence in the track's own configuration, whatever that is: by hand where the syntax is short, else encoded once by
/// libavcodec. So a player keeps the track of sound while its source has none.
package struct SilentFrameCache: Sendable {
    private var cache: [AudioConfiguration: SilentFrame?] = [:]

    package init() {}

    /// - Returns: nil for a configuration that neither can write.
    package mutating func frame(for configuration: AudioConfiguration) -> SilentFrame? {
        if let known = cache[configuration] { return known }
        let frame = Self.make(configuration)
        cache[configuration] = .some(frame)
        return frame
    }

    private static func make(_ configuration: AudioConfiguration) -> SilentFrame? {
        let byHand: [UInt8]?
        switch configuration.codec {
        case .aac: byHand = configuration.silentRawDataBlock
        case .mpegAudio(layer: 3):
            byHand = MPEGAudioSilence.frame(
                sampleRate: configuration.sampleRate, channelCount: configuration.channelCount)
        case .flac: byHand = LosslessSilence.flac(configuration)
        case .alac: byHand = LosslessSilence.alac(configuration)
        case .opus: byHand = OpusSilence.packet(configuration)
        case .ac3, .eac3: return SilenceEncoder.frame(configuration)
        case .mpegAudio, .dts, .smpte302, .blurayPCM: return nil
        }
        return byHand.map { SilentFrame(payload: $0, samples: configuration.samplesPerFrame) }
    }
}
