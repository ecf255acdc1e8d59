import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Frames whose two fields are separate pictures: one sample each.
@Suite struct FieldPairingTests {
    typealias Sample = ElementarySamples

    /// Bits in the order of the syntax, terminated by rbsp_trailing_bits.
    private static func unit(_ header: UInt8, _ bits: String) -> [UInt8] {
        var padded = bits.filter { $0 != " " } + "1"
        while !padded.count.isMultiple(of: 8) { padded += "0" }
        let digits = Array(padded)
        return [header]
            + stride(from: 0, to: digits.count, by: 8).map { UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0 }
    }

    /// Main profile, level 3, frame_num of four bits, one macroblock; `framesOnly` is frame_mbs_only_flag.
    private static func sequence(framesOnly: Bool) -> [UInt8] {
        let head = "01001101 00000000 00011110 1 1 011 010 0 1 1"
        return unit(0x67, head + (framesOnly ? "1" : "0 0") + "1 0 0")
    }

    /// A P slice of picture parameter set 0.
    private static func slice(_ frameNum: Int, _ field: String, header: UInt8 = 0x41) -> [UInt8] {
        let number = String(frameNum, radix: 2)
        let bits = "1 1 1" + String(repeating: "0", count: 4 - number.count) + number + field
        return unit(header, bits + String(repeating: "01100101", count: 12))
    }

    private static let top = "1 0"
    private static let bottom = "1 1"
    private static let frame = "0"

    static let rows: [(when: String, framesOnly: Bool, slices: [[UInt8]], sizes: [Int])] = [
        ("top and bottom", false, [slice(1, top), slice(1, bottom), slice(2, top), slice(2, bottom)], [2, 2]),
        ("bottom first", false, [slice(1, bottom), slice(1, top)], [2]),
        ("an IDR field and a field that refers to it", false, [slice(0, top, header: 0x65), slice(0, bottom)], [2]),
        ("two IDR fields", false, [slice(0, top, header: 0x65), slice(0, bottom, header: 0x65)], [1, 1]),
        ("the same parity twice", false, [slice(1, top), slice(1, top)], [1, 1]),
        ("another frame_num", false, [slice(1, top), slice(2, bottom)], [1, 1]),
        (
            "a reference field and a non-reference field", false, [slice(1, top), slice(1, bottom, header: 0x01)],
            [1, 1]
        ),
        ("two non-reference fields", false, [slice(1, top, header: 0x01), slice(1, bottom, header: 0x01)], [2]),
        ("a third field begins another frame", false, [slice(1, top), slice(1, bottom), slice(1, top)], [2, 1]),
        (
            "frames among fields", false, [slice(1, frame), slice(2, top), slice(2, bottom), slice(3, frame)],
            [1, 2, 1]
        ),
        ("frames only: the same bits are not a field", true, [slice(1, top), slice(1, bottom)], [1, 1]),
    ]

    @Test(arguments: rows)
    func pairs(when: String, framesOnly: Bool, slices: [[UInt8]], sizes: [Int]) throws {
        var buffer = ElementaryBuffer()
        for (index, slice) in slices.enumerated() {
            buffer.startPacket(pts: Ticks(Int64(index) * 1800), dts: Ticks(Int64(index) * 1800))
            let sets = index == 0 ? [Self.sequence(framesOnly: framesOnly), Sample.pictureUnit(0)] : []
            buffer.bytes += Sample.stream([Sample.delimiter] + sets + [slice])
        }
        var framer = VideoFramer(pid: 0x100, codec: .h264)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, start: nil, ending: .closed(isPacketDue: false), counts: &counts)
        let unitCounts = packets.map { packet in
            ComparableFrame.lengthPrefixed(packet.payload).filter { [1, 5].contains($0[0] & 0x1F) }.count
        }
        #expect(unitCounts == sizes, "\(when)")
        let begins = sizes.indices.map { Int64(sizes[..<$0].reduce(0, +)) * 1800 }
        #expect(packets.map { $0.pts?.count } == begins, "\(when)")
        #expect(counts == Counts<DemuxCount>())
    }

    @Test func segmentThatEndsBetweenFieldsHoldsTheFirst() throws {
        var builder = TransportStreamBuilder()
        builder.tables([TransportRuleTests.video])
        let sets = [Self.sequence(framesOnly: false), Sample.pictureUnit(0)]
        builder.pes(pid: 0x100, pts: 0, Sample.stream(sets + [Self.slice(0, Self.top, header: 0x65)]))
        let first = builder.cut()
        builder.pes(pid: 0x100, pts: 1800, Sample.stream([Self.slice(0, Self.bottom)]))
        builder.pes(pid: 0x100, pts: 3600, Sample.stream([Self.slice(1, Self.top)]))
        builder.pes(pid: 0x100, pts: 5400, Sample.stream([Self.slice(1, Self.bottom)]))
        let second = builder.cut()
        var demuxer = TransportDemuxer()
        #expect(try demuxer.feed(first).video.isEmpty)
        #expect(try demuxer.feed(second).video.map { $0.pts?.count } == [0, 3600])
    }
}
