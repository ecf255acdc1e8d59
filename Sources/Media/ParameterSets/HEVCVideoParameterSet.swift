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
