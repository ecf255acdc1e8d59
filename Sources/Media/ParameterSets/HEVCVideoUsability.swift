/// vui_parameters (ISO/IEC 23008-2 §E.2.1). Values that are not signaled are nil.
package struct HEVCVideoUsability: Equatable, Sendable {
    var sampleAspectRatio: SampleAspectRatio?
    var overscanAppropriateFlag: Bool?
    var videoSignalType: VideoSignalType?
    var chromaSampleLoc: ChromaSampleLocation?
    var neutralChromaIndicationFlag: Bool
    /// Whether each picture is one field.
    var fieldSeqFlag: Bool
    var frameFieldInfoPresentFlag: Bool
    var defaultDisplayWindow: DisplayWindow?
    var timing: HEVCTimingInformation?
    package var bitstreamRestriction: BitstreamRestriction?

    /// A default display window, in chroma samples.
    package struct DisplayWindow: Equatable, Sendable {
        var defDispWinLeftOffset: Int
        var defDispWinRightOffset: Int
        var defDispWinTopOffset: Int
        var defDispWinBottomOffset: Int
    }

    package struct BitstreamRestriction: Equatable, Sendable {
        var tilesFixedStructureFlag: Bool
        var motionVectorsOverPicBoundariesFlag: Bool
        var restrictedRefPicListsFlag: Bool
        package var minSpatialSegmentationIdc: Int
        var maxBytesPerPicDenom: Int
        var maxBitsPerMinCuDenom: Int
        var log2MaxMvLengthHorizontal: Int
        var log2MaxMvLengthVertical: Int
    }

    init(_ bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) {
        if try bits.flag() { sampleAspectRatio = try SampleAspectRatio(&bits) }
        if try bits.flag() { overscanAppropriateFlag = try bits.flag() }
        if try bits.flag() { videoSignalType = try VideoSignalType(&bits) }
        if try bits.flag() { chromaSampleLoc = try ChromaSampleLocation(&bits) }
        neutralChromaIndicationFlag = try bits.flag()
        fieldSeqFlag = try bits.flag()
        frameFieldInfoPresentFlag = try bits.flag()
        if try bits.flag() { defaultDisplayWindow = try DisplayWindow(&bits) }
        if try bits.flag() {
            timing = try HEVCTimingInformation(&bits)
            if try bits.flag() {
                try HEVCHypotheticalReferenceDecoder.skip(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
            }
        }
        if try bits.flag() { bitstreamRestriction = try BitstreamRestriction(&bits) }
    }
}

extension HEVCVideoUsability.DisplayWindow {
    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        defDispWinLeftOffset = try bits.ue("def_disp_win_left_offset", in: 0...65_535)
        defDispWinRightOffset = try bits.ue("def_disp_win_right_offset", in: 0...65_535)
        defDispWinTopOffset = try bits.ue("def_disp_win_top_offset", in: 0...65_535)
        defDispWinBottomOffset = try bits.ue("def_disp_win_bottom_offset", in: 0...65_535)
    }
}

extension HEVCVideoUsability.BitstreamRestriction {
    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        tilesFixedStructureFlag = try bits.flag()
        motionVectorsOverPicBoundariesFlag = try bits.flag()
        restrictedRefPicListsFlag = try bits.flag()
        minSpatialSegmentationIdc = try bits.ue("min_spatial_segmentation_idc", in: 0...4095)
        maxBytesPerPicDenom = try bits.ue("max_bytes_per_pic_denom", in: 0...16)
        maxBitsPerMinCuDenom = try bits.ue("max_bits_per_min_cu_denom", in: 0...16)
        log2MaxMvLengthHorizontal = try bits.ue("log2_max_mv_length_horizontal", in: 0...16)
        log2MaxMvLengthVertical = try bits.ue("log2_max_mv_length_vertical", in: 0...15)
    }
}

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
