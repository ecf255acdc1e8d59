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
        case .mpegAudio, .flac, .alac, .opus, .dts, .smpte302, .blurayPCM: return nil
        }
        return payload.map { SilentFrame(payload: $0, samples: configuration.samplesPerFrame) }
    }
}
