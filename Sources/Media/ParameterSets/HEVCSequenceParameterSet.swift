/// seq_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.2.1) up to and including its VUI. An absent field has the value that
/// the standard infers for it.
package struct HEVCSequenceParameterSet: Equatable, Sendable {
    var spsVideoParameterSetId: Int
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
    /// One value for each sub-layer, or only that of the highest.
    var subLayerOrdering: [HEVCSubLayerOrdering] = []
    var coding: HEVCCodingTools
    package var vui: HEVCVideoUsability?
    /// Why an announced VUI could not be read; the video is decodable without it.
    var vuiFault: MediaError?

    static let section = "ISO/IEC 23008-2 §7.3.2.2.1"
    package static let nalUnitType = 33

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    package init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: Self.section)
        try bits.hevcHeader(type: Self.nalUnitType)
        spsVideoParameterSetId = try bits.u(4)
        spsMaxSubLayersMinus1 = try bits.u(3, "sps_max_sub_layers_minus1", in: 0...6)
        spsTemporalIdNestingFlag = try bits.flag()
        profileTierLevel = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: spsMaxSubLayersMinus1)
        coding = HEVCCodingTools()
        spsSeqParameterSetId = try bits.ue("sps_seq_parameter_set_id", in: 0...15)
        try readPictureFormat(&bits)
        subLayerOrdering = try HEVCSubLayerOrdering.read(&bits, maxSubLayersMinus1: spsMaxSubLayersMinus1)
        coding = try HEVCCodingTools(&bits, log2MaxPicOrderCntLsb: log2MaxPicOrderCntLsbMinus4 + 4)
        guard try bits.flag() else { return }
        do throws(MediaError) {
            vui = try HEVCVideoUsability(&bits, maxSubLayersMinus1: spsMaxSubLayersMinus1)
        } catch {
            vuiFault = error
        }
    }

    /// PicSizeInCtbsY (§7.4.3.2.1).
    package var picSizeInCtbs: Int {
        let log2Size =
            coding.log2MinLumaCodingBlockSizeMinus3 + 3 + coding.log2DiffMaxMinLumaCodingBlockSize
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
}

extension HEVCSequenceParameterSet {
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
