import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// DVB subtitles and teletext of a transport stream.
@Suite struct PrivateDataTests {
    private typealias Builder = TransportStreamBuilder
    private typealias Sample = ElementarySamples

    private static let subtitling: [UInt8] = [0x59, 8] + Array("deu".utf8) + [0x10, 0, 1, 0, 1]
    private static let teletext: [UInt8] = [0x56, 5] + Array("fra".utf8) + [0x10, 0x88]

    private static func program(_ streams: [Builder.Stream], _ write: (inout Builder) -> Void = { _ in }) throws
        -> DemuxedSegment
    {
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B)] + streams)
        builder.pes(pid: 0x100, pts: 900_000, Sample.idr(1))
        write(&builder)
        builder.pes(pid: 0x100, pts: 903_600, Sample.plain(2))
        var demuxer = TransportDemuxer()
        return try demuxer.feed(builder.cut())
    }

    static let streamRows: [(when: String, types: [UInt8], descriptors: [[UInt8]], streams: [String])] = [
        ("subtitles and teletext", [6, 6], [subtitling, teletext], ["59086465751000010001", "5605667261" + "1088"]),
        ("after another descriptor", [6], [[0x52, 1, 0] + subtitling], ["59086465751000010001"]),
        ("two streams of one description", [6, 6], [teletext, teletext], ["56056672611088", "56056672611088.1"]),
        ("an empty descriptor", [6], [[0x59, 0]], []),
        ("a cut descriptor", [6], [[0x59, 8, 0x64]], []),
        ("another stream_type", [0x05], [teletext], []),
        ("ARIB captions", [6], [[0x52, 1, 0x30, 0xFD, 3, 0, 8, 0x3D]], ["520130fd0300083d"]),
        (
            "ARIB captions, described the other way round", [6], [[0xFD, 3, 0, 8, 0x3D, 0x52, 1, 0x31]],
            ["520131fd0300083d"]
        ),
        ("ARIB captions without an identifier", [6], [[0xFD, 3, 0, 0x12, 0xBD]], ["fd030012bd"]),
        ("superimposed text", [6], [[0x52, 1, 0x38, 0xFD, 3, 0, 8, 0x3D]], []),
        ("another data component", [6], [[0x52, 1, 0x40, 0xFD, 3, 0, 0x0C, 0]], []),
        ("AC-3 beside a descriptor", [6], [[0x6A, 1, 0] + teletext], []),
    ]

    @Test(arguments: streamRows)
    func streamsOfTheProgram(when: String, types: [UInt8], descriptors: [[UInt8]], streams: [String]) throws {
        let listed = zip(types, descriptors).enumerated().map { index, stream in
            Builder.Stream(pid: 0x200 + UInt16(index), type: stream.0, descriptors: stream.1)
        }
        let program = try #require(try Self.program(listed).program)
        #expect(program.privateData.map(\.text) == streams, "\(when)")
        for stream in program.privateData { #expect(PrivateDataStream(text: stream.text) == stream) }
        #expect(program.listed.filter(\.isFollowed).count >= 1 + streams.count, "\(when)")
    }

    @Test(arguments: [
        "", "59", "5900", "5901", "590100.0", "590100.x", "590100.1.2", "0A0100", "59010g",
        "520130", "FD03000C00", "59010052013056", "590100520130",
    ])
    func otherTextIsNoStream(_ text: String) {
        #expect(PrivateDataStream(text: text) == nil, "\(text)")
    }

    private static func page(_ id: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0x0F, 0x10, 0, id, 0, UInt8(data.count)] + data
    }

    /// Two services share a stream, with pages of their own and a common one.
    @Test func servicesHaveTheirPages() throws {
        let entries: [UInt8] =
            Array("deu".utf8) + [0x10, 0, 1, 0, 9] + Array("deu".utf8) + [0x20, 0, 2, 0, 9] + Array("fra".utf8)
        let stream = PrivateDataStream(descriptor: [0x59, UInt8(entries.count)] + entries)
        let services = stream.subtitlingServices
        #expect(services.map(\.pages) == [[0, 1, 0, 9], [0, 2, 0, 9]] && services.map(\.type) == [0x10, 0x20])
        let segments = Self.page(1, [1, 1]) + Self.page(9, [9]) + Self.page(2, []) + Self.page(3, [3])
        #expect(services[0].segments(of: segments[...]) == Self.page(1, [1, 1]) + Self.page(9, [9]))
        #expect(services[1].segments(of: segments[...]) == Self.page(9, [9]) + Self.page(2, []))
        #expect(services[0].segments(of: segments.dropLast(1)) == Self.page(1, [1, 1]) + Self.page(9, [9]))
        #expect(services[0].segments(of: segments[..<7]).isEmpty)
        #expect(PrivateDataStream(descriptor: Self.teletext).subtitlingServices.isEmpty)
    }

    @Test func payloadsAndTimes() throws {
        let payload = [UInt8](repeating: 0x10, count: 400)
        let segment = try Self.program([.init(pid: 0x200, type: 6, descriptors: Self.teletext)]) { builder in
            builder.pes(pid: 0x200, streamID: 0xBD, pts: 905_000, isBounded: true, payload)
            builder.pes(pid: 0x200, streamID: 0xBD, isBounded: true, [0x10, 1])
            let damaged = Builder.pesPacket(streamID: 0xBD, pts: 906_000, isBounded: true, payload)
            builder.packets(pid: 0x200, Array(damaged[..<184]))
            builder.skip(1, pid: 0x200)
            builder.packets(pid: 0x200, startsUnit: false, Array(damaged[368...]))
            builder.pes(pid: 0x200, streamID: 0xBD, pts: 907_000, isBounded: true, [0x10, 2])
        }
        let stream = PrivateDataStream(descriptor: Self.teletext)
        #expect(
            segment.metadata == [
                TimedMetadata(.privateData(stream, payload), at: Ticks(905_000)),
                TimedMetadata(.privateData(stream, [0x10, 1]), at: Ticks(900_000)),
                TimedMetadata(.privateData(stream, [0x10, 2]), at: Ticks(907_000)),
            ], "a packet without a time has that of the frame, a damaged one is dropped")
        #expect(segment.counts[.otherPackets] == 0)
    }

    /// Ad markers have a limit of their own.
    @Test func numberOfPacketsIsBounded() {
        var segment = DemuxedSegment()
        let stream = PrivateDataStream(descriptor: Self.teletext)
        for _ in 0..<DemuxLimits.privateDataPackets + 5 {
            segment.append(TimedMetadata(.privateData(stream, [1]), at: nil))
        }
        segment.append(TimedMetadata(.id3([1]), at: nil))
        #expect(segment.metadata.count == DemuxLimits.privateDataPackets + 1)
        #expect(segment.counts[.excessEventMessages] == 5)
    }
}
