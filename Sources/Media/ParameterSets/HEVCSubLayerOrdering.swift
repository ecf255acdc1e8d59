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
