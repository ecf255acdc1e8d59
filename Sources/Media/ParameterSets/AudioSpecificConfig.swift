/// The head of an AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1): what a sample entry, a codec string and a silent frame
/// need of it.
package struct AudioSpecificConfig: Equatable, Sendable {
    /// Of the coded frames: 2 is AAC LC. 5 and 29 never stand here; see `extensionAudioObjectType`.
    package var audioObjectType: Int
    /// Hz, of the coded frames.
    package var samplingFrequency: Int
    /// Table 1.19; 0 when a program_config_element says it.
    package var channelConfiguration: Int
    /// 5 for SBR, 29 for SBR with parametric stereo, whether announced in front (hierarchical) or behind
    /// (backward compatible); nil for neither.
    package var extensionAudioObjectType: Int?
    /// Samples of one coded frame; nil for object types that say it farther behind.
    package var samplesPerFrame: Int?
    /// Hz, of what SBR makes of the coded frames; nil without it.
    package var extensionSamplingFrequency: Int?

    static let section = "ISO/IEC 14496-3 §1.6.2.1"
    /// By samplingFrequencyIndex (Table 1.18).
    package static let samplingFrequencies = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
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
    /// - Parameter samplingFrequency: one of the table; any other is taken for 48 kHz.
    package static func lowComplexity(samplingFrequency: Int, channelConfiguration: Int) -> [UInt8] {
        let index = samplingFrequencies.firstIndex(of: samplingFrequency) ?? 3
        let bits = lowComplexity << 11 | index << 7 | (channelConfiguration & 0xF) << 3
        return [UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits)]
    }

    private static func objectType(_ bits: inout BitReader) throws(MediaError) -> Int {
        let short = try bits.u(5)
        return short == 31 ? try 32 + bits.u(6) : short
    }

    /// frameLengthFlag, the first bit behind the common fields (§4.4.1, §4.6.20.3).
    private static func frameLength(_ objectType: Int, _ bits: BitReader) -> Int? {
        var bits = bits
        do throws(MediaError) {
            switch objectType {
            case 1...4, 6, 7, 17, 19...22: return try bits.flag() ? 960 : 1024
            case 23, 39: return try bits.flag() ? 480 : 512  // low delay
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// Full-band and low-frequency channels together (ISO/IEC 23001-8 §8.2); nil when a program_config_element says them.
    package var channelCount: Int? {
        [1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 8, 11: 7, 12: 8, 13: 24, 14: 8][channelConfiguration]
    }

    private static func frequency(_ bits: inout BitReader) throws(MediaError) -> Int {
        let index = try bits.u(4)
        if index == 15 { return try bits.u(24) }
        guard index < samplingFrequencies.count else {
            throw bits.fault(.badParameterSet(field: "samplingFrequencyIndex"))
        }
        return samplingFrequencies[index]
    }

    /// GASpecificConfig (§4.4.1) without a program_config_element.
    private static func skipGeneralAudioConfig(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(1)
        if try bits.flag() { try bits.skip(14) }
        try bits.skip(1)
    }

    /// The backward compatible announcement: syncExtensionType 0x2B7 for SBR, then 0x548 for parametric stereo. What
    /// does not read as one is not there: encoders pad.
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

    /// That announcement, to stand behind a configuration of whole bytes.
    /// - Parameter samplingFrequency: of what SBR makes; one of the table, or it is taken for 48 kHz.
    package static func trailingExtension(samplingFrequency: Int, parametricStereo: Bool) -> [UInt8] {
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
