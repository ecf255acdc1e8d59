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
