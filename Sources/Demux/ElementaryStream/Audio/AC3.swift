import Media

/// The header of an AC-3 or E-AC-3 frame (ETSI TS 102 366 §4.3, Annex E.1.2), and its `dac3` (Annex F).
enum AC3 {
    /// - Precondition: The syncword is at `offset`.
    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 8 <= end else { return .needsMore }
        let bsid = bytes[offset + 5] >> 3
        if bsid <= 10 { return plain(bytes, at: offset, bsid: Int(bsid)) }
        return bsid <= 16 ? enhanced(bytes, at: offset, end: end) : .none
    }

    private static func plain(_ bytes: [UInt8], at offset: Int, bsid: Int) -> AudioFrameHeader.Outcome {
        let fscod = Int(bytes[offset + 4] >> 6)
        let sizeCode = Int(bytes[offset + 4] & 0x3F)
        guard fscod < 3, sizeCode < 2 * AC3Tables.bitRates.count,
            let sampleRate = SampleRate(AC3Tables.sampleRates[fscod] >> max(0, bsid - 8))
        else { return .none }
        let bitRateCode = sizeCode >> 1
        let words: Int
        switch fscod {
        case 0: words = AC3Tables.bitRates[bitRateCode] * 2
        case 1: words = AC3Tables.bitRates[bitRateCode] * 320 / 147 + sizeCode & 1
        default: words = AC3Tables.bitRates[bitRateCode] * 3
        }
        let acmod = Int(bytes[offset + 6] >> 5)
        // lfeon follows the mix levels, whose presence depends on acmod.
        let mixBits = (acmod & 1 != 0 && acmod != 1 ? 2 : 0) + (acmod & 4 != 0 ? 2 : 0) + (acmod == 2 ? 2 : 0)
        let tail = Int(bytes[offset + 6]) << 8 | Int(bytes[offset + 7])
        let lfeon = tail >> (12 - mixBits) & 1
        let bsmod = Int(bytes[offset + 5] & 7)
        let specific = fscod << 22 | bsid << 17 | bsmod << 14 | acmod << 11 | lfeon << 10 | bitRateCode << 5
        let format = AudioFrameHeader.Format(
            codec: .ac3, sampleRate: sampleRate,
            channelCount: AC3Tables.channelCounts[acmod] + lfeon, samplesPerFrame: 1536, specific: UInt64(specific),
            specificSize: 3)
        return .frame(AudioFrameHeader(size: words * 2, headerSize: 0, format: format))
    }

    private static func enhanced(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        let streamType = bytes[offset + 2] >> 6
        let substream = bytes[offset + 2] >> 3 & 7
        let size = ((Int(bytes[offset + 2] & 7) << 8 | Int(bytes[offset + 3])) + 1) * 2
        let fscod = Int(bytes[offset + 4] >> 6)
        let code = Int(bytes[offset + 4] >> 4 & 3)
        guard streamType != 3, fscod < 3 || code < 3, size >= 8 else { return .none }
        let information = min(size, EnhancedAC3.longestInformation)
        guard offset + information <= end else { return .needsMore }
        guard let enhanced = try? EnhancedAC3(bytes[offset..<offset + information]) else { return .none }
        let sampleRate = fscod < 3 ? AC3Tables.sampleRates[fscod] : AC3Tables.sampleRates[code] / 2
        guard let rate = SampleRate(sampleRate) else { return .none }
        let samples = 256 * (fscod < 3 ? [1, 2, 3, 6][code] : 6)
        let format = AudioFrameHeader.Format(
            enhanced, sampleRate: rate, samplesPerFrame: samples,
            dataRate: (size * 8 * sampleRate + samples * 1000 - 1) / (samples * 1000))
        return .frame(
            AudioFrameHeader(
                size: size, headerSize: 0, format: format,
                use: streamType == 0 && substream != 0 ? .otherProgram : .packet, isDependent: streamType == 1))
    }
}

extension AudioFrameHeader.Format {
    /// - Parameter dataRate: kbit/s.
    fileprivate init(_ enhanced: EnhancedAC3, sampleRate: SampleRate, samplesPerFrame: Int, dataRate: Int) {
        let specific = enhanced.specific
        self.init(
            codec: .eac3, sampleRate: sampleRate, channelCount: enhanced.channelCount,
            samplesPerFrame: samplesPerFrame, specific: specific.bits, specificSize: specific.size, dataRate: dataRate,
            enhanced: enhanced)
    }

    mutating func merge(_ dependent: Self) {
        guard var enhanced, let other = dependent.enhanced else { return }
        enhanced.merge(other)
        self = Self(
            enhanced, sampleRate: sampleRate, samplesPerFrame: samplesPerFrame, dataRate: dataRate + dependent.dataRate)
    }
}
