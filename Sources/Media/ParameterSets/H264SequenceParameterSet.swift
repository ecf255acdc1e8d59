/// The fields of seq_parameter_set_data that are used (ISO/IEC 14496-10 §7.3.2.1.1), under their standard names. An absent
/// field has the value that the standard infers for it.
package struct H264SequenceParameterSet: Equatable, Sendable {
    package var profileIdc: Int
    /// constraint_set0_flag in the most significant bit, reserved_zero_2bits in the least two.
    var constraintSetFlags: Int
    var levelIdc: Int
    /// 0 ... 31.
    package var seqParameterSetId: Int
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package var chromaFormatIdc = 1
    package var separateColourPlaneFlag = false
    package var bitDepthLumaMinus8 = 0
    package var bitDepthChromaMinus8 = 0
    package var log2MaxFrameNumMinus4 = 0
    package var picOrderCntType = PictureOrderCountType.two
    package var maxNumRefFrames = 0
    var picWidthInMbsMinus1 = 0
    var picHeightInMapUnitsMinus1 = 0
    package var frameMbsOnlyFlag = true
    /// In crop units (§7.4.2.1.1); 0 without frame_cropping_flag.
    var frameCropLeftOffset = 0
    var frameCropRightOffset = 0
    var frameCropTopOffset = 0
    var frameCropBottomOffset = 0
    /// nil if the VUI is absent or ends early, as some encoders write it: the video is decodable without the VUI.
    var vui: VideoUsability?

    /// pic_order_cnt_type and the fields that depend on it.
    package enum PictureOrderCountType: Equatable, Sendable {
        case zero(log2MaxPicOrderCntLsbMinus4: Int)
        case one(deltaPicOrderAlwaysZeroFlag: Bool)
        case two
    }

    static let section = "ISO/IEC 14496-10 §7.3.2.1.1"
    static let nalUnitType = 7
    /// Profiles whose parameter sets carry chroma format, bit depths and scaling lists.
    private static let profilesWithChromaFormat: Set<Int> = [
        100, 110, 122, 244, 44, 83, 86, 118, 128, 134, 135, 138, 139,
    ]

    /// - Parameter nalUnit: header byte included, emulation prevention bytes kept.
    package init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: Self.section)
        try bits.skip(3)
        _ = try bits.u(5, "nal_unit_type", in: Self.nalUnitType...Self.nalUnitType)
        profileIdc = try bits.u(8)
        constraintSetFlags = try bits.u(8)
        levelIdc = try bits.u(8)
        seqParameterSetId = try bits.ue("seq_parameter_set_id", in: 0...31)
        if Self.profilesWithChromaFormat.contains(profileIdc) { try readChromaFormat(&bits) }
        log2MaxFrameNumMinus4 = try bits.ue("log2_max_frame_num_minus4", in: 0...12)
        picOrderCntType = try PictureOrderCountType(&bits)
        // A decoder holds at most 16 frames. Some encoders write greater values, and such streams play.
        maxNumRefFrames = try bits.ue("max_num_ref_frames", in: 0...255)
        try bits.skip(1)  // gaps_in_frame_num_value_allowed_flag
        try readFrameSize(&bits)
        if try bits.flag() { vui = try? VideoUsability(h264: &bits) }
    }

    private mutating func readChromaFormat(_ bits: inout BitReader) throws(MediaError) {
        chromaFormatIdc = try bits.ue("chroma_format_idc", in: 0...3)
        if chromaFormatIdc == 3 { separateColourPlaneFlag = try bits.flag() }
        bitDepthLumaMinus8 = try bits.ue("bit_depth_luma_minus8", in: 0...6)
        bitDepthChromaMinus8 = try bits.ue("bit_depth_chroma_minus8", in: 0...6)
        try bits.skip(1)  // qpprime_y_zero_transform_bypass_flag
        guard try bits.flag() else { return }
        for index in 0..<(chromaFormatIdc == 3 ? 12 : 8) where try bits.flag() {
            try Self.skipScalingList(&bits, size: index < 6 ? 16 : 64)
        }
    }

    /// Skips scaling_list (§7.3.2.1.1.1).
    private static func skipScalingList(_ bits: inout BitReader, size: Int) throws(MediaError) {
        var scale = 8
        for _ in 0..<size {
            scale = (scale + (try bits.se("delta_scale", in: -128...127))) & 0xFF
            if scale == 0 { return }
        }
    }

    private mutating func readFrameSize(_ bits: inout BitReader) throws(MediaError) {
        // 4096 macroblocks are 65 535 pixels, the largest size that a sample entry can carry.
        picWidthInMbsMinus1 = try bits.ue("pic_width_in_mbs_minus1", in: 0...4094)
        picHeightInMapUnitsMinus1 = try bits.ue("pic_height_in_map_units_minus1", in: 0...4094)
        frameMbsOnlyFlag = try bits.flag()
        try bits.skip(frameMbsOnlyFlag ? 1 : 2)  // mb_adaptive_frame_field_flag, direct_8x8_inference_flag
        if try bits.flag() {
            frameCropLeftOffset = try bits.ue("frame_crop_left_offset", in: 0...65_535)
            frameCropRightOffset = try bits.ue("frame_crop_right_offset", in: 0...65_535)
            frameCropTopOffset = try bits.ue("frame_crop_top_offset", in: 0...65_535)
            frameCropBottomOffset = try bits.ue("frame_crop_bottom_offset", in: 0...65_535)
        }
        guard width > 0 else { throw bits.fault(.badParameterSet(field: "frame_crop_right_offset")) }
        guard (1...65_535).contains(height) else {
            throw bits.fault(.badParameterSet(field: "frame_crop_bottom_offset"))
        }
    }

    /// Luma samples per row after cropping (equation 7-19).
    var width: Int {
        (picWidthInMbsMinus1 + 1) * 16 - cropUnitX * (frameCropLeftOffset + frameCropRightOffset)
    }

    /// Luma rows of a frame after cropping (equation 7-21).
    var height: Int {
        (picHeightInMapUnitsMinus1 + 1) * 16 * fieldsPerMapUnit
            - cropUnitY * (frameCropTopOffset + frameCropBottomOffset)
    }

    /// 1 if a map unit is a macroblock of a frame, 2 if it is a macroblock of a field, which covers twice the height.
    private var fieldsPerMapUnit: Int { frameMbsOnlyFlag ? 1 : 2 }
    private var isSubsampledHorizontally: Bool { chromaFormatIdc == 1 || chromaFormatIdc == 2 }
    private var cropUnitX: Int { isSubsampledHorizontally ? 2 : 1 }
    private var cropUnitY: Int { (chromaFormatIdc == 1 ? 2 : 1) * fieldsPerMapUnit }
}

extension H264SequenceParameterSet.PictureOrderCountType {
    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        switch try bits.ue("pic_order_cnt_type", in: 0...2) {
        case 0:
            self = .zero(
                log2MaxPicOrderCntLsbMinus4: try bits.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12))
        case 1: self = try .one(&bits)
        default: self = .two
        }
    }

    private static func one(_ bits: inout BitReader) throws(MediaError) -> Self {
        let isAlwaysZero = try bits.flag()
        _ = try bits.se("offset_for_non_ref_pic")
        _ = try bits.se("offset_for_top_to_bottom_field")
        for _ in 0..<(try bits.ue("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)) {
            _ = try bits.se("offset_for_ref_frame")
        }
        return .one(deltaPicOrderAlwaysZeroFlag: isAlwaysZero)
    }
}
