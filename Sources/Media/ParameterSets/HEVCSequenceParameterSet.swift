/// The fields of seq_parameter_set_rbsp that are used (ISO/IEC 23008-2 §7.3.2.2.1), up to and including its VUI. An absent
/// field has the value that the standard infers for it.
package struct HEVCSequenceParameterSet: Equatable, Sendable {
    package var spsMaxSubLayersMinus1: Int
    package var spsTemporalIdNestingFlag: Bool
    package var profileTierLevel: HEVCProfileTierLevel
    package var spsSeqParameterSetId = 0
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package var chromaFormatIdc = 1
    package var separateColourPlaneFlag = false
    var picWidthInLumaSamples = 0
    var picHeightInLumaSamples = 0
    /// In chroma samples; 0 without conformance_window_flag.
    var confWinLeftOffset = 0
    var confWinRightOffset = 0
    var confWinTopOffset = 0
    var confWinBottomOffset = 0
    package var bitDepthLumaMinus8 = 0
    package var bitDepthChromaMinus8 = 0
    package var log2MaxPicOrderCntLsbMinus4 = 0
    private var log2MinLumaCodingBlockSizeMinus3 = 0
    private var log2DiffMaxMinLumaCodingBlockSize = 0
    /// nil if the VUI is absent or cannot be read: the video is decodable without the VUI.
    var vui: VideoUsability?

    static let section = "ISO/IEC 23008-2 §7.3.2.2.1"
    package static let nalUnitType = 33

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    package init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: Self.section)
        try bits.hevcHeader(type: Self.nalUnitType)
        try bits.skip(4)  // sps_video_parameter_set_id
        spsMaxSubLayersMinus1 = try bits.u(3, "sps_max_sub_layers_minus1", in: 0...6)
        spsTemporalIdNestingFlag = try bits.flag()
        profileTierLevel = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: spsMaxSubLayersMinus1)
        spsSeqParameterSetId = try bits.ue("sps_seq_parameter_set_id", in: 0...15)
        try readPictureFormat(&bits)
        try bits.skipSubLayerOrdering(maxSubLayersMinus1: spsMaxSubLayersMinus1)
        log2MinLumaCodingBlockSizeMinus3 = try bits.ue("log2_min_luma_coding_block_size_minus3", in: 0...3)
        log2DiffMaxMinLumaCodingBlockSize = try bits.ue("log2_diff_max_min_luma_coding_block_size", in: 0...3)
        try bits.skipCodingTools(log2MaxPicOrderCntLsb: log2MaxPicOrderCntLsbMinus4 + 4)
        if try bits.flag() { vui = try? VideoUsability(hevc: &bits) }
    }

    /// PicSizeInCtbsY (§7.4.3.2.1).
    package var picSizeInCtbs: Int {
        let log2Size = log2MinLumaCodingBlockSizeMinus3 + 3 + log2DiffMaxMinLumaCodingBlockSize
        let rounding = (1 << log2Size) - 1
        return ((picWidthInLumaSamples + rounding) >> log2Size)
            * ((picHeightInLumaSamples + rounding) >> log2Size)
    }

    private mutating func readPictureFormat(_ bits: inout BitReader) throws(MediaError) {
        chromaFormatIdc = try bits.ue("chroma_format_idc", in: 0...3)
        if chromaFormatIdc == 3 { separateColourPlaneFlag = try bits.flag() }
        picWidthInLumaSamples = try bits.ue("pic_width_in_luma_samples", in: 1...65_535)
        picHeightInLumaSamples = try bits.ue("pic_height_in_luma_samples", in: 1...65_535)
        if try bits.flag() {
            confWinLeftOffset = try bits.ue("conf_win_left_offset", in: 0...65_535)
            confWinRightOffset = try bits.ue("conf_win_right_offset", in: 0...65_535)
            confWinTopOffset = try bits.ue("conf_win_top_offset", in: 0...65_535)
            confWinBottomOffset = try bits.ue("conf_win_bottom_offset", in: 0...65_535)
        }
        guard width > 0 else { throw bits.fault(.badParameterSet(field: "conf_win_right_offset")) }
        guard height > 0 else { throw bits.fault(.badParameterSet(field: "conf_win_bottom_offset")) }
        bitDepthLumaMinus8 = try bits.ue("bit_depth_luma_minus8", in: 0...8)
        bitDepthChromaMinus8 = try bits.ue("bit_depth_chroma_minus8", in: 0...8)
        log2MaxPicOrderCntLsbMinus4 = try bits.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12)
    }

    /// Luma samples per row inside the conformance window (§7.4.3.2.1).
    var width: Int {
        let unit = chromaFormatIdc == 1 || chromaFormatIdc == 2 ? 2 : 1
        return picWidthInLumaSamples - unit * (confWinLeftOffset + confWinRightOffset)
    }

    /// Luma rows inside the conformance window.
    var height: Int {
        picHeightInLumaSamples - (chromaFormatIdc == 1 ? 2 : 1) * (confWinTopOffset + confWinBottomOffset)
    }
}

/// Fields that only a decoder needs, skipped because the VUI follows them.
extension BitReader {
    /// Skips the fields from log2_min_luma_transform_block_size_minus2 to strong_intra_smoothing_enabled_flag.
    fileprivate mutating func skipCodingTools(log2MaxPicOrderCntLsb: Int) throws(MediaError) {
        for _ in 0..<2 { _ = try ue("log2_luma_transform_block_size", in: 0...3) }
        for _ in 0..<2 { _ = try ue("max_transform_hierarchy_depth", in: 0...4) }
        if try flag(), try flag() { try skipScalingLists() }
        try skip(1 + 1)  // amp_enabled_flag, sample_adaptive_offset_enabled_flag
        if try flag() { try skipPCM() }
        var previous: HEVCReferencePictureSet?
        for _ in 0..<(try ue("num_short_term_ref_pic_sets", in: 0...64)) {
            previous = try HEVCReferencePictureSet(&self, previous: previous)
        }
        if try flag() {
            try skip(try ue("num_long_term_ref_pics_sps", in: 0...32) * (log2MaxPicOrderCntLsb + 1))
        }
        try skip(1 + 1)  // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag
    }

    /// Skips scaling_list_data (§7.3.4): six matrices of each size, two of the largest.
    private mutating func skipScalingLists() throws(MediaError) {
        for sizeId in 0..<4 {
            for _ in 0..<(sizeId == 3 ? 2 : 6) { try skipScalingList(sizeId: sizeId) }
        }
    }

    private mutating func skipScalingList(sizeId: Int) throws(MediaError) {
        guard try flag() else {
            _ = try ue("scaling_list_pred_matrix_id_delta", in: 0...5)
            return
        }
        if sizeId > 1 { _ = try se("scaling_list_dc_coef_minus8", in: -7...247) }
        for _ in 0..<(sizeId == 0 ? 16 : 64) { _ = try se("scaling_list_delta_coef", in: -128...127) }
    }

    private mutating func skipPCM() throws(MediaError) {
        try skip(4 + 4)  // the two bit depths
        for _ in 0..<2 { _ = try ue("log2_pcm_luma_coding_block_size", in: 0...2) }
        try skip(1)  // pcm_loop_filter_disabled_flag
    }
}

/// st_ref_pic_set (ISO/IEC 23008-2 §7.3.7, §7.4.8) of a sequence parameter set.
struct HEVCReferencePictureSet: Equatable, Sendable {
    /// DeltaPocS0 (falling, below 0), then DeltaPocS1 (rising, above 0).
    var deltaPocs: [Int] = []

    private static let maximum = 16

    /// - Parameter previous: the preceding set, from which this set may be predicted; nil for the first.
    init(_ bits: inout BitReader, previous: HEVCReferencePictureSet?) throws(MediaError) {
        if let previous, try bits.flag() {
            deltaPocs = try Self.predicted(&bits, from: previous)
        } else {
            let negative = try bits.ue("num_negative_pics", in: 0...Self.maximum)
            let positive = try bits.ue("num_positive_pics", in: 0...Self.maximum)
            deltaPocs = try Self.explicit(&bits, count: negative, sign: -1)
            deltaPocs += try Self.explicit(&bits, count: positive, sign: 1)
        }
        guard deltaPocs.count <= 2 * Self.maximum else { throw bits.fault(.badParameterSet(field: "use_delta_flag")) }
    }

    private static func explicit(_ bits: inout BitReader, count: Int, sign: Int) throws(MediaError) -> [Int] {
        var pocs: [Int] = []
        for _ in 0..<count {
            let step = try bits.ue("delta_poc_minus1", in: 0...32_767) + 1
            pocs.append((pocs.last ?? 0) + sign * step)
            try bits.skip(1)  // used_by_curr_pic_flag
        }
        return pocs
    }

    /// Returns the pictures of the previous set and the previous picture itself, shifted by deltaRps (equations 7-61
    /// and 7-62).
    private static func predicted(
        _ bits: inout BitReader, from previous: HEVCReferencePictureSet
    ) throws(MediaError) -> [Int] {
        let isNegative = try bits.flag()
        let magnitude = try bits.ue("abs_delta_rps_minus1", in: 0...32_767) + 1
        let deltaRps = isNegative ? -magnitude : magnitude
        var shifted: [Int] = []
        for poc in previous.deltaPocs + [0] {
            // used_by_curr_pic_flag, followed by use_delta_flag if it is 0.
            let isKept = try bits.flag() ? true : bits.flag()
            if isKept { shifted.append(poc + deltaRps) }
        }
        return shifted.filter { $0 < 0 }.sorted(by: >) + shifted.filter { $0 > 0 }.sorted()
    }
}

/// video_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.1) up to its timing information; only the timing is used.
package struct HEVCVideoParameterSet: Equatable, Sendable {
    let timing: VideoTiming?

    package static let nalUnitType = 32

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: "ISO/IEC 23008-2 §7.3.2.1")
        try bits.hevcHeader(type: Self.nalUnitType)
        try bits.skip(4 + 2 + 6)  // identifier, base layer flags, vps_max_layers_minus1
        let maxSubLayersMinus1 = try bits.u(3, "vps_max_sub_layers_minus1", in: 0...6)
        try bits.skip(1 + 16)  // vps_temporal_id_nesting_flag, vps_reserved_0xffff_16bits
        _ = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
        try bits.skipSubLayerOrdering(maxSubLayersMinus1: maxSubLayersMinus1)
        let maxLayerId = try bits.u(6)
        let layerSetsMinus1 = try bits.ue("vps_num_layer_sets_minus1", in: 0...1023)
        try bits.skip(layerSetsMinus1 * (maxLayerId + 1))
        timing = try bits.flag() ? try VideoTiming(&bits) : nil
    }
}

extension BitReader {
    /// nal_unit_header (ISO/IEC 23008-2 §7.3.1.2).
    mutating func hevcHeader(type: Int) throws(MediaError) {
        try skip(1)
        _ = try u(6, "nal_unit_type", in: type...type)
        try skip(6 + 3)
    }

    /// Skips the decoded picture buffer sizes of every temporal sub-layer, or of the highest only.
    mutating func skipSubLayerOrdering(maxSubLayersMinus1: Int) throws(MediaError) {
        for _ in (try flag() ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1 {
            _ = try ue("max_dec_pic_buffering_minus1", in: 0...15)
            _ = try ue("max_num_reorder_pics", in: 0...15)
            _ = try ue("max_latency_increase_plus1", in: 0...0xFFFF_FFFE)
        }
    }
}

/// pic_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.3.1) up to the number of extra bits in slice headers.
package struct HEVCPictureParameterSet: Equatable, Sendable {
    package var ppsPicParameterSetId: Int
    package var ppsSeqParameterSetId: Int
    package var dependentSliceSegmentsEnabledFlag: Bool
    package var outputFlagPresentFlag: Bool
    package var numExtraSliceHeaderBits: Int

    static let section = "ISO/IEC 23008-2 §7.3.2.3.1"
    package static let nalUnitType = 34

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    package init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: Self.section)
        try bits.hevcHeader(type: Self.nalUnitType)
        ppsPicParameterSetId = try bits.ue("pps_pic_parameter_set_id", in: 0...63)
        ppsSeqParameterSetId = try bits.ue("pps_seq_parameter_set_id", in: 0...15)
        dependentSliceSegmentsEnabledFlag = try bits.flag()
        outputFlagPresentFlag = try bits.flag()
        numExtraSliceHeaderBits = try bits.u(3)
    }
}

/// The general part of profile_tier_level (ISO/IEC 23008-2 §7.3.3); the sub-layer part is skipped.
package struct HEVCProfileTierLevel: Equatable, Sendable {
    /// 0 ... 3.
    package var generalProfileSpace: Int
    package var generalTierFlag: Bool
    package var generalProfileIdc: Int
    /// general_profile_compatibility_flag[0] in the most significant bit.
    package var generalProfileCompatibilityFlags: UInt32
    /// The 48 bits from general_progressive_source_flag on, as six bytes.
    package var generalConstraintIndicatorFlags: [UInt8] = []
    /// The level times 30.
    package var generalLevelIdc: Int

    /// - Parameter maxSubLayersMinus1: 0 ... 6.
    package init(_ bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) {
        generalProfileSpace = try bits.u(2)
        generalTierFlag = try bits.flag()
        generalProfileIdc = try bits.u(5)
        generalProfileCompatibilityFlags = UInt32(try bits.u(32))
        for _ in 0..<6 { generalConstraintIndicatorFlags.append(UInt8(try bits.u(8))) }
        generalLevelIdc = try bits.u(8)
        try Self.skipSubLayers(&bits, count: maxSubLayersMinus1)
    }

    private static func skipSubLayers(_ bits: inout BitReader, count: Int) throws(MediaError) {
        guard count > 0 else { return }
        var sizes: [Int] = []
        for _ in 0..<count { sizes.append(try (bits.flag() ? 88 : 0) + (bits.flag() ? 8 : 0)) }
        try bits.skip(2 * (8 - count))
        for size in sizes { try bits.skip(size) }
    }
}
