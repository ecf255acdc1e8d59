import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Framing of H.264 and HEVC byte streams: access units, parameter sets, sync kinds.
@Suite struct VideoFramerTests {
    typealias Sample = ElementarySamples

    /// The PES packets of one stream in one segment, and the output, NAL units by their first byte.
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let packets: [(pts: Int64?, bytes: [UInt8])]
        let units: [[UInt8]]
        var pts: [Int64?]?
        var sync: [RandomAccessPoint?]?
        var undecodable = 0

        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "delimiters, filler and trailing zeros are dropped",
            packets: [(0, Sample.idr(1) + Sample.stream([[0x0C, 0xFF, 0x80]]) + [0, 0, 0])],
            units: [[0x67, 0x68, 0x65]]),
        Row(
            when: "no delimiters: a first slice begins an access unit, a further one does not",
            packets: [
                (
                    0,
                    Sample.parameterSets
                        + Sample.stream([
                            Sample.slice(1, isIDR: true), Sample.slice(1, isIDR: true, isFirst: false), Sample.slice(2),
                            Sample.slice(2, isFirst: false), Sample.slice(3),
                        ])
                )
            ],
            units: [[0x67, 0x68, 0x65, 0x65], [0x41, 0x41], [0x41]], pts: [0, nil, nil]),
        Row(
            when: "supplemental information begins the next access unit",
            packets: [(0, Sample.idr(1) + Sample.stream([[0x06, 0x05, 0x01, 0x00, 0x80], Sample.slice(2)]))],
            units: [[0x67, 0x68, 0x65], [0x06, 0x41]]),
        Row(
            when: "start codes of three bytes",
            packets: [(0, Sample.idr(1) + [0, 0, 1] + Sample.slice(2))], units: [[0x67, 0x68, 0x65], [0x41]]),
        Row(
            when: "a frame ends in the next PES packet, whose timestamp belongs to the frame that begins there",
            packets: [
                (100, Sample.idr(1)), (200, Sample.stream([Sample.slice(1, isFirst: false)]) + Sample.plain(2)),
            ],
            units: [[0x67, 0x68, 0x65, 0x41], [0x41]], pts: [100, 200]),
        Row(
            when: "zeros at the end of a PES packet do not belong to the next frame's packet",
            packets: [(100, Sample.idr(1) + [0, 0]), (200, Sample.plain(2))],
            units: [[0x67, 0x68, 0x65], [0x41]], pts: [100, 200]),
        Row(
            when: "a start code in two PES packets: the frame begins in the first",
            packets: [(100, Sample.idr(1) + [0, 0]), (200, [1] + Sample.slice(2) + Sample.plain(3))],
            units: [[0x67, 0x68, 0x65], [0x41], [0x41]], pts: [100, nil, 200]),
        Row(
            when: "a PES packet without a timestamp",
            packets: [(100, Sample.idr(1)), (nil, Sample.plain(2)), (300, Sample.plain(3))],
            units: [[0x67, 0x68, 0x65], [0x41], [0x41]], pts: [100, nil, 300]),
        Row(
            when: "known parameter sets are dropped between sync samples and written before each",
            packets: [
                (0, Sample.idr(1)), (1, Sample.parameterSets + Sample.stream([Sample.slice(2)])),
                (2, Sample.stream([Sample.slice(3, isIDR: true)])),
            ],
            units: [[0x67, 0x68, 0x65], [0x41], [0x67, 0x68, 0x65]]),
        Row(
            when: "parameter sets twice in one access unit",
            packets: [(0, Sample.parameterSets + Sample.parameterSets + Sample.stream([Sample.slice(1, isIDR: true)]))],
            units: [[0x67, 0x68, 0x65]]),
        Row(
            when: "parameter sets are sorted by kind and identifier",
            packets: [
                (
                    0,
                    Sample.picture(1) + Sample.picture(0) + Sample.sequence(0)
                        + Sample.stream([Sample.slice(1, isIDR: true)])
                )
            ],
            units: [[0x67, 0x68, 0x68, 0x65]]),
        Row(
            when: "a new picture parameter set between sync samples stays, and applies from the next sync sample",
            packets: [
                (0, Sample.idr(1)), (1, Sample.picture(0, fill: 0x66) + Sample.stream([Sample.slice(2)])),
                (2, Sample.picture(0, fill: 0x66) + Sample.stream([Sample.slice(3)])),
                (3, Sample.picture(0) + Sample.stream([Sample.slice(4)])),
                (4, Sample.picture(1) + Sample.stream([Sample.slice(5)])),
                (5, Sample.stream([Sample.slice(6, isIDR: true)])),
            ],
            units: [
                [0x67, 0x68, 0x65], [0x68, 0x41], [0x41], [0x68, 0x41], [0x68, 0x41], [0x67, 0x68, 0x68, 0x65],
            ]),
        Row(
            when: "a sync access unit with an SPS removes stale sets",
            packets: [
                (
                    0,
                    Sample.sequence(0) + Sample.picture(0) + Sample.picture(1)
                        + Sample.stream([Sample.slice(1, isIDR: true)])
                ),
                (1, Sample.idr(2)),
            ],
            units: [[0x67, 0x68, 0x68, 0x65], [0x67, 0x68, 0x65]]),
        Row(
            when: "recovery points are detected, and are not sync",
            packets: [
                (0, Sample.idr(1)), (1, Sample.stream([Sample.delimiter, Sample.recoveryPoint, Sample.slice(2)])),
                (2, Sample.plain(3)),
            ],
            units: [[0x67, 0x68, 0x65], [0x06, 0x41], [0x41]], sync: [.instantaneousRefresh, .recoveryPoint, nil]),
        Row(
            when: "a recovery point after a message with emulation prevention",
            packets: [
                (0, Sample.idr(1)),
                (
                    1,
                    Sample.stream([
                        [0x06, 0x05, 0x04, 0x00, 0x00, 0x03, 0x00, 0x01, 0x06, 0x01, 0xC0, 0x80], Sample.slice(2),
                    ])
                ),
            ],
            units: [[0x67, 0x68, 0x65], [0x06, 0x41]], sync: [.instantaneousRefresh, .recoveryPoint]),
        Row(
            when: "frames without parameter sets",
            packets: [(0, Sample.stream([Sample.slice(1, isIDR: true)])), (1, Sample.idr(2))],
            units: [[0x67, 0x68, 0x65]], undecodable: 1),
    ]

    @Test(arguments: rows)
    func framing(row: Row) throws {
        let (packets, counts) = try Self.frame(row.packets)
        #expect(packets.map { ComparableFrame.lengthPrefixed($0.payload).map { $0.first ?? 0 } } == row.units)
        if let pts = row.pts { #expect(packets.map { $0.pts?.count } == pts) }
        if let sync = row.sync { #expect(packets.map(\.randomAccess) == sync) }
        #expect(counts[.undecodableUnits] == row.undecodable)
        for packet in packets where packet.randomAccess == .instantaneousRefresh {
            let configuration = packet.configuration
            let sets = configuration.sequenceParameterSets + configuration.pictureParameterSets
            #expect(Array(ComparableFrame.lengthPrefixed(packet.payload).prefix(sets.count)) == sets)
        }
    }

    @Test func configurationOfEqualBytesIsEqual() throws {
        let (packets, _) = try Self.frame([
            (0, Sample.idr(1)), (1, Sample.idr(2)),
            (2, Sample.sequence(0, fill: 0x66) + Sample.picture(0) + Sample.stream([Sample.slice(3, isIDR: true)])),
        ])
        #expect(packets[0].configuration == packets[1].configuration)
        #expect(packets[1].configuration != packets[2].configuration)
        #expect(packets[2].configuration.sequenceParameterSets == [Sample.sequenceUnit(0, fill: 0x66)])
    }

    @Test(arguments: 0..<200)
    func startCodesAgreeWithByteSearch(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
            [0, 0, 0, 1, 1, 2, 3, 0x80].randomElement(using: &random) ?? 0 as UInt8
        }
        var units: [NALUnit] = []
        try AnnexB.scan(bytes, in: bytes.indices, into: &units)
        #expect(units.map { Array(bytes[$0.start..<$0.end]) } == ComparableFrame.startCodePrefixed(bytes))
    }

    /// Each key frame repeats the parameter sets: without a limit, 2 MB would become 1.5 GB.
    @Test func repeatedLargeParameterSetsAreBounded() throws {
        let large = Sample.sequenceUnit(0) + [UInt8](repeating: 0x33, count: 15 << 10)
        let keys = (0..<100_000).map { _ in Sample.slice(1, isIDR: true, size: 10) }
        let stream = Sample.stream([large] + [Sample.pictureUnit(0)] + keys)
        let (packets, counts) = try Self.frame([(0, stream)])
        #expect(packets.reduce(0) { $0 + $1.payload.count } <= 5 * stream.count + 1 << 20)
        #expect(!packets.isEmpty && packets.count + counts[.undecodableUnits] == 100_000)
    }

    private static func frame(_ packets: [(pts: Int64?, bytes: [UInt8])]) throws -> ([VideoPacket], Counts<DemuxCount>)
    {
        var buffer = ElementaryBuffer()
        for packet in packets {
            buffer.startPacket(pts: packet.pts.map(Ticks.init), dts: packet.pts.map(Ticks.init))
            buffer.bytes += packet.bytes
        }
        var framer = VideoFramer(pid: 0x100, codec: .h264)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, start: nil, ending: .closed(isPacketDue: false), counts: &counts)
        return (packets, counts)
    }
}
