/// hrd_parameters (ISO/IEC 23008-2 §E.2.2, §E.2.3), skipped because the fields after them are needed.
enum HEVCHypotheticalReferenceDecoder {
    static func skip(_ bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) {
        let hasNAL = try bits.flag()
        let hasVCL = try bits.flag()
        let hasSubPictures = hasNAL || hasVCL ? try skipCommon(&bits) : false
        for _ in 0...maxSubLayersMinus1 {
            let buffers = try skipSubLayer(&bits)
            for isPresent in [hasNAL, hasVCL] where isPresent {
                for _ in 0..<buffers { try skipBuffer(&bits, hasSubPictures: hasSubPictures) }
            }
        }
    }

    /// - Returns: The value of sub_pic_hrd_params_present_flag.
    private static func skipCommon(_ bits: inout BitReader) throws(MediaError) -> Bool {
        let hasSubPictures = try bits.flag()
        if hasSubPictures { try bits.skip(8 + 5 + 1 + 5) }
        try bits.skip(4 + 4)
        if hasSubPictures { try bits.skip(4) }
        try bits.skip(5 + 5 + 5)
        return hasSubPictures
    }

    /// - Returns: The number of coded picture buffers of this sub-layer.
    private static func skipSubLayer(_ bits: inout BitReader) throws(MediaError) -> Int {
        let isFixedInGeneral = try bits.flag()
        let isFixedInSequence = try isFixedInGeneral ? true : bits.flag()
        var isLowDelay = false
        if isFixedInSequence {
            _ = try bits.ue("elemental_duration_in_tc_minus1", in: 0...2047)
        } else {
            isLowDelay = try bits.flag()
        }
        return isLowDelay ? 1 : try bits.ue("cpb_cnt_minus1", in: 0...31) + 1
    }

    private static func skipBuffer(_ bits: inout BitReader, hasSubPictures: Bool) throws(MediaError) {
        for _ in 0..<(hasSubPictures ? 4 : 2) { _ = try bits.ue("bit_rate_value_minus1", in: 0...0xFFFF_FFFE) }
        try bits.skip(1)  // cbr_flag
    }
}
