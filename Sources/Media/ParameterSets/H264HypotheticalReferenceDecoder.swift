/// hrd_parameters (ISO/IEC 14496-10 §E.1.2).
struct H264HypotheticalReferenceDecoder: Equatable, Sendable {
    var bitRateScale: Int
    var cpbSizeScale: Int
    /// One value for each of 1 ... 32 delivery schedules.
    var bitRateValueMinus1: [Int] = []
    var cpbSizeValueMinus1: [Int] = []
    var cbrFlag: [Bool] = []
    var initialCpbRemovalDelayLengthMinus1: Int
    var cpbRemovalDelayLengthMinus1: Int
    var dpbOutputDelayLengthMinus1: Int
    var timeOffsetLength: Int

    init(_ bits: inout BitReader) throws(MediaError) {
        let cpbCount = try bits.ue("cpb_cnt_minus1", in: 0...31) + 1
        bitRateScale = try bits.u(4)
        cpbSizeScale = try bits.u(4)
        for _ in 0..<cpbCount {
            bitRateValueMinus1.append(try bits.ue("bit_rate_value_minus1", in: 0...0xFFFF_FFFE))
            cpbSizeValueMinus1.append(try bits.ue("cpb_size_value_minus1", in: 0...0xFFFF_FFFE))
            cbrFlag.append(try bits.flag())
        }
        initialCpbRemovalDelayLengthMinus1 = try bits.u(5)
        cpbRemovalDelayLengthMinus1 = try bits.u(5)
        dpbOutputDelayLengthMinus1 = try bits.u(5)
        timeOffsetLength = try bits.u(5)
    }
}
