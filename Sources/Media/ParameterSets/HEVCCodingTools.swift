/// The middle of an HEVC sequence parameter set. Only a decoder needs it; it is read because the VUI follows it.
struct HEVCCodingTools: Equatable, Sendable {
    var log2MinLumaCodingBlockSizeMinus3 = 0
    var log2DiffMaxMinLumaCodingBlockSize = 0
    var log2MinLumaTransformBlockSizeMinus2 = 0
    var log2DiffMaxMinLumaTransformBlockSize = 0
    var maxTransformHierarchyDepthInter = 0
    var maxTransformHierarchyDepthIntra = 0
    var scalingListEnabledFlag = false
    var ampEnabledFlag = false
    var sampleAdaptiveOffsetEnabledFlag = false
    var pcmEnabledFlag = false
    var shortTermRefPicSets: [HEVCReferencePictureSet] = []
    var longTermRefPicsPresentFlag = false
    var spsTemporalMvpEnabledFlag = false
    var strongIntraSmoothingEnabledFlag = false

    /// Creates the values of a stream that uses none of the tools.
    init() {}

    init(_ bits: inout BitReader, log2MaxPicOrderCntLsb: Int) throws(MediaError) {
        log2MinLumaCodingBlockSizeMinus3 = try bits.ue("log2_min_luma_coding_block_size_minus3", in: 0...3)
        log2DiffMaxMinLumaCodingBlockSize = try bits.ue("log2_diff_max_min_luma_coding_block_size", in: 0...3)
        log2MinLumaTransformBlockSizeMinus2 = try bits.ue("log2_min_luma_transform_block_size_minus2", in: 0...3)
        log2DiffMaxMinLumaTransformBlockSize = try bits.ue("log2_diff_max_min_luma_transform_block_size", in: 0...3)
        maxTransformHierarchyDepthInter = try bits.ue("max_transform_hierarchy_depth_inter", in: 0...4)
        maxTransformHierarchyDepthIntra = try bits.ue("max_transform_hierarchy_depth_intra", in: 0...4)
        scalingListEnabledFlag = try bits.flag()
        if scalingListEnabledFlag, try bits.flag() { try Self.skipScalingLists(&bits) }
        ampEnabledFlag = try bits.flag()
        sampleAdaptiveOffsetEnabledFlag = try bits.flag()
        pcmEnabledFlag = try bits.flag()
        if pcmEnabledFlag { try Self.skipPCM(&bits) }
        for _ in 0..<(try bits.ue("num_short_term_ref_pic_sets", in: 0...64)) {
            shortTermRefPicSets.append(try HEVCReferencePictureSet(&bits, previous: shortTermRefPicSets.last))
        }
        longTermRefPicsPresentFlag = try bits.flag()
        if longTermRefPicsPresentFlag {
            let count = try bits.ue("num_long_term_ref_pics_sps", in: 0...32)
            try bits.skip(count * (log2MaxPicOrderCntLsb + 1))
        }
        spsTemporalMvpEnabledFlag = try bits.flag()
        strongIntraSmoothingEnabledFlag = try bits.flag()
    }

    /// Skips scaling_list_data (§7.3.4): six matrices of each size, two of the largest.
    private static func skipScalingLists(_ bits: inout BitReader) throws(MediaError) {
        for sizeId in 0..<4 {
            for _ in 0..<(sizeId == 3 ? 2 : 6) { try skipScalingList(&bits, sizeId: sizeId) }
        }
    }

    private static func skipScalingList(_ bits: inout BitReader, sizeId: Int) throws(MediaError) {
        guard try bits.flag() else {
            _ = try bits.ue("scaling_list_pred_matrix_id_delta", in: 0...5)
            return
        }
        if sizeId > 1 { _ = try bits.se("scaling_list_dc_coef_minus8", in: -7...247) }
        for _ in 0..<(sizeId == 0 ? 16 : 64) { _ = try bits.se("scaling_list_delta_coef", in: -128...127) }
    }

    private static func skipPCM(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(4 + 4)  // the two bit depths
        _ = try bits.ue("log2_min_pcm_luma_coding_block_size_minus3", in: 0...2)
        _ = try bits.ue("log2_diff_max_min_pcm_luma_coding_block_size", in: 0...2)
        try bits.skip(1)  // pcm_loop_filter_disabled_flag
    }
}
