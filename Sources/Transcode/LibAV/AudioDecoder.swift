import CLibAV
import Media

/// Decodes audio frames of one configuration with libavcodec.
///
/// Decoding is bit-exact and single-threaded: the same packets decode to the same samples on every machine with the same
/// libav version.
struct AudioDecoder: ~Copyable {
    private let context: LibAVCodecContext
    private let packet: LibAVPacket
    let frame: LibAVFrame

    init(_ configuration: AudioConfiguration) throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        let context = unsafe try LibAVCodecContext(decoder: configuration.codec.decoder(in: libav))
        unsafe context.raw.pointee.sample_rate = Int32(clamping: configuration.sampleRate.hertz)
        unsafe libav.pointee.av_channel_layout_default(
            &context.raw.pointee.ch_layout, Int32(clamping: configuration.channelCount))
        try context.open(extradata: configuration.decoderExtradata)
        let packet = try LibAVPacket()
        let frame = try LibAVFrame()
        self.context = context
        self.packet = packet
        self.frame = frame
    }

    /// Profile that libavcodec detected in the stream so far, such as FF_PROFILE_AAC_HE.
    var profile: Int32 { unsafe context.raw.pointee.profile }

    /// Sends one packet.
    /// - Parameter time: attached to the first frame decoded from the packet.
    func send(_ payload: ArraySlice<UInt8>, time: Int64) throws(MediaError) {
        try packet.fill(payload, time: time)
        try LibAV.check(
            unsafe context.libav.pointee.avcodec_send_packet(context.raw, packet.raw), "avcodec_send_packet")
    }

    func sendEndOfStream() throws(MediaError) {
        try LibAV.check(unsafe context.libav.pointee.avcodec_send_packet(context.raw, nil), "avcodec_send_packet")
    }

    func receive() throws(MediaError) -> Bool {
        let code = unsafe context.libav.pointee.avcodec_receive_frame(context.raw, frame.raw)
        if code == averrorAgain || code == averrorEOF { return false }
        try LibAV.check(code, "avcodec_receive_frame")
        frame.resolveChannelLayout()
        return true
    }
}

extension AudioConfiguration.Codec {
    /// libavcodec's decoder for the codec. MPEG audio uses the fixed-point decoders, whose samples are equal on every
    /// processor.
    fileprivate func decoder(in libav: LibAV.Functions) -> UnsafePointer<AVCodec>? {
        switch self {
        case .aac: unsafe libav.pointee.avcodec_find_decoder(AV_CODEC_ID_AAC)
        case .mpegAudio(layer: 1): unsafe libav.pointee.avcodec_find_decoder_by_name("mp1")
        case .mpegAudio(layer: 2): unsafe libav.pointee.avcodec_find_decoder_by_name("mp2")
        case .mpegAudio: unsafe libav.pointee.avcodec_find_decoder_by_name("mp3")
        case .ac3: unsafe libav.pointee.avcodec_find_decoder(AV_CODEC_ID_AC3)
        case .eac3: unsafe libav.pointee.avcodec_find_decoder(AV_CODEC_ID_EAC3)
        case .flac: unsafe libav.pointee.avcodec_find_decoder(AV_CODEC_ID_FLAC)
        case .opus: unsafe libav.pointee.avcodec_find_decoder(AV_CODEC_ID_OPUS)
        }
    }
}

extension AudioConfiguration {
    fileprivate var decoderExtradata: [UInt8] {
        switch codec {
        case .aac: decoderSpecificInfo
        // STREAMINFO without its block header.
        case .flac: Array(decoderSpecificInfo.dropFirst(4))
        case .opus: identificationHeader
        case .mpegAudio, .ac3, .eac3: []
        }
    }

    /// OpusHead (RFC 7845 §5.1): the fields of `dOps` in little-endian byte order.
    private var identificationHeader: [UInt8] {
        guard decoderSpecificInfo.count >= 11 else { return [] }
        let fields = decoderSpecificInfo[2..<10]
        let swapped = [fields[2..<4], fields[4..<8], fields[8..<10]].flatMap { $0.reversed() }
        return "OpusHead".utf8 + [1, decoderSpecificInfo[1]] + swapped + decoderSpecificInfo[10...]
    }
}
