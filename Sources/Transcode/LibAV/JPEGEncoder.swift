import CLibAV
package import Media

/// Encodes stills as JPEG with libavcodec. Equal stills give equal bytes.
package enum JPEGEncoder {
    /// The quantizer, 2 ... 31. With this value, a still of 320 × 180 takes some 10 KB.
    private static let quantizer: Int32 = 5

    package static func encode(_ image: StillImage) throws(MediaError) -> [UInt8] {
        let libav = unsafe try LibAV.functions()
        let context = try LibAVCodecContext(encoder: AV_CODEC_ID_MJPEG)
        unsafe context.raw.pointee.width = Int32(clamping: image.size.width)
        unsafe context.raw.pointee.height = Int32(clamping: image.size.height)
        unsafe context.raw.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        unsafe context.raw.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe context.raw.pointee.time_base = AVRational(num: 1, den: 1)
        unsafe context.raw.pointee.flags |= AV_CODEC_FLAG_QSCALE
        unsafe context.raw.pointee.global_quality = FF_QP2LAMBDA * quantizer
        try context.open()
        let frame = try frame(of: image)
        unsafe frame.raw.pointee.quality = FF_QP2LAMBDA * quantizer
        try LibAV.check(unsafe libav.pointee.avcodec_send_frame(context.raw, frame.raw), "avcodec_send_frame")
        let packet = try LibAVPacket()
        try LibAV.check(unsafe libav.pointee.avcodec_receive_packet(context.raw, packet.raw), "avcodec_receive_packet")
        return packet.bytes
    }

    private static func frame(of image: StillImage) throws(MediaError) -> LibAVFrame {
        let frame = try LibAVFrame()
        unsafe frame.raw.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
        unsafe frame.raw.pointee.width = Int32(clamping: image.size.width)
        unsafe frame.raw.pointee.height = Int32(clamping: image.size.height)
        try LibAV.check(unsafe frame.libav.pointee.av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        let buffers = unsafe [
            (frame.raw.pointee.data.0, frame.raw.pointee.linesize.0),
            (frame.raw.pointee.data.1, frame.raw.pointee.linesize.1),
            (frame.raw.pointee.data.2, frame.raw.pointee.linesize.2),
        ]
        for (index, plane) in image.planes.enumerated() {
            let (start, stride) = unsafe buffers[index]
            guard let start = unsafe start, Int(stride) >= plane.width else {
                throw LibAV.error(averrorNoMemory, "av_frame_get_buffer")
            }
            for row in 0..<plane.height {
                unsafe UnsafeMutableRawBufferPointer(start: start + row * Int(stride), count: plane.width)
                    .copyBytes(from: plane.samples[row * plane.width..<(row + 1) * plane.width])
            }
        }
        return frame
    }
}
