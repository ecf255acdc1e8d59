/// The fields of vui_parameters that describe the video (ISO/IEC 14496-10 §E.1.1, ISO/IEC 23008-2 §E.2.1). Values that
/// are not signaled are nil.
package struct VideoUsability: Equatable, Sendable {
    var sampleAspectRatio: SampleAspectRatio?
    var videoSignalType: VideoSignalType?
    var timing: VideoTiming?
    /// HEVC only.
    package var minSpatialSegmentationIdc: Int?

    /// Reads the fields of H.264 up to the timing information; no field after them is used.
    init(h264 bits: inout BitReader) throws(MediaError) {
        try readFrameFormat(&bits)
        if try bits.flag() { timing = try VideoTiming(&bits) }
    }

    init(hevc bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) {
        try readFrameFormat(&bits)
        try bits.skip(1 + 1 + 1)  // neutral_chroma_indication_flag, field_seq_flag, frame_field_info_present_flag
        if try bits.flag() {
            for _ in 0..<4 { _ = try bits.ue("def_disp_win_offset", in: 0...65_535) }
        }
        if try bits.flag() {
            timing = try VideoTiming(hevc: &bits)
            if try bits.flag() {
                try HEVCHypotheticalReferenceDecoder.skip(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
            }
        }
        guard try bits.flag() else { return }
        try bits.skip(1 + 1 + 1)  // the flags of the bitstream restriction
        minSpatialSegmentationIdc = try bits.ue("min_spatial_segmentation_idc", in: 0...4095)
    }

    /// Reads the fields before those that differ between the codecs.
    private mutating func readFrameFormat(_ bits: inout BitReader) throws(MediaError) {
        if try bits.flag() { sampleAspectRatio = try SampleAspectRatio(&bits) }
        if try bits.flag() { try bits.skip(1) }  // overscan_appropriate_flag
        if try bits.flag() { videoSignalType = try VideoSignalType(&bits) }
        if try bits.flag() {
            for _ in 0..<2 { _ = try bits.ue("chroma_sample_loc_type_field", in: 0...5) }
        }
    }
}

/// The clock of the frames, or fields (ISO/IEC 14496-10 §E.2.1), that the encoder claims.
struct VideoTiming: Equatable, Sendable {
    /// Units of `timeScale` per field of H.264, per picture of HEVC.
    var numUnitsInTick: Int
    /// Hz.
    var timeScale: Int

    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        numUnitsInTick = try bits.u(32)
        timeScale = try bits.u(32)
    }

    /// Reads the timing information of a VPS or of the VUI of an SPS (ISO/IEC 23008-2 §E.2.1).
    init(hevc bits: inout BitReader) throws(MediaError) {
        try self.init(&bits)
        if try bits.flag() { _ = try bits.ue("num_ticks_poc_diff_one_minus1", in: 0...0xFFFF_FFFE) }
    }
}

/// The video signal type (ISO/IEC 14496-10 §E.2.1, ISO/IEC 23008-2 §E.3.1).
struct VideoSignalType: Equatable, Sendable {
    var videoFullRangeFlag: Bool
    var colourDescription: ColourDescription?

    /// Code points of ISO/IEC 23091-2.
    struct ColourDescription: Equatable, Sendable {
        var colourPrimaries: Int
        var transferCharacteristics: Int
        var matrixCoefficients: Int
    }

    init(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(3)  // video_format
        videoFullRangeFlag = try bits.flag()
        guard try bits.flag() else { return }
        colourDescription = ColourDescription(
            colourPrimaries: try bits.u(8), transferCharacteristics: try bits.u(8), matrixCoefficients: try bits.u(8))
    }
}

/// The ratio of width to height of one sample (Table E-1 of both standards).
struct SampleAspectRatio: Equatable, Sendable {
    var aspectRatioIdc: Int
    /// Present only if aspect_ratio_idc is 255.
    var sarWidth: Int?
    var sarHeight: Int?

    static let extended = 255
    /// Ratios by aspect_ratio_idc; 0 is "unspecified".
    static let table: [(width: Int, height: Int)] = [
        (0, 0), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
        (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    init(_ bits: inout BitReader) throws(MediaError) {
        aspectRatioIdc = try bits.u(8)
        guard aspectRatioIdc == Self.extended else { return }
        sarWidth = try bits.u(16)
        sarHeight = try bits.u(16)
    }

    /// Width and height; nil if unspecified or reserved.
    var ratio: (width: Int, height: Int)? {
        let tabulated = aspectRatioIdc < Self.table.count ? Self.table[aspectRatioIdc] : (width: 0, height: 0)
        let ratio = (width: sarWidth ?? tabulated.width, height: sarHeight ?? tabulated.height)
        return ratio.width > 0 && ratio.height > 0 ? ratio : nil
    }
}

/// hrd_parameters (ISO/IEC 23008-2 §E.2.2, §E.2.3), skipped because the fields after them are needed.
private enum HEVCHypotheticalReferenceDecoder {
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
