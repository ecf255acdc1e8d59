import CLibAV
import Media

/// What every call into libav has in common.
enum LibAV {
    /// libav writes what it finds wrong with a stream to standard error; here that is counted instead.
    private static let isQuiet: Void = av_log_set_level(AV_LOG_QUIET)

    static func silenceLog() { isQuiet }

    static func fault(_ code: Int32, _ call: String) -> MediaError {
        MediaError(.library(code: code, call: call), section: "libavcodec")
    }

    /// - Returns: `code` when it is no error.
    @discardableResult
    static func check(_ code: Int32, _ call: String) throws(MediaError) -> Int32 {
        guard code >= 0 else { throw fault(code, call) }
        return code
    }

    static func allocated<Object>(
        _ pointer: UnsafeMutablePointer<Object>?, _ call: String
    ) throws(MediaError) -> UnsafeMutablePointer<Object> {
        guard let pointer = unsafe pointer else { throw fault(averrorNoMemory, call) }
        return unsafe pointer
    }
}

/// An AVFrame and whatever it refers to.
@safe struct LibAVFrame: ~Copyable {
    let raw: UnsafeMutablePointer<AVFrame>

    init() throws(MediaError) { unsafe raw = try LibAV.allocated(av_frame_alloc(), "av_frame_alloc") }

    deinit {
        var freed: UnsafeMutablePointer<AVFrame>? = unsafe raw
        unsafe av_frame_free(&freed)
    }

    var sampleCount: Int { unsafe Int(raw.pointee.nb_samples) }
    var sampleRate: Int { unsafe Int(raw.pointee.sample_rate) }
    var channelCount: Int { unsafe Int(raw.pointee.ch_layout.nb_channels) }
    var format: Int32 { unsafe raw.pointee.format }
    /// What the packet it was decoded from was sent with; nil for a second frame out of one packet.
    var time: Int64? { unsafe raw.pointee.pts == avNoPTS ? nil : raw.pointee.pts }

    /// A decoder that only knows how many channels there are means the usual ones.
    func resolveChannelLayout() {
        guard unsafe raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC else { return }
        let count = unsafe raw.pointee.ch_layout.nb_channels
        unsafe av_channel_layout_default(&raw.pointee.ch_layout, count)
    }
}

/// An AVPacket and the bytes it owns.
@safe struct LibAVPacket: ~Copyable {
    let raw: UnsafeMutablePointer<AVPacket>

    init() throws(MediaError) { unsafe raw = try LibAV.allocated(av_packet_alloc(), "av_packet_alloc") }

    deinit {
        var freed: UnsafeMutablePointer<AVPacket>? = unsafe raw
        unsafe av_packet_free(&freed)
    }

    var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: raw.pointee.data, count: Int(raw.pointee.size))) }

    /// Takes a copy of `payload`, followed by the zeros that decoders read into.
    func fill(_ payload: ArraySlice<UInt8>, time: Int64) throws(MediaError) {
        unsafe av_packet_unref(raw)
        guard let size = Int32(exactly: payload.count), size < Int32.max / 2 else {
            throw LibAV.fault(averrorInvalidData, "av_new_packet")
        }
        try LibAV.check(unsafe av_new_packet(raw, size), "av_new_packet")
        unsafe raw.pointee.pts = time
        unsafe UnsafeMutableRawBufferPointer(start: raw.pointee.data, count: payload.count).copyBytes(from: payload)
    }
}

/// A decoder or an encoder: bit-exact and on one thread, so that the same input gives the same output.
@safe struct LibAVCodecContext: ~Copyable {
    let raw: UnsafeMutablePointer<AVCodecContext>

    init(_ codec: UnsafePointer<AVCodec>) throws(MediaError) {
        LibAV.silenceLog()
        unsafe raw = try LibAV.allocated(avcodec_alloc_context3(codec), "avcodec_alloc_context3")
        unsafe raw.pointee.thread_count = 1
        unsafe raw.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    }

    deinit {
        var freed: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
        unsafe avcodec_free_context(&freed)
    }

    /// - Parameter extradata: what the codec has to know before the first packet; copied.
    func open(_ codec: UnsafePointer<AVCodec>, extradata: [UInt8] = []) throws(MediaError) {
        if !extradata.isEmpty {
            // Owned, and freed, by the context.
            guard let copy = unsafe av_mallocz(extradata.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
                throw LibAV.fault(averrorNoMemory, "av_mallocz")
            }
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: extradata.count).copyBytes(from: extradata)
            unsafe raw.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
            unsafe raw.pointee.extradata_size = Int32(clamping: extradata.count)
        }
        try LibAV.check(unsafe avcodec_open2(raw, codec, nil), "avcodec_open2")
    }
}
