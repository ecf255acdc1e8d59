/// scaling_list (ISO/IEC 14496-10 §7.3.2.1.1.1) as coded: the differences up to the one that ends the list.
struct H264ScalingList: Equatable, Sendable {
    /// delta_scale, −128 ... 127 each; at most one for each entry of the list.
    var deltaScale: [Int] = []

    /// - Parameter size: 16 or 64 entries.
    init(_ bits: inout BitReader, size: Int) throws(MediaError) {
        var scale = 8
        while deltaScale.count < size {
            let delta = try bits.se("delta_scale", in: -128...127)
            deltaScale.append(delta)
            scale = (scale + delta) & 0xFF
            if scale == 0 { return }
        }
    }
}
