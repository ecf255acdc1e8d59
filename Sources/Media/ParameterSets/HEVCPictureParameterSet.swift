/// pic_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.3.1) up to its flags for parallel decoding.
package struct HEVCPictureParameterSet: Equatable, Sendable {
    package var ppsPicParameterSetId: Int
    package var ppsSeqParameterSetId: Int
    package var dependentSliceSegmentsEnabledFlag: Bool
    package var outputFlagPresentFlag: Bool
    package var numExtraSliceHeaderBits: Int
    package var tilesEnabledFlag: Bool
    package var entropyCodingSyncEnabledFlag: Bool

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
        try bits.skip(1 + 1)  // sign_data_hiding_enabled_flag, cabac_init_present_flag
        _ = try bits.ue("num_ref_idx_l0_default_active_minus1", in: 0...14)
        _ = try bits.ue("num_ref_idx_l1_default_active_minus1", in: 0...14)
        _ = try bits.se("init_qp_minus26", in: -74...25)
        try bits.skip(1 + 1)  // constrained_intra_pred_flag, transform_skip_enabled_flag
        if try bits.flag() { _ = try bits.ue("diff_cu_qp_delta_depth", in: 0...3) }
        _ = try bits.se("pps_cb_qp_offset", in: -12...12)
        _ = try bits.se("pps_cr_qp_offset", in: -12...12)
        try bits.skip(1 + 1 + 1 + 1)  // slice offsets, weighted prediction, transquant_bypass_enabled_flag
        tilesEnabledFlag = try bits.flag()
        entropyCodingSyncEnabledFlag = try bits.flag()
    }
}
