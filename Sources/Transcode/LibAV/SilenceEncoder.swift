import CLibAV
import Media

/// Encodes one silent frame in an audio track's configuration with libavcodec.
enum SilenceEncoder {
    struct EncoderSettings: Equatable {
        let codec: AVCodecID
        let sampleRate: Int
        let mask: UInt64
        let bitRate: Int64
    }

    /// - Returns: nil if the configuration is unreadable or libavcodec has no encoder for it.
    static func frame(_ configuration: AudioConfiguration) -> SilentFrame? {
        let settings =
            switch configuration.codec {
            case .ac3: try? configuration.ac3EncoderSettings()
            case .eac3: try? configuration.eac3EncoderSettings()
            case .aac, .mpegAudio, .flac, .opus: EncoderSettings?.none
            }
        return settings.flatMap { try? encode($0) }
    }

    private static func encode(_ settings: EncoderSettings) throws(MediaError) -> SilentFrame? {
        let libav = unsafe try LibAV.functions()
        let context = try LibAVCodecContext(encoder: settings.codec)
        let formats = unsafe context.raw.pointee.codec.pointee.sample_fmts
        unsafe context.raw.pointee.sample_fmt = formats?.pointee ?? AV_SAMPLE_FMT_FLTP
        unsafe context.raw.pointee.sample_rate = Int32(clamping: settings.sampleRate)
        unsafe context.raw.pointee.time_base = AVRational(num: 1, den: Int32(clamping: settings.sampleRate))
        unsafe context.raw.pointee.bit_rate = settings.bitRate
        try LibAV.check(
            unsafe libav.pointee.av_channel_layout_from_mask(&context.raw.pointee.ch_layout, settings.mask),
            "av_channel_layout_from_mask")
        try context.open()
        let frame = try silence(for: context)
        try LibAV.check(unsafe libav.pointee.avcodec_send_frame(context.raw, frame.raw), "avcodec_send_frame")
        try LibAV.check(unsafe libav.pointee.avcodec_send_frame(context.raw, nil), "avcodec_send_frame")
        let packet = try LibAVPacket()
        try LibAV.check(unsafe libav.pointee.avcodec_receive_packet(context.raw, packet.raw), "avcodec_receive_packet")
        return SilentFrame(payload: packet.bytes, samples: frame.sampleCount)
    }

    private static func silence(for context: borrowing LibAVCodecContext) throws(MediaError) -> LibAVFrame {
        let frame = try LibAVFrame()
        unsafe frame.raw.pointee.format = context.raw.pointee.sample_fmt.rawValue
        unsafe frame.raw.pointee.sample_rate = context.raw.pointee.sample_rate
        unsafe frame.raw.pointee.nb_samples = context.raw.pointee.frame_size
        try LibAV.check(
            unsafe frame.libav.pointee.av_channel_layout_copy(
                &frame.raw.pointee.ch_layout, &context.raw.pointee.ch_layout),
            "av_channel_layout_copy")
        try LibAV.check(unsafe frame.libav.pointee.av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        try LibAV.check(
            unsafe frame.libav.pointee.av_samples_set_silence(
                frame.raw.pointee.extended_data, 0, frame.raw.pointee.nb_samples,
                frame.raw.pointee.ch_layout.nb_channels, context.raw.pointee.sample_fmt), "av_samples_set_silence")
        return frame
    }
}

extension AudioConfiguration {
    /// Speaker masks by acmod (ETSI TS 102 366 Table 4.3). Dual mono is encoded as stereo.
    private static let acmodMasks: [UInt64] = [0x3, 0x4, 0x3, 0x7, 0x103, 0x107, 0x603, 0x607]
    private static let lowFrequencyMask: UInt64 = 0x8
    private static let section = "ETSI TS 102 366 Annex F"

    /// Encoder parameters read from `dac3` (§F.4).
    fileprivate func ac3EncoderSettings() throws(MediaError) -> SilenceEncoder.EncoderSettings {
        var bits = BitReader(decoderSpecificInfo[...], section: Self.section)
        try bits.skip(2 + 5 + 3)  // fscod, bsid, bsmod
        let mask = try Self.speakers(&bits)
        let code = try bits.u(5, "bit_rate_code", in: 0...AC3Tables.bitRates.count - 1)
        return SilenceEncoder.EncoderSettings(
            codec: AV_CODEC_ID_AC3, sampleRate: sampleRate.hertz, mask: mask,
            bitRate: Int64(AC3Tables.bitRates[code]) * 1000)
    }

    /// Encoder parameters read from `dec3` (§F.6), for the first independent substream without dependent substreams.
    ///
    /// The encoder always writes six blocks per frame.
    fileprivate func eac3EncoderSettings() throws(MediaError) -> SilenceEncoder.EncoderSettings {
        var bits = BitReader(decoderSpecificInfo[...], section: Self.section)
        let dataRate = try bits.u(13)
        try bits.skip(3 + 2 + 5 + 1 + 1 + 3)  // num_ind_sub, fscod, bsid, reserved, asvc, bsmod
        return SilenceEncoder.EncoderSettings(
            codec: AV_CODEC_ID_EAC3, sampleRate: sampleRate.hertz, mask: try Self.speakers(&bits),
            bitRate: Int64(min(max(dataRate, 64), 448)) * 1000)
    }

    private static func speakers(_ bits: inout BitReader) throws(MediaError) -> UInt64 {
        let mask = acmodMasks[try bits.u(3)]
        return try bits.flag() ? mask | lowFrequencyMask : mask
    }
}

/// An encoded audio frame that decodes to silence.
package struct SilentFrame: Equatable, Sendable {
    package let payload: [UInt8]
    /// Samples per channel, at the configuration's sample rate.
    package let samples: Int
}
