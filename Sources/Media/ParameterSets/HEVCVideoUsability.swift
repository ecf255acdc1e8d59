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
