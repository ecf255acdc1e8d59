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
        case .flac: payload = LosslessSilence.flac(configuration)
        case .opus: payload = OpusSilence.packet(configuration)
        case .ac3, .eac3: return SilenceEncoder.frame(configuration)
        case .mpegAudio: return nil
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

/// Builds silent FLAC frames of any bit depth and length without an encoder.
private enum LosslessSilence {
    /// Builds a FLAC frame of constant subframes (RFC 9639 §9) with the rate and bit depth of STREAMINFO.
    /// - Returns: nil if the configuration is not valid for FLAC, or its block is longer than a frame header can state.
    static func flac(_ configuration: AudioConfiguration) -> [UInt8]? {
        let samples = configuration.samplesPerFrame
        guard (1...8).contains(configuration.channelCount), (1...65_536).contains(samples) else { return nil }
        var bits = BitWriter()
        bits.append(0xFFF8, bits: 16)  // sync code, fixed block size
        bits.append(7, bits: 4)  // the block size follows the frame number, in 16 bits
        bits.append(0, bits: 4)
        bits.append(configuration.channelCount - 1, bits: 4)
        bits.append(0, bits: 4 + 8)  // bit depth of STREAMINFO; frame number 0, because MP4 uses the sample's time
        bits.append(samples - 1, bits: 16)
        bits.append(checksum(bits.bytes, polynomial: 0x07, width: 8), bits: 8)
        for _ in 0..<configuration.channelCount {
            bits.append(0, bits: 8)  // SUBFRAME_CONSTANT, no wasted bits
            bits.append(0, bits: Int(configuration.sampleSize))
        }
        let frame = bits.bytes
        let check = checksum(frame, polynomial: 0x8005, width: 16)
        return frame + [UInt8(check >> 8), UInt8(check & 0xFF)]
    }

    /// Computes a CRC without reflection and with initial value 0 (RFC 9639 §9.1.8, §9.3).
    private static func checksum(_ bytes: [UInt8], polynomial: Int, width: Int) -> Int {
        let top = 1 << (width - 1)
        var remainder = 0
        for byte in bytes {
            remainder ^= Int(byte) << (width - 8)
            for _ in 0..<8 {
                remainder = remainder & top == 0 ? remainder << 1 : (remainder << 1) ^ polynomial
                remainder &= (top << 1) - 1
            }
        }
        return remainder
    }
}

/// Builds Opus packets whose frames contain only the silence flag (RFC 6716 §4.3, Table 56).
enum OpusSilence {
    /// A CELT frame: the first bits of the range coder are all ones, which sets the silence flag.
    private static let frame: [UInt8] = [0xFF, 0xFE]
    /// Configuration numbers of full-band CELT by samples at 48 kHz: 2.5, 5, 10 and 20 ms (§3.1, Table 2).
    private static let configurations: [Int: UInt8] = [120: 28, 240: 29, 480: 30, 960: 31]
    private static let longestFrame = 960
    /// Frames in the longest packet, 120 ms.
    private static let maxFramesPerPacket = 6

    /// Builds a silent packet.
    /// - Returns: nil for a length that no packet can have, and for a channel mapping of several streams.
    static func packet(_ configuration: AudioConfiguration) -> [UInt8]? {
        let (samples, info) = (configuration.samplesPerFrame, configuration.decoderSpecificInfo)
        guard info.count > 10, info[10] == 0 else { return nil }  // ChannelMappingFamily
        let stereo: UInt8 = configuration.channelCount == 2 ? 0x04 : 0
        if let number = configurations[samples] { return [number << 3 | stereo] + frame }
        let count = samples / longestFrame
        guard samples.isMultiple(of: longestFrame), (2...maxFramesPerPacket).contains(count) else { return nil }
        // Code 3: a number of frames of equal size (§3.2.5).
        return [31 << 3 | stereo | 3, UInt8(count)] + Array(repeating: frame, count: count).joined()
    }
}
