/// vui_parameters (ISO/IEC 14496-10 §E.1.1). Values that are not signaled are nil.
struct H264VideoUsability: Equatable, Sendable {
    var sampleAspectRatio: SampleAspectRatio?
    var overscanAppropriateFlag: Bool?
    var videoSignalType: VideoSignalType?
    var chromaSampleLoc: ChromaSampleLocation?
    var timing: TimingInformation?
    var nalHrd: H264HypotheticalReferenceDecoder?
    var vclHrd: H264HypotheticalReferenceDecoder?
    /// Present only with `nalHrd` or `vclHrd`.
    var lowDelayHrdFlag: Bool?
    var picStructPresentFlag: Bool
    var bitstreamRestriction: BitstreamRestriction?

    struct TimingInformation: Equatable, Sendable {
        /// Units of `timeScale` per field.
        var numUnitsInTick: Int
        /// Hz.
        var timeScale: Int
        var fixedFrameRateFlag: Bool
    }

    struct BitstreamRestriction: Equatable, Sendable {
        var motionVectorsOverPicBoundariesFlag: Bool
        var maxBytesPerPicDenom: Int
        var maxBitsPerMbDenom: Int
        var log2MaxMvLengthHorizontal: Int
        var log2MaxMvLengthVertical: Int
        /// The number of frames that precede any frame in decoding order and follow it in output order.
        var maxNumReorderFrames: Int
        var maxDecFrameBuffering: Int
    }

    init(_ bits: inout BitReader) throws(MediaError) {
        if try bits.flag() { sampleAspectRatio = try SampleAspectRatio(&bits) }
        if try bits.flag() { overscanAppropriateFlag = try bits.flag() }
        if try bits.flag() { videoSignalType = try VideoSignalType(&bits) }
        if try bits.flag() { chromaSampleLoc = try ChromaSampleLocation(&bits) }
        if try bits.flag() { timing = try TimingInformation(&bits) }
        if try bits.flag() { nalHrd = try H264HypotheticalReferenceDecoder(&bits) }
        if try bits.flag() { vclHrd = try H264HypotheticalReferenceDecoder(&bits) }
        if nalHrd != nil || vclHrd != nil { lowDelayHrdFlag = try bits.flag() }
        picStructPresentFlag = try bits.flag()
        if try bits.flag() { bitstreamRestriction = try BitstreamRestriction(&bits) }
    }
}

extension H264VideoUsability.TimingInformation {
    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        numUnitsInTick = try bits.u(32)
        timeScale = try bits.u(32)
        fixedFrameRateFlag = try bits.flag()
    }
}

extension H264VideoUsability.BitstreamRestriction {
    fileprivate init(_ bits: inout BitReader) throws(MediaError) {
        motionVectorsOverPicBoundariesFlag = try bits.flag()
        maxBytesPerPicDenom = try bits.ue("max_bytes_per_pic_denom", in: 0...16)
        maxBitsPerMbDenom = try bits.ue("max_bits_per_mb_denom", in: 0...16)
        log2MaxMvLengthHorizontal = try bits.ue("log2_max_mv_length_horizontal", in: 0...32)
        log2MaxMvLengthVertical = try bits.ue("log2_max_mv_length_vertical", in: 0...32)
        maxNumReorderFrames = try bits.ue("max_num_reorder_frames", in: 0...16)
        maxDecFrameBuffering = try bits.ue("max_dec_frame_buffering", in: 0...16)
    }
}
