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

    private struct Version {
        let code: Int
        let rates: [SampleRate]
        /// Bit rate of bit rate index 1, bit/s.
        let lowestBitRate: Int
        /// Samples per frame divided by 8.
        let eighthOfSamples: Int
    }

    private static let versions = [
        Version(code: 3, rates: [44_100, 48_000, 32_000], lowestBitRate: 32_000, eighthOfSamples: 144),
        Version(code: 2, rates: [22_050, 24_000, 16_000], lowestBitRate: 8_000, eighthOfSamples: 72),
        Version(code: 0, rates: [11_025, 12_000, 8_000], lowestBitRate: 8_000, eighthOfSamples: 72),
    ]
}
