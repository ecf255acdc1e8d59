import CLibAV
import Media

/// Encodes planar audio as AAC-LC with libavcodec.
///
/// The first output frame is the encoder delay, which decoders need first. Therefore frame `n` decodes to the samples
/// from `(n - 1) * 1024` on.
struct AACEncoder: ~Copyable {
    static let samplesPerFrame = 1024

    private let context: LibAVCodecContext
    private let frame: LibAVFrame
    private let packet: LibAVPacket
    private var samplesSent: Int64 = 0

    init(sampleRate: Int, layout: AACLayout) throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        let context = try LibAVCodecContext(encoder: AV_CODEC_ID_AAC)
        unsafe context.raw.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe context.raw.pointee.sample_rate = Int32(clamping: sampleRate)
        unsafe context.raw.pointee.time_base = AVRational(num: 1, den: Int32(clamping: sampleRate))
        unsafe context.raw.pointee.bit_rate = layout.bitRate(sampleRate: sampleRate)
        try LibAV.check(
            unsafe libav.pointee.av_channel_layout_from_mask(&context.raw.pointee.ch_layout, layout.mask),
            "av_channel_layout_from_mask")
        try context.open()
        // The frame numbers in the type's description depend on this delay.
        let padding = unsafe context.raw.pointee.initial_padding
        guard padding == Self.samplesPerFrame else { throw LibAV.error(padding, "initial_padding") }
        let frame = try Self.frame(layout)
        let packet = try LibAVPacket()
        self.context = context
        self.frame = frame
        self.packet = packet
    }

    private static func frame(_ layout: AACLayout) throws(MediaError) -> LibAVFrame {
        let frame = try LibAVFrame()
        unsafe frame.raw.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe frame.raw.pointee.nb_samples = Int32(samplesPerFrame)
        try LibAV.check(
            unsafe frame.libav.pointee.av_channel_layout_from_mask(&frame.raw.pointee.ch_layout, layout.mask),
            "av_channel_layout_from_mask")
        try LibAV.check(unsafe frame.libav.pointee.av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    mutating func encode(_ samples: inout PlanarSamples) throws(MediaError) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while samples.count >= Self.samplesPerFrame {
            frames += try encode(Self.samplesPerFrame, of: &samples)
        }
        return frames
    }

    /// Encodes the rest of `samples`, padded with silence, and flushes the encoder.
    mutating func finish(_ samples: inout PlanarSamples) throws(MediaError) -> [[UInt8]] {
        var frames = try encode(&samples)
        if samples.count > 0 { frames += try encode(samples.count, of: &samples) }
        try LibAV.check(unsafe context.libav.pointee.avcodec_send_frame(context.raw, nil), "avcodec_send_frame")
        return try frames + receive()
    }

    private mutating func encode(_ count: Int, of samples: inout PlanarSamples) throws(MediaError) -> [[UInt8]] {
        try LibAV.check(unsafe frame.libav.pointee.av_frame_make_writable(frame.raw), "av_frame_make_writable")
        unsafe frame.raw.pointee.nb_samples = Int32(clamping: count)
        unsafe frame.raw.pointee.pts = samplesSent
        samples.move(count, into: frame)
        samplesSent += Int64(count)
        try LibAV.check(unsafe context.libav.pointee.avcodec_send_frame(context.raw, frame.raw), "avcodec_send_frame")
        return try receive()
    }

    private func receive() throws(MediaError) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while true {
            let code = unsafe context.libav.pointee.avcodec_receive_packet(context.raw, packet.raw)
            if code == averrorAgain || code == averrorEOF { return frames }
            try LibAV.check(code, "avcodec_receive_packet")
            frames.append(packet.bytes)
        }
    }
}

/// Speaker layout of an AAC channel configuration (ISO/IEC 14496-3 Table 1.19).
struct AACLayout: Hashable, Sendable {
    /// 1 mono, 2 stereo ... 6 for 5.1, 7 for 7.1.
    let channelConfiguration: Int

    /// - Returns: nil for a channel configuration that is not in the table.
    init?(channelConfiguration: Int) {
        guard Self.rows.indices.contains(channelConfiguration - 1) else { return nil }
        self.channelConfiguration = channelConfiguration
    }

    /// Layout with `channelCount` channels.
    ///
    /// The table has no layout for 6.1, which becomes 5.1. More than eight channels become 7.1.
    init(nearestTo channelCount: Int) {
        switch channelCount {
        case ...1: channelConfiguration = 1
        case 2...6: channelConfiguration = channelCount
        case 7: channelConfiguration = 6
        default: channelConfiguration = 7
        }
    }

    var channelCount: Int { row.channels }

    /// Speaker mask, one bit per speaker, numbered as in WAVEFORMATEXTENSIBLE and libav.
    var mask: UInt64 { row.mask }

    /// Bit rate in bit/s at which the second encoding is inaudible.
    ///
    /// The first two channels get 2 bits per sample each, every further channel 4/3 bits.
    func bitRate(sampleRate: Int) -> Int64 {
        Int64(sampleRate) * (Int64(min(channelCount, 2)) * 6 + Int64(max(0, channelCount - 2)) * 4) / 3
    }

    private var row: (channels: Int, mask: UInt64) { Self.rows[channelConfiguration - 1] }

    private static let rows: [(channels: Int, mask: UInt64)] = [
        (1, 0x4), (2, 0x3), (3, 0x7), (4, 0x107), (5, 0x37), (6, 0x3F), (8, 0x63F),
    ]
}
