import CLibAV
import CLibAVFormat
import Foundation

/// A packet of libavformat, as close to the wire as possible: one context over uncut bytes, no inferred timestamps, no
/// overflow correction.
struct OraclePacket: Equatable {
    let pid: Int
    let isVideo: Bool
    /// Units per second of `pts` and `dts`.
    let timescale: Int64
    /// For a transport stream the low 33 bits, nil if no PES header has one; for a movie the time after its edit list.
    let pts: Int64?
    let dts: Int64?
    let bytes: [UInt8]
}

enum OracleDemuxer {
    struct Failure: Error { let call: String }

    /// - Parameter container: libavformat's name of the container.
    static func packets(_ stream: [UInt8], container: String = "mpegts") throws -> [OraclePacket] {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("oracle-\(UUID().uuidString)")
        try Data(stream).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        var context = unsafe avformat_alloc_context()
        unsafe context?.pointee.flags |= AVFMT_FLAG_NOFILLIN
        var options: OpaquePointer?
        if container == "mpegts" { unsafe av_dict_set(&options, "correct_ts_overflow", "0", 0) }
        defer { unsafe av_dict_free(&options) }
        let format = unsafe av_find_input_format(container)
        guard unsafe avformat_open_input(&context, path.path, format, &options) == 0, let open = unsafe context else {
            throw Failure(call: "avformat_open_input")
        }
        defer { unsafe avformat_close_input(&context) }
        return unsafe readAll(open)
    }

    private static func readAll(_ context: UnsafeMutablePointer<AVFormatContext>) -> [OraclePacket] {
        var packet = unsafe av_packet_alloc()
        defer { unsafe av_packet_free(&packet) }
        var packets: [OraclePacket] = []
        while let current = unsafe packet, unsafe av_read_frame(context, current) >= 0 {
            if let stream = unsafe context.pointee.streams[Int(current.pointee.stream_index)] {
                unsafe packets.append(read(current.pointee, of: stream.pointee))
            }
            unsafe av_packet_unref(current)
        }
        return packets
    }

    private static func read(_ packet: AVPacket, of stream: AVStream) -> OraclePacket {
        let timescale = unsafe Int64(stream.time_base.den)
        return unsafe OraclePacket(
            pid: Int(stream.id), isVideo: stream.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO,
            timescale: timescale, pts: time(packet.pts, timescale), dts: time(packet.dts, timescale),
            bytes: Array(UnsafeBufferPointer(start: packet.data, count: Int(packet.size))))
    }

    private static func time(_ time: Int64, _ timescale: Int64) -> Int64? {
        if time == Int64.min { return nil }  // AV_NOPTS_VALUE
        return timescale == 90_000 ? time & (1 << 33 - 1) : time
    }
}
