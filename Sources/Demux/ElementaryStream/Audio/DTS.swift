import Media

/// The headers of a DTS core frame and of an extension substream after it (ETSI TS 102 114 §5.3, §7.4).
///
/// Only the core is emitted: channels and rate are those of its header, whatever an extension adds.
enum DTS {
    private static let core: [UInt8] = [0x7F, 0xFE, 0x80, 0x01]
    private static let substream: [UInt8] = [0x64, 0x58, 0x20, 0x25]
    /// Sample rates in Hz by SFREQ; 0 is invalid.
    private static let sampleRates = [
        0, 8_000, 16_000, 32_000, 0, 0, 11_025, 22_050, 44_100, 0, 0, 12_000, 24_000, 48_000, 0, 0,
    ]
    /// Channel counts by AMODE, without the low-frequency channel; greater values are user defined.
    private static let channelCounts = [1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6, 6, 7, 8, 8]

    static func isFirstByte(_ byte: UInt8) -> Bool { byte == core[0] || byte == substream[0] }

    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        let sync = bytes[offset..<min(end, offset + 4)]
        if core.starts(with: sync) {
            return end - offset < 12 ? .needsMore : coreHeader(bytes[offset..<offset + 12])
        }
        guard substream.starts(with: sync) else { return .none }
        return end - offset < 10 ? .needsMore : extensionHeader(bytes[offset..<offset + 10])
    }

    private static func coreHeader(_ bytes: ArraySlice<UInt8>) -> AudioFrameHeader.Outcome {
        var bits = BitReader(bytes, section: "ETSI TS 102 114 §5.3.1")
        do throws(MediaError) {
            try bits.skip(32 + 1 + 5 + 1)  // SYNC, FTYPE, SHORT, CPF
            let samples = try (bits.u(7, "NBLKS", in: 5...127) + 1) * 32
            let size = try bits.u(14, "FSIZE", in: 95...16_383) + 1
            let arrangement = try bits.u(6, "AMODE", in: 0...channelCounts.count - 1)
            let sampleRate = SampleRate(sampleRates[try bits.u(4)])
            try bits.skip(5 + 1 + 1 + 1 + 1 + 1 + 3 + 1 + 1)  // RATE ... ASPF
            let lowFrequency = try bits.u(2, "LFF", in: 0...2)
            guard let sampleRate else { return .none }
            let format = AudioFrameHeader.Format(
                codec: .dts, sampleRate: sampleRate,
                channelCount: channelCounts[arrangement] + (lowFrequency > 0 ? 1 : 0), samplesPerFrame: samples)
            return .frame(AudioFrameHeader(size: size, headerSize: 0, format: format))
        } catch {
            return .none
        }
    }

    /// Reads the header of an extension substream, which is used only for its length.
    private static func extensionHeader(_ bytes: ArraySlice<UInt8>) -> AudioFrameHeader.Outcome {
        var bits = BitReader(bytes, section: "ETSI TS 102 114 §7.4.1")
        do throws(MediaError) {
            try bits.skip(32 + 8 + 2)  // SYNCEXTSSH, UserDefinedBits, nExtSSIndex
            let isLong = try bits.flag()
            let headerSize = try bits.u(isLong ? 12 : 8) + 1
            let size = try bits.u(isLong ? 20 : 16) + 1
            guard headerSize >= 10, size >= headerSize else { return .none }
            let format = AudioFrameHeader.Format(codec: .dts, sampleRate: 48_000, channelCount: 0, samplesPerFrame: 0)
            return .frame(AudioFrameHeader(size: size, headerSize: 0, format: format, isDependent: true))
        } catch {
            return .none
        }
    }
}
