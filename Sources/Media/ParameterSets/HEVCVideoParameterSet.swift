/// video_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.1) up to and including its timing information.
package struct HEVCVideoParameterSet: Equatable, Sendable {
    /// 0 ... 15.
    var vpsVideoParameterSetId: Int
    var vpsMaxSubLayersMinus1: Int
    var vpsTemporalIdNestingFlag: Bool
    var profileTierLevel: HEVCProfileTierLevel
    /// One value for each sub-layer, or only that of the highest.
    var subLayerOrdering: [HEVCSubLayerOrdering]
    var timing: HEVCTimingInformation?

    static let section = "ISO/IEC 23008-2 §7.3.2.1"
    package static let nalUnitType = 32

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: Self.section)
        try bits.hevcHeader(type: Self.nalUnitType)
        vpsVideoParameterSetId = try bits.u(4)
        try bits.skip(2 + 6)  // vps_base_layer_internal_flag, vps_base_layer_available_flag, vps_max_layers_minus1
        vpsMaxSubLayersMinus1 = try bits.u(3, "vps_max_sub_layers_minus1", in: 0...6)
        vpsTemporalIdNestingFlag = try bits.flag()
        try bits.skip(16)  // vps_reserved_0xffff_16bits
        profileTierLevel = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: vpsMaxSubLayersMinus1)
        subLayerOrdering = try HEVCSubLayerOrdering.read(&bits, maxSubLayersMinus1: vpsMaxSubLayersMinus1)
        let maxLayerId = try bits.u(6)
        let layerSetsMinus1 = try bits.ue("vps_num_layer_sets_minus1", in: 0...1023)
        try bits.skip(layerSetsMinus1 * (maxLayerId + 1))
        if try bits.flag() { timing = try HEVCTimingInformation(&bits) }
    }
}

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

/// The decoded picture buffer that one temporal sub-layer needs.
struct HEVCSubLayerOrdering: Equatable, Sendable {
    var spsMaxDecPicBufferingMinus1: Int
    /// The number of pictures that precede any picture in decoding order and follow it in output order.
    var spsMaxNumReorderPics: Int
    var spsMaxLatencyIncreasePlus1: Int

    /// - Returns: one value for each sub-layer, or only that of the highest.
    static func read(_ bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) -> [Self] {
        var sublayers: [Self] = []
        for _ in (try bits.flag() ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1 {
            sublayers.append(
                Self(
                    spsMaxDecPicBufferingMinus1: try bits.ue("max_dec_pic_buffering_minus1", in: 0...15),
                    spsMaxNumReorderPics: try bits.ue("max_num_reorder_pics", in: 0...15),
                    spsMaxLatencyIncreasePlus1: try bits.ue("max_latency_increase_plus1", in: 0...0xFFFF_FFFE)))
        }
        return sublayers
    }
}

extension BitReader {
    /// nal_unit_header (ISO/IEC 23008-2 §7.3.1.2).
    mutating func hevcHeader(type: Int) throws(MediaError) {
        try skip(1)
        _ = try u(6, "nal_unit_type", in: type...type)
        try skip(6 + 3)
    }
}
