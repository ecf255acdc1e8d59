/// video_parameter_set_rbsp (ISO/IEC 23008-2 §7.3.2.1) up to its timing information, which is all that is used of it.
package struct HEVCVideoParameterSet: Equatable, Sendable {
    let timing: VideoTiming?

    package static let nalUnitType = 32

    /// - Parameter nalUnit: both header bytes included, emulation prevention bytes kept.
    init(nalUnit: [UInt8]) throws(MediaError) {
        var bits = BitReader(nalUnit: nalUnit, section: "ISO/IEC 23008-2 §7.3.2.1")
        try bits.hevcHeader(type: Self.nalUnitType)
        try bits.skip(4 + 2 + 6)  // identifier, base layer flags, vps_max_layers_minus1
        let maxSubLayersMinus1 = try bits.u(3, "vps_max_sub_layers_minus1", in: 0...6)
        try bits.skip(1 + 16)  // vps_temporal_id_nesting_flag, vps_reserved_0xffff_16bits
        _ = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
        try bits.skipSubLayerOrdering(maxSubLayersMinus1: maxSubLayersMinus1)
        let maxLayerId = try bits.u(6)
        let layerSetsMinus1 = try bits.ue("vps_num_layer_sets_minus1", in: 0...1023)
        try bits.skip(layerSetsMinus1 * (maxLayerId + 1))
        timing = try bits.flag() ? try VideoTiming(&bits) : nil
    }
}

extension BitReader {
    /// nal_unit_header (ISO/IEC 23008-2 §7.3.1.2).
    mutating func hevcHeader(type: Int) throws(MediaError) {
        try skip(1)
        _ = try u(6, "nal_unit_type", in: type...type)
        try skip(6 + 3)
    }

    /// Skips the decoded picture buffers of the temporal sub-layers: of each, or only of the highest.
    mutating func skipSubLayerOrdering(maxSubLayersMinus1: Int) throws(MediaError) {
        for _ in (try flag() ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1 {
            _ = try ue("max_dec_pic_buffering_minus1", in: 0...15)
            _ = try ue("max_num_reorder_pics", in: 0...15)
            _ = try ue("max_latency_increase_plus1", in: 0...0xFFFF_FFFE)
        }
    }
}
