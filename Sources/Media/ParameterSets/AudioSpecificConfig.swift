/// The head of an AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1): the fields that a sample entry, a codec string and a
/// silent frame need.
package struct AudioSpecificConfig: Equatable, Sendable {
    /// The object type of the coded frames: 2 is AAC LC. 5 and 29 are in `extensionAudioObjectType` instead.
    package var audioObjectType: Int
    package var samplingFrequency: SampleRate
    /// channelConfiguration (Table 1.19); 0 if a program_config_element defines the channels.
    package var channelConfiguration: Int
    /// 5 for SBR, 29 for SBR with parametric stereo, signaled before the configuration (hierarchical) or after it
    /// (backward compatible); nil for neither.
    package var extensionAudioObjectType: Int?
    /// Samples of one coded frame; nil for object types that code it later in the configuration.
    package var samplesPerFrame: Int?
    package var extensionSamplingFrequency: SampleRate?

    static let section = "ISO/IEC 14496-3 §1.6.2.1"
    /// Rates by samplingFrequencyIndex (Table 1.18).
    package static let samplingFrequencies: [SampleRate] = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    /// Channel counts by channelConfiguration (Table 1.19, ISO/IEC 23001-8 §8.2); 0 for values without a count.
    package static let channelCounts = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8]
    package static let lowComplexity = 2
    private static let spectralBandReplication = 5
    package static let parametricStereo = 29

    package init(_ bytes: [UInt8]) throws(MediaError) {
        var bits = BitReader(bytes[...], section: Self.section)
        audioObjectType = try Self.objectType(&bits)
        samplingFrequency = try Self.frequency(&bits)
        channelConfiguration = try bits.u(4)
        if [Self.spectralBandReplication, Self.parametricStereo].contains(audioObjectType) {
            extensionAudioObjectType = audioObjectType
            extensionSamplingFrequency = try Self.frequency(&bits)
            audioObjectType = try Self.objectType(&bits)
            samplesPerFrame = Self.frameLength(audioObjectType, bits)
            return
        }
        samplesPerFrame = Self.frameLength(audioObjectType, bits)
        guard channelConfiguration != 0, [1, 2, 3, 4].contains(audioObjectType) else { return }
        try Self.skipGeneralAudioConfig(&bits)
        readTrailingExtension(&bits)
    }

    /// The configuration of AAC-LC in frames of 1024 samples.
    /// - Parameter samplingFrequency: a value of `samplingFrequencies`; any other counts as 48 kHz.
    package static func lowComplexity(samplingFrequency: SampleRate, channelConfiguration: Int) -> [UInt8] {
        let index = samplingFrequencies.firstIndex(of: samplingFrequency) ?? 3
        let bits = lowComplexity << 11 | index << 7 | (channelConfiguration & 0xF) << 3
        return [UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits)]
    }

    private static func objectType(_ bits: inout BitReader) throws(MediaError) -> Int {
        let short = try bits.u(5)
        return short == 31 ? try 32 + bits.u(6) : short
    }

    /// Samples per frame by frameLengthFlag, the first bit after the common fields (§4.4.1, §4.6.20.3).
    private static func frameLength(_ objectType: Int, _ bits: BitReader) -> Int? {
        var bits = bits
        guard let isShort = try? bits.flag() else { return nil }
        switch objectType {
        case 1...4, 6, 7, 17, 19...22: return isShort ? 960 : 1024
        case 23, 39: return isShort ? 480 : 512  // low delay
        default: return nil
        }
    }

    /// The number of channels, low-frequency channels included; nil if a program_config_element defines them.
    package var channelCount: Int? {
        let count = channelConfiguration < Self.channelCounts.count ? Self.channelCounts[channelConfiguration] : 0
        return count > 0 ? count : nil
    }

    private static func frequency(_ bits: inout BitReader) throws(MediaError) -> SampleRate {
        let index = try bits.u(4)
        guard let rate = samplingFrequency(index: index, escaped: index == 15 ? try bits.u(24) : nil) else {
            throw bits.fault(.badParameterSet(field: "samplingFrequency"))
        }
        return rate
    }

    /// Returns the rate that samplingFrequencyIndex stands for, or for index 15 the 24-bit rate that follows.
    /// - Returns: nil for a reserved index and for a rate out of range.
    package static func samplingFrequency(index: Int, escaped: Int?) -> SampleRate? {
        if let escaped { return SampleRate(escaped) }
        return samplingFrequencies.indices.contains(index) ? samplingFrequencies[index] : nil
    }

    /// Skips GASpecificConfig (§4.4.1) without a program_config_element.
    private static func skipGeneralAudioConfig(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(1)
        if try bits.flag() { try bits.skip(14) }
        try bits.skip(1)
    }

    /// Reads the backward compatible extension: syncExtensionType 0x2B7 for SBR, then 0x548 for parametric stereo.
    /// Encoders pad, so anything else after the configuration is ignored.
    private mutating func readTrailingExtension(_ bits: inout BitReader) {
        do throws(MediaError) {
            guard try bits.u(11) == Self.syncExtension, try Self.objectType(&bits) == Self.spectralBandReplication,
                try bits.flag()
            else { return }
            let frequency = try Self.frequency(&bits)
            extensionAudioObjectType = Self.spectralBandReplication
            extensionSamplingFrequency = frequency
            guard bits.bitsLeft >= 12, try bits.u(11) == Self.stereoExtension, try bits.flag() else { return }
            extensionAudioObjectType = Self.parametricStereo
        } catch {
            return
        }
    }

    private static let syncExtension = 0x2B7
    private static let stereoExtension = 0x548

    /// The backward compatible extension, to append to a configuration that ends at a byte boundary.
    /// - Parameter samplingFrequency: the rate of SBR's output; a value outside `samplingFrequencies` counts as 48 kHz.
    package static func trailingExtension(samplingFrequency: SampleRate, parametricStereo: Bool) -> [UInt8] {
        var bits = BitWriter()
        bits.append(syncExtension, bits: 11)
        bits.append(spectralBandReplication, bits: 5)
        bits.append(1, bits: 1)
        bits.append(samplingFrequencies.firstIndex(of: samplingFrequency) ?? 3, bits: 4)
        if parametricStereo {
            bits.append(stereoExtension, bits: 11)
            bits.append(1, bits: 1)
        }
        return bits.bytes
    }
}
