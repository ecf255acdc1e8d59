/// The VUI fields that H.264 and HEVC code alike (ISO/IEC 14496-10 §E.2.1, ISO/IEC 23008-2 §E.3.1).
struct VideoSignalType: Equatable, Sendable {
    var videoFormat: Int
    var videoFullRangeFlag: Bool
    var colourDescription: ColourDescription?

    /// Code points of ISO/IEC 23091-2.
    struct ColourDescription: Equatable, Sendable {
        var colourPrimaries: Int
        var transferCharacteristics: Int
        var matrixCoefficients: Int
    }

    init(_ bits: inout BitReader) throws(MediaError) {
        videoFormat = try bits.u(3)
        videoFullRangeFlag = try bits.flag()
        guard try bits.flag() else { return }
        colourDescription = ColourDescription(
            colourPrimaries: try bits.u(8), transferCharacteristics: try bits.u(8), matrixCoefficients: try bits.u(8))
    }
}

/// The location of chroma samples in each field (Figure E-1).
struct ChromaSampleLocation: Equatable, Sendable {
    var chromaSampleLocTypeTopField: Int
    var chromaSampleLocTypeBottomField: Int

    init(_ bits: inout BitReader) throws(MediaError) {
        chromaSampleLocTypeTopField = try bits.ue("chroma_sample_loc_type_top_field", in: 0...5)
        chromaSampleLocTypeBottomField = try bits.ue("chroma_sample_loc_type_bottom_field", in: 0...5)
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
        let listed = aspectRatioIdc < Self.table.count ? Self.table[aspectRatioIdc] : (0, 0)
        let ratio = (width: sarWidth ?? listed.0, height: sarHeight ?? listed.1)
        return ratio.width > 0 && ratio.height > 0 ? ratio : nil
    }
}
