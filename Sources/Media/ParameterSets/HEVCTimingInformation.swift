/// Timing information of a VPS or of the VUI of an SPS, with the field names of the latter (§E.2.1).
struct HEVCTimingInformation: Equatable, Sendable {
    /// Units of `vuiTimeScale` per picture.
    var vuiNumUnitsInTick: Int
    /// Hz.
    var vuiTimeScale: Int
    var vuiNumTicksPocDiffOneMinus1: Int?

    init(_ bits: inout BitReader) throws(MediaError) {
        vuiNumUnitsInTick = try bits.u(32)
        vuiTimeScale = try bits.u(32)
        guard try bits.flag() else { return }
        vuiNumTicksPocDiffOneMinus1 = try bits.ue("vui_num_ticks_poc_diff_one_minus1", in: 0...0xFFFF_FFFE)
    }
}
