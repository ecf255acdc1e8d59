import Media

/// The identifier of a parameter set.
enum ParameterSetID {
    /// Reads the identifier; nil if the set ends before it.
    static func read(_ unit: [UInt8], _ kind: NALUnitRole.ParameterSet, codec: VideoConfiguration.Codec) -> Int? {
        var bits = BitReader(
            nalUnit: unit, section: codec == .h264 ? "ISO/IEC 14496-10 §7.3.2" : "ISO/IEC 23008-2 §7.3.2")
        do {
            switch (codec, kind) {
            case (.h264, .sequence): try bits.skip(8 + 24)  // NAL header, profile, constraints, level
            case (.h264, _): try bits.skip(8)
            case (.hevc, .video):
                try bits.skip(16)
                return try bits.u(4)
            case (.hevc, .sequence): try skipProfileTierLevel(&bits)
            case (.hevc, .picture): try bits.skip(16)
            }
            return try bits.ue("parameter_set_id", in: 0...255)
        } catch {
            return nil
        }
    }

    /// Skips the fields before the identifier of an SPS (ISO/IEC 23008-2 §7.3.2.2.1).
    private static func skipProfileTierLevel(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(16 + 4)  // NAL header, sps_video_parameter_set_id
        let maxSubLayersMinus1 = try bits.u(3)
        try bits.skip(1)  // sps_temporal_id_nesting_flag
        _ = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
    }
}
