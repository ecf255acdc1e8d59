import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Metadata of segments that were each made by themselves, so that continuity counters begin again, and of segments that
/// continue one another.
@Suite struct MetadataSegmentTests {
    typealias Builder = TransportStreamBuilder
    private typealias Sample = ElementarySamples

    static let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4] + [1, 2, 3, 4]
    private static let teletext: [UInt8] = [0x56, 5] + Array("fra".utf8) + [0x10, 0x88]
    private static let subtitling: [UInt8] = [0x59, 8] + Array("deu".utf8) + [0x10, 0, 1, 0, 1]
    /// splice_null (SCTE 35 §9.7.1), which has no time.
    private static let splice: [UInt8] = {
        let section: [UInt8] = [0xFC, 0x30, 0x11, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, 0, 0, 0, 0]
        let crc = SectionCRC.value(section[...])
        return section + (0..<4).map { UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * $0)) }
    }()

    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        let stream: Builder.Stream
        let write: @Sendable (inout Builder) -> Void

        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "timed ID3", stream: .init(pid: 0x200, type: 0x15)) { builder in
            builder.pes(pid: 0x200, streamID: 0xBD, pts: 900_000, isBounded: true, tag)
        },
        Kind(name: "teletext", stream: .init(pid: 0x200, type: 6, descriptors: teletext)) { builder in
            builder.pes(pid: 0x200, streamID: 0xBD, pts: 900_000, isBounded: true, [0x10, 1, 2])
        },
        Kind(name: "DVB subtitles", stream: .init(pid: 0x200, type: 6, descriptors: subtitling)) { builder in
            builder.pes(pid: 0x200, streamID: 0xBD, pts: 900_000, isBounded: true, [0x20, 0, 0xFF])
        },
        Kind(name: "SCTE-35", stream: .init(pid: 0x200, type: 0x86)) { builder in
            builder.sections([splice], pid: 0x200)
        },
    ]

    /// - Parameter frames: frames before the metadata, which is last.
    private static func segment(_ kind: Kind, frames: Int) -> [UInt8] {
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B), kind.stream])
        builder.pes(pid: 0x100, pts: 900_000, Sample.idr(1))
        for number in 1..<frames {
            builder.pes(pid: 0x100, pts: 900_000 + Int64(number) * 3600, Sample.plain(UInt8(number), size: 400))
        }
        kind.write(&builder)
        return builder.cut()
    }

    @Test("One unit at the end of each segment, of which the second is the shortest", arguments: kinds)
    func unitsAtTheEndOfSegments(kind: Kind) throws {
        var demuxer = TransportDemuxer()
        let segments = try [20, 2, 9].map { try demuxer.feed(Self.segment(kind, frames: $0)) }
        #expect(segments.map(\.metadata.count) == [1, 1, 1])
        #expect(segments.allSatisfy { $0.counts == Counts<DemuxCount>() })
    }

    @Test("A packet that comes twice is one unit", arguments: kinds)
    func duplicatePackets(kind: Kind) throws {
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B), kind.stream])
        builder.pes(pid: 0x100, pts: 900_000, Sample.idr(1))
        kind.write(&builder)
        if kind.name != "SCTE-35" { builder.repeatLastPacket() }
        builder.pes(pid: 0x100, pts: 903_600, Sample.plain(2))
        var demuxer = TransportDemuxer()
        #expect(try demuxer.feed(builder.cut()).metadata.count == 1)
    }

    @Test("The first of two packets of a tag comes twice")
    func duplicateBeginning() throws {
        let long = Array("ID3".utf8) + [4, 0, 0, 0, 0, 2, 44] + [UInt8](repeating: 9, count: 300)
        let unit = Builder.pesPacket(streamID: 0xBD, pts: 900_000, isBounded: true, long)
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B), .init(pid: 0x200, type: 0x15)])
        builder.pes(pid: 0x100, pts: 900_000, Sample.idr(1))
        builder.packets(pid: 0x200, Array(unit.prefix(184)))
        builder.repeatLastPacket()
        builder.packets(pid: 0x200, startsUnit: false, Array(unit.dropFirst(184)))
        var demuxer = TransportDemuxer()
        let segment = try demuxer.feed(builder.cut())
        #expect(segment.metadata == [TimedMetadata(.id3(long), at: Ticks(900_000))])
    }

    @Test("A tag that begins in one segment and ends in the next, which is shorter")
    func tagOverTheBoundary() throws {
        let long = Array("ID3".utf8) + [4, 0, 0, 0, 0, 2, 44] + [UInt8](repeating: 9, count: 300)
        let unit = Builder.pesPacket(streamID: 0xBD, pts: 900_000, isBounded: true, long)
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B), .init(pid: 0x200, type: 0x15)])
        for number in 0..<20 { builder.pes(pid: 0x100, pts: 900_000, Sample.idr(UInt8(number), size: 400)) }
        builder.packets(pid: 0x200, Array(unit.prefix(184)))
        let first = builder.cut()
        builder.packets(pid: 0x200, startsUnit: false, Array(unit.dropFirst(184)))
        var demuxer = TransportDemuxer()
        let segments = try [demuxer.feed(first), demuxer.feed(builder.cut())]
        #expect(segments.map { $0.metadata.map(\.time) } == [[], [Ticks(900_000)]])
    }
}
