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
