import CLibAV
import Media

/// libav, which is loaded when a channel first needs it, and error handling for its calls.
enum LibAV {
    /// The functions of libav. They stay valid until the process ends.
    typealias Functions = UnsafePointer<liverelay_libav>

    /// Returns the functions of libav. The first call loads the libraries.
    /// - Throws: `MediaError.Reason.missingLibrary`. Every later call throws the same.
    static func functions() throws(MediaError) -> Functions {
        var failure = unsafe liverelay_libav_failure()
        guard let functions = unsafe liverelay_libav_load(&failure) else { throw unsafe error(failure) }
        return unsafe functions
    }

    static func error(_ failure: liverelay_libav_failure) -> MediaError {
        let name = unsafe failure.library.map { unsafe String(cString: $0) } ?? "libavcodec"
        let detail = unsafe withUnsafeBytes(of: failure.detail) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return MediaError(.missingLibrary(name: name, detail: detail), section: "libavcodec")
    }

    static func error(_ code: Int32, _ call: String) -> MediaError {
        MediaError(.library(code: code, call: call), section: "libavcodec")
    }

    /// Throws if `code` is an error.
    @discardableResult
    static func check(_ code: Int32, _ call: String) throws(MediaError) -> Int32 {
        guard code >= 0 else { throw error(code, call) }
        return code
    }

    static func allocated<Object>(
        _ pointer: UnsafeMutablePointer<Object>?, _ call: String
    ) throws(MediaError) -> UnsafeMutablePointer<Object> {
        guard let pointer = unsafe pointer else { throw error(averrorNoMemory, call) }
        return unsafe pointer
    }
}

/// Owner of an AVFrame and its buffers.
@safe struct LibAVFrame: ~Copyable {
    let raw: UnsafeMutablePointer<AVFrame>
    let libav: LibAV.Functions

    init() throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        unsafe raw = try LibAV.allocated(libav.pointee.av_frame_alloc(), "av_frame_alloc")
        unsafe self.libav = unsafe libav
    }

    deinit {
        var freed: UnsafeMutablePointer<AVFrame>? = unsafe raw
        unsafe libav.pointee.av_frame_free(&freed)
    }

    var sampleCount: Int { unsafe Int(raw.pointee.nb_samples) }
    var sampleRate: Int { unsafe Int(raw.pointee.sample_rate) }
    var channelCount: Int { unsafe Int(raw.pointee.ch_layout.nb_channels) }
    var format: Int32 { unsafe raw.pointee.format }
    /// Time of the packet that the frame was decoded from; nil for every further frame of that packet.
    var time: Int64? { unsafe raw.pointee.pts == avNoPTS ? nil : raw.pointee.pts }

    /// Sets the default layout for the channel count if the decoder left the layout unspecified.
    func resolveChannelLayout() {
        guard unsafe raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC else { return }
        let count = unsafe raw.pointee.ch_layout.nb_channels
        unsafe libav.pointee.av_channel_layout_default(&raw.pointee.ch_layout, count)
    }
}

/// Owner of an AVPacket and its bytes.
@safe struct LibAVPacket: ~Copyable {
    let raw: UnsafeMutablePointer<AVPacket>
    private let libav: LibAV.Functions

    init() throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        unsafe raw = try LibAV.allocated(libav.pointee.av_packet_alloc(), "av_packet_alloc")
        unsafe self.libav = unsafe libav
    }

    deinit {
        var freed: UnsafeMutablePointer<AVPacket>? = unsafe raw
        unsafe libav.pointee.av_packet_free(&freed)
    }

    var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: raw.pointee.data, count: Int(raw.pointee.size))) }

    /// Copies `payload` into the packet, followed by the zero padding that decoders read.
    func fill(_ payload: ArraySlice<UInt8>, time: Int64) throws(MediaError) {
        unsafe libav.pointee.av_packet_unref(raw)
        guard let size = Int32(exactly: payload.count), size < Int32.max / 2 else {
            throw LibAV.error(averrorInvalidData, "av_new_packet")
        }
        try LibAV.check(unsafe libav.pointee.av_new_packet(raw, size), "av_new_packet")
        unsafe raw.pointee.pts = time
        unsafe UnsafeMutableRawBufferPointer(start: raw.pointee.data, count: payload.count).copyBytes(from: payload)
    }
}

/// Owner of an AVCodecContext, bit-exact and single-threaded, so that equal input gives equal output.
@safe struct LibAVCodecContext: ~Copyable {
    let raw: UnsafeMutablePointer<AVCodecContext>
    let libav: LibAV.Functions

    init(encoder id: AVCodecID) throws(MediaError) {
        let codec = unsafe try LibAV.functions().pointee.avcodec_find_encoder(id)
        guard let codec = unsafe codec else { throw LibAV.error(averrorEncoderNotFound, "avcodec_find_encoder") }
        try unsafe self.init(codec)
    }

    /// - Parameter codec: nil if libav has none.
    init(decoder codec: UnsafePointer<AVCodec>?) throws(MediaError) {
        guard let codec = unsafe codec else { throw LibAV.error(averrorDecoderNotFound, "avcodec_find_decoder") }
        try unsafe self.init(codec)
    }

    private init(_ codec: UnsafePointer<AVCodec>) throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        unsafe raw = try LibAV.allocated(libav.pointee.avcodec_alloc_context3(codec), "avcodec_alloc_context3")
        unsafe self.libav = unsafe libav
        unsafe raw.pointee.thread_count = 1
        unsafe raw.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    }

    deinit {
        var freed: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
        unsafe libav.pointee.avcodec_free_context(&freed)
    }

    /// - Parameter extradata: codec configuration, copied.
    func open(extradata: [UInt8] = []) throws(MediaError) {
        if !extradata.isEmpty {
            // The context owns and frees this buffer.
            guard let copy = unsafe libav.pointee.av_mallocz(extradata.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
                throw LibAV.error(averrorNoMemory, "av_mallocz")
            }
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: extradata.count).copyBytes(from: extradata)
            unsafe raw.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
            unsafe raw.pointee.extradata_size = Int32(clamping: extradata.count)
        }
        try LibAV.check(unsafe libav.pointee.avcodec_open2(raw, nil, nil), "avcodec_open2")
    }
}
