/// The fields of vui_parameters up to the timing information (ISO/IEC 14496-10 §E.1.1, ISO/IEC 23008-2 §E.2.1); later
/// fields are not used. Values that are not signaled are nil.
struct VideoUsability: Equatable, Sendable {
    var sampleAspectRatio: SampleAspectRatio?
    var videoSignalType: VideoSignalType?
    var timing: VideoTiming?

    init(h264 bits: inout BitReader) throws(MediaError) {
        try readFrameFormat(&bits)
        if try bits.flag() { timing = try VideoTiming(&bits) }
    }

    init(hevc bits: inout BitReader) throws(MediaError) {
        try readFrameFormat(&bits)
        try bits.skip(1 + 1 + 1)  // neutral_chroma_indication_flag, field_seq_flag, frame_field_info_present_flag
        if try bits.flag() {
            for _ in 0..<4 { _ = try bits.ue("def_disp_win_offset", in: 0...65_535) }
        }
        if try bits.flag() { timing = try VideoTiming(&bits) }
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

/// The frame clock, or field clock for H.264 (ISO/IEC 14496-10 §E.2.1), as the encoder states it.
struct VideoTiming: Equatable, Sendable {
    /// Units of `timeScale` per field of H.264, per picture of HEVC.
    var numUnitsInTick: Int
    /// Hz.
    var timeScale: Int

    init(_ bits: inout BitReader) throws(MediaError) {
        numUnitsInTick = try bits.u(32)
        timeScale = try bits.u(32)
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

    var ratio: (width: Int, height: Int)? {
        let tabulated = aspectRatioIdc < Self.table.count ? Self.table[aspectRatioIdc] : (width: 0, height: 0)
        let ratio = (width: sarWidth ?? tabulated.width, height: sarHeight ?? tabulated.height)
        return ratio.width > 0 && ratio.height > 0 ? ratio : nil
    }
}
