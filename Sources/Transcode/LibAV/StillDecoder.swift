import CLibAV
package import Media

/// Decodes one sync sample to a small still with libavcodec.
package enum StillDecoder {
    package static let largestSample = 16 << 20
    /// The pixels of the largest frame: 4096 × 2304.
    static let largestFrame: Int64 = 4096 * 2304

    /// Decodes a sample that refers to no other sample.
    /// - Parameters:
    ///   - record: the decoder configuration record; empty for MPEG-2.
    ///   - box: the largest size of the still, which keeps the aspect ratio of the frame.
    package static func image(
        of sample: [UInt8], _ codec: VideoConfiguration.Codec, record: [UInt8], in box: StillImage.Size
    ) throws(MediaError) -> StillImage {
        guard sample.count <= largestSample else {
            throw MediaError(.tooLarge(bytes: sample.count), section: "libavcodec")
        }
        let libav = unsafe try LibAV.functions()
        let context = unsafe try LibAVCodecContext(decoder: libav.pointee.avcodec_find_decoder(codec.libavID))
        unsafe context.raw.pointee.max_pixels = largestFrame
        // With these flags, a recovery point that is not an IDR picture is output at once.
        unsafe context.raw.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        unsafe context.raw.pointee.flags2 |= AV_CODEC_FLAG2_SHOW_ALL
        // The edges that the loop filter smooths are smaller than a pixel of the still.
        unsafe context.raw.pointee.skip_loop_filter = AVDISCARD_ALL
        try context.open(extradata: record)
        let packet = try LibAVPacket()
        let frame = try LibAVFrame()
        try packet.fill(sample[...], time: 0)
        try LibAV.check(unsafe libav.pointee.avcodec_send_packet(context.raw, packet.raw), "avcodec_send_packet")
        try LibAV.check(unsafe libav.pointee.avcodec_send_packet(context.raw, nil), "avcodec_send_packet")
        try LibAV.check(unsafe libav.pointee.avcodec_receive_frame(context.raw, frame.raw), "avcodec_receive_frame")
        return try frame.image(in: box)
    }
}

extension VideoConfiguration.Codec {
    fileprivate var libavID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        case .mpeg2: AV_CODEC_ID_MPEG2VIDEO
        }
    }
}

extension LibAVFrame {
    /// The frame scaled down to square pixels; the frame's own pixels may not be square.
    fileprivate func image(in box: StillImage.Size) throws(MediaError) -> StillImage {
        let (width, height) = unsafe (Int(raw.pointee.width), Int(raw.pointee.height))
        guard width > 0, height > 0,
            let format = unsafe libav.pointee.av_pix_fmt_desc_get(AVPixelFormat(raw.pointee.format)),
            unsafe format.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BE)
                == 0
        else { throw LibAV.error(averrorInvalidData, "av_pix_fmt_desc_get") }
        let pixel = unsafe raw.pointee.sample_aspect_ratio
        let isSquare = pixel.num <= 0 || pixel.den <= 0
        let aspect = (
            width: isSquare ? width : width * Int(pixel.num), height: isSquare ? height : height * Int(pixel.den)
        )
        var image = StillImage(StillImage.Size(width: box.width, height: box.height, showing: aspect))
        for index in 0..<min(3, unsafe Int(format.pointee.nb_components)) {
            let plane = image.planes[index]
            let source = unsafe try source(index, format.pointee, width: width, height: height)
            image.planes[index] = PlaneScaler.scale(source, to: (plane.width, plane.height))
        }
        color(height: height).convert(&image)
        return image
    }

    private func source(
        _ index: Int, _ format: AVPixFmtDescriptor, width: Int, height: Int
    ) throws(MediaError) -> PlaneScaler.Source {
        let components = unsafe [format.comp.0, format.comp.1, format.comp.2]
        let component = components[index]
        let planes = unsafe [raw.pointee.data.0, raw.pointee.data.1, raw.pointee.data.2]
        let strides = unsafe [raw.pointee.linesize.0, raw.pointee.linesize.1, raw.pointee.linesize.2]
        let bytes = component.depth > 8 ? 2 : 1
        guard unsafe planes.indices.contains(Int(component.plane)), component.step == bytes, component.shift == 0,
            component.depth <= 16, let start = unsafe planes[Int(component.plane)]
        else { throw LibAV.error(averrorInvalidData, "av_pix_fmt_desc_get") }
        // Chroma planes are rounded up.
        let (right, down) = unsafe index == 0 ? (0, 0) : (Int(format.log2_chroma_w), Int(format.log2_chroma_h))
        return unsafe PlaneScaler.Source(
            UnsafeRawPointer(start + Int(component.offset)), stride: Int(strides[Int(component.plane)]),
            width: (width + (1 << right) - 1) >> right, height: (height + (1 << down) - 1) >> down,
            depth: Int(component.depth))
    }

    private func color(height: Int) -> ColorConversion {
        let matrix = unsafe raw.pointee.colorspace
        let isHigh: Bool
        switch matrix {
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: isHigh = false
        // If the stream does not signal the matrix, the frame size decides.
        case AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RESERVED: isHigh = height > 576
        default: isHigh = true
        }
        return ColorConversion(
            isFullRange: unsafe raw.pointee.color_range == AVCOL_RANGE_JPEG, isHighDefinition: isHigh)
    }
}
