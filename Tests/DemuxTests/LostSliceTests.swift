import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// The first slice of a picture is lost: the others do not become part of the picture before.
@Suite struct LostSliceTests {
    private static func unit(_ header: [UInt8], _ bits: String) -> [UInt8] {
        var padded = bits.filter { $0 != " " } + "1"
        while !padded.count.isMultiple(of: 8) { padded += "0" }
        let digits = Array(padded)
        let body = stride(from: 0, to: digits.count, by: 8).map { UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0 }
        return header + body
    }

    /// Main profile, frame_num and pic_order_cnt_lsb of four bits, fields allowed.
    private static let sequence = unit(
        [0x67], "01001101 00000000 00011110 1 1 1 1 011 0 1 1 0 0 1 0 0")
    /// bottom_field_pic_order_in_frame_present_flag is set.
    private static let pictures = [unit([0x68], "1 1 0 1"), unit([0x68], "010 1 0 1")]

    /// A P slice of macroblock 0 or 1: `fields` from pic_parameter_set_id on.
    private static func slice(_ fields: String, isFirst: Bool = false, header: UInt8 = 0x41) -> [UInt8] {
        unit([header], (isFirst ? "1" : "010") + " 1 " + fields + String(repeating: "01100101", count: 4))
    }

    private static let first = "1 0001 0 0010 1"
    static let rows: [(when: String, slice: [UInt8], isOther: Bool)] = [
        ("another slice of the picture", slice(first), false),
        ("another PPS", slice("010 0001 0 0010 1"), true),
        ("frame_num", slice("1 0010 0 0010 1"), true),
        ("a field", slice("1 0001 1 0 0010"), true),
        ("nal_ref_idc 0", slice(first, header: 0x01), true),
        ("another nal_ref_idc", slice(first, header: 0x21), false),
        ("an IDR picture", slice("1 0001 0 1 0010 1", header: 0x65), true),
        ("pic_order_cnt_lsb", slice("1 0001 0 0100 1"), true),
        ("delta_pic_order_cnt_bottom", slice("1 0001 0 0010 010"), true),
        ("a header that is cut off", [0x41, 0x40], false), ("a data partition", slice(first, header: 0x43), false),
    ]

    @Test(arguments: rows.indices)
    func sliceOfAnotherPictureBeginsAnAccessUnit(_ index: Int) throws {
        let row = Self.rows[index]
        let sets = [Self.sequence] + Self.pictures
        let idr = Self.slice("1 0000 0 1 0000 1", isFirst: true, header: 0x65)
        let stream = ElementarySamples.stream(
            sets + [idr, ElementarySamples.delimiter, Self.slice(Self.first, isFirst: true), row.slice])
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: Ticks(0), dts: Ticks(0))
        buffer.bytes += stream
        var framer = VideoFramer(pid: 0x100, codec: .h264)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, start: nil, ending: .closed(isPacketDue: false), counts: &counts)
        #expect(packets.count == (row.isOther ? 3 : 2), "\(row.when)")
        #expect(packets.map(\.isDamaged) == [false, false] + (row.isOther ? [true] : []), "\(row.when)")
    }

    private static let slicedX264 = [
        "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "25", "-x264-params", "slices=4:aud=0",
    ]
    private static let slicedX265 = [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=none:pools=1:frame-threads=1:slices=3:keyint=25:bframes=2:aud=0",
    ]

    /// Encoders' own streams, without delimiters: every access unit is found without its first slice.
    @Test(arguments: [
        (VideoConfiguration.Codec.h264, slicedX264), (.h264, slicedX264 + ["-flags:v", "+ildct+ilme"]),
        (.hevc, slicedX265),
    ])
    func everyPictureIsFoundWithoutItsFirstSlice(codec: VideoConfiguration.Codec, video: [String]) throws {
        let stream = try OracleMedia.run(
            [
                "-nostdin", "-loglevel", "error", "-bitexact", "-f", "lavfi", "-i",
                "testsrc2=size=320x192:rate=25:duration=2",
            ] + video + ["-threads", "1", "-flags", "+bitexact", "-f", codec == .h264 ? "h264" : "hevc", "pipe:1"])
        var units: [NALUnit] = []
        try AnnexB.scan(stream, in: stream.indices, into: &units)
        let roles = units.map { NALUnitRole($0, of: stream, codec: codec) }
        let damaged = zip(units, roles).filter { unit, role in
            switch role {
            case .delimiter, .slice(isFirst: true, .plain), .prefix: false
            default: true
            }
        }
        var buffer = ElementaryBuffer()
        buffer.bytes = damaged.flatMap { [0, 0, 0, 1] + stream[$0.0.start..<$0.0.end] }
        var whole = ElementaryBuffer()
        whole.bytes = stream
        var (splitter, other) = (AccessUnitSplitter(codec: codec), AccessUnitSplitter(codec: codec))
        let found = try splitter.split(buffer, in: buffer.bytes.indices).accessUnits
        let intact = try other.split(whole, in: whole.bytes.indices).accessUnits
        #expect(intact.count == 50)
        #expect(intact.allSatisfy { !$0.isFirstSliceMissing })
        #expect(found.count == 50)
        #expect(found.count { $0.isFirstSliceMissing } == 48)
    }
}
