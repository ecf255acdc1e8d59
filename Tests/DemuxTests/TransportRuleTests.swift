import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// One row per rule: written segments and demuxed frames.
@Suite struct TransportRuleTests {
    typealias Builder = TransportStreamBuilder
    typealias Sample = ElementarySamples

    static let video = Builder.Stream(pid: 0x100, type: 0x1B)
    static let audio = Builder.Stream(pid: 0x101, type: 0x0F)

    /// One situation: the written segments and the fill bytes of the frames of each.
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let write: @Sendable (inout Builder) -> [[UInt8]]
        /// The fill byte of each frame's last unit, by segment; the last list is the output of `finish`.
        let video: [[UInt8]]
        var audio: [[UInt8]]?
        var damaged: [UInt8] = []
        var counts = Counts<DemuxCount>()

        var testDescription: String { when }
    }

    @Test(arguments: syncRows + sizeRows + tableRows + packetRows + boundaryRows + lengthRows)
    func situations(row: Row) throws {
        var builder = Builder()
        let segments = row.write(&builder)
        var demuxer = TransportDemuxer()
        var feeds = try segments.map { try demuxer.feed($0) }
        feeds.append(try demuxer.finish())
        let video: [[UInt8]] = row.video.map { $0.map { $0 | 0x10 } }
        #expect(feeds.map { $0.video.map { $0.payload.last ?? 0 } } == video)
        if let audio = row.audio { #expect(feeds.map { $0.audio.map { $0.payload.last ?? 0 } } == audio) }
        let all = feeds.reduce(into: DemuxedSegment()) { $0.append($1) }
        #expect(all.video.filter(\.isDamaged).map { $0.payload.last ?? 0 } == row.damaged.map { $0 | 0x10 })
        #expect(all.counts == row.counts)
    }

    private static func counts(_ fill: (inout Counts<DemuxCount>) -> Void) -> Counts<DemuxCount> {
        var counts = Counts<DemuxCount>()
        fill(&counts)
        return counts
    }

    static let syncRows = [
        Row(
            when: "junk before, between and after packets",
            write: { stream in
                stream.junk([1, 2, 3])
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.junk([UInt8](repeating: 0x47, count: 10))
                stream.pes(pid: 0x100, Sample.plain(2, size: 900))
                stream.junk([0x47, 0x47])
                return [stream.cut()]
            }, video: [[1, 2], []], counts: counts { $0[.bytesOutOfSync] = 15 }),
        Row(
            when: "a damaged sync byte: PID and continuity counter identify the packet",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1, size: 900))
                stream.pes(pid: 0x100, Sample.plain(2))
                stream.pes(pid: 0x100, Sample.plain(3))
                var segment = stream.cut()
                segment[4 * 188] = 0
                return [segment]
            }, video: [[1, 2, 3], []]),
        Row(
            when: "a truncated packet costs only itself",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1, size: 700))
                let first = stream.cut()
                stream.pes(pid: 0x100, Sample.plain(2, size: 900))
                return [first.dropLast(60) + stream.cut()]
            }, video: [[1, 2], []], damaged: [1],
            counts: counts {
                $0[.bytesOutOfSync] = 128
                $0[.transportErrors] = 1
            }),
        Row(
            when: "a truncated last packet",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                return [stream.cut() + [0x47, 1, 2]]
            }, video: [[1], []], counts: counts { $0[.bytesOutOfSync] = 3 }),
    ]

    private static let sizes = [(188, 192), (188, 204), (192, 188), (192, 204), (204, 188), (204, 192)]

    static let sizeRows = sizes.map { first, second in
        Row(
            when: "packets \(first), then \(second) bytes apart",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1, size: 900))
                stream.pes(pid: 0x100, Sample.plain(2, size: 900))
                let beginning = stream.cut()
                stream.pes(pid: 0x100, Sample.plain(3, size: 900))
                stream.pes(pid: 0x100, Sample.plain(4, size: 900))
                return [
                    EndlessMultiplex.packets(beginning, size: first)
                        + EndlessMultiplex.packets(stream.cut(), size: second)
                ]
            }, video: [[1, 2, 3, 4], []],
            counts: counts { $0[.bytesOutOfSync] = first == 192 || (first, second) == (204, 192) ? 4 : 0 })
    }

    static let tableRows = [
        Row(
            when: "tables after all media",
            write: { stream in
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.pes(pid: 0x100, Sample.plain(2))
                stream.tables([video])
                return [stream.cut()]
            }, video: [[1, 2], []]),
        Row(
            when: "the PMT before the PAT",
            write: { stream in
                stream.map([video])
                stream.association([(1, 0x1000)])
                stream.pes(pid: 0x100, Sample.idr(1))
                return [stream.cut()]
            }, video: [[1], []]),
        Row(
            when: "no tables in the second segment",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                let first = stream.cut()
                stream.pes(pid: 0x100, Sample.plain(2))
                return [first, stream.cut()]
            }, video: [[1], [2], []]),
        Row(
            when: "no tables: detected by stream_id and first bytes",
            write: { stream in
                stream.pes(pid: 0x64, Sample.idr(1))
                stream.pes(pid: 0x65, streamID: 0xC0, pts: 0, Sample.adts(7))
                stream.pes(pid: 0x64, Sample.plain(2))
                return [stream.cut()]
            }, video: [[1, 2], []], audio: [[], [7]]),
        Row(
            when: "a section with a wrong CRC_32 is ignored",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.map([Builder.Stream(pid: 0x300, type: 0x1B)], isIntact: false)
                stream.pes(pid: 0x100, Sample.plain(2))
                return [stream.cut()]
            }, video: [[1, 2], []], counts: counts { $0[.badSections] = 1 }),
        Row(
            when: "a PMT over several packets",
            write: { stream in
                let many = (0..<60).map { Builder.Stream(pid: 0x200 + $0, type: 0x90) }
                stream.tables(many + [video])
                stream.pes(pid: 0x100, Sample.idr(1))
                return [stream.cut()]
            }, video: [[1], []]),
        Row(
            when: "video moves to another PID inside a segment, audio stays",
            write: { stream in
                stream.tables([video, audio])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(7) + Sample.adts(8))
                stream.map([Builder.Stream(pid: 0x200, type: 0x1B), audio])
                stream.pes(pid: 0x200, Sample.idr(2))
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 9000, Sample.adts(9) + Sample.adts(10))
                return [stream.cut()]
            }, video: [[1, 2], []], audio: [[7, 8, 9, 10], []]),
        Row(
            when: "the new PID begins before its table",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.pes(pid: 0x200, Sample.idr(2))
                stream.map([Builder.Stream(pid: 0x200, type: 0x1B)])
                stream.pes(pid: 0x200, Sample.plain(3))
                return [stream.cut()]
            }, video: [[1, 2, 3], []]),
        Row(
            when: "another program for part of a segment",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.map([Builder.Stream(pid: 0x200, type: 0x1B)])
                stream.pes(pid: 0x200, Sample.idr(2))
                stream.map([video])
                stream.pes(pid: 0x100, Sample.idr(3))
                return [stream.cut()]
            }, video: [[1, 2, 3], []]),
        Row(
            when: "two programs: the first with video",
            write: { stream in
                stream.association([(1, 0x1000), (2, 0x1001)])
                stream.map([audio], program: 1, mapPID: 0x1000)
                stream.map([video], program: 2, mapPID: 0x1001)
                stream.pes(pid: 0x100, Sample.idr(1))
                return [stream.cut()]
            }, video: [[1], []]),
        Row(
            when: "two languages: the first is followed, and stays when the order changes",
            write: { stream in
                let second = Builder.Stream(pid: 0x102, type: 0x0F)
                stream.tables([video, audio, second])
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(7) + Sample.adts(8))
                stream.pes(pid: 0x102, streamID: 0xC0, pts: 0, Sample.adts(70))
                stream.map([video, second, audio])
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 9000, Sample.adts(9) + Sample.adts(10))
                return [stream.cut()]
            }, video: [[], []], audio: [[7, 8, 9, 10], []], counts: counts { $0[.otherPackets] = 1 }),
    ]

    static let packetRows = [
        Row(
            when: "a duplicate packet",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.repeatLastPacket()
                stream.pes(pid: 0x100, Sample.plain(2))
                return [stream.cut()]
            }, video: [[1, 2], []], counts: counts { $0[.duplicatePackets] = 1 }),
        Row(
            when: "a continuity gap inside a frame",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, Builder.pesPacket(pts: 0, Sample.idr(1)))
                stream.packets(pid: 0x100, Builder.pesPacket(pts: 0, Sample.plain(2, size: 158)))
                stream.skip(1, pid: 0x100)
                stream.packets(pid: 0x100, startsUnit: false, [UInt8](repeating: 0x12, count: 100))
                stream.pes(pid: 0x100, Sample.plain(3))
                return [stream.cut()]
            }, video: [[1, 2, 3], []], damaged: [2], counts: counts { $0[.transportErrors] = 1 }),
        Row(
            when: "the beginning of a PES packet is lost after a complete one",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.skip(1, pid: 0x100)
                stream.packets(pid: 0x100, startsUnit: false, [UInt8](repeating: 0x12, count: 100))
                stream.pes(pid: 0x100, Sample.plain(3))
                return [stream.cut()]
            }, video: [[1, 3], []],
            counts: counts {
                $0[.transportErrors] = 1
                $0[.undecodableUnits] = 1
            }),
        Row(
            when: "a continuity gap with discontinuity_indicator",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.packet(
                    pid: 0x100, startsUnit: true,
                    payload: Builder.pesPacket(pts: 0, Sample.plain(2, size: 100)), announcesDiscontinuity: true,
                    counter: 9)
                return [stream.cut()]
            }, video: [[1, 2], []]),
        Row(
            when: "transport_error_indicator inside a frame",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, Array(Builder.pesPacket(pts: 0, Sample.idr(1, size: 400)).prefix(184)))
                stream.packet(pid: 0x100, payload: [UInt8](repeating: 9, count: 184), hasError: true)
                stream.packets(pid: 0x100, startsUnit: false, [UInt8](repeating: 0x11, count: 60))
                stream.pes(pid: 0x100, Sample.plain(2))
                return [stream.cut()]
            }, video: [[1, 2], []], damaged: [1], counts: counts { $0[.transportErrors] = 1 }),
        Row(
            when: "scrambled packets",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                stream.packet(pid: 0x101, payload: [UInt8](repeating: 9, count: 184), isScrambled: true)
                stream.packet(
                    pid: 0x100, startsUnit: true, payload: [UInt8](repeating: 9, count: 184), isScrambled: true)
                return [stream.cut()]
            }, video: [[1], []], damaged: [1],
            counts: counts {
                $0[.scrambledPackets] = 1
                $0[.otherPackets] = 1
            }),
        Row(
            when: "bytes after the end of a bounded PES packet",
            write: { stream in
                stream.tables([video])
                let unit = Builder.pesPacket(pts: 0, isBounded: true, Sample.idr(1))
                stream.packets(pid: 0x100, unit + [UInt8](repeating: 0x33, count: 12))
                return [stream.cut()]
            }, video: [[1], []]),
        Row(
            when: "a PES header in two transport packets",
            write: { stream in
                stream.tables([video])
                let unit = Builder.pesPacket(pts: 900, Sample.idr(1))
                stream.packet(pid: 0x100, startsUnit: true, payload: Array(unit.prefix(11)))
                stream.packets(pid: 0x100, startsUnit: false, Array(unit.dropFirst(11)))
                return [stream.cut()]
            }, video: [[1], []]),
        Row(
            when: "access units before their parameter sets",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.plain(1))
                stream.pes(pid: 0x100, Sample.plain(2))
                stream.pes(pid: 0x100, Sample.idr(3))
                return [stream.cut()]
            }, video: [[3], []], counts: counts { $0[.undecodableUnits] = 2 }),
        Row(
            when: "the stream begins inside a PES packet",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, startsUnit: false, [UInt8](repeating: 0x12, count: 100))
                stream.pes(pid: 0x100, Sample.idr(3))
                return [stream.cut()]
            }, video: [[3], []]),
    ]

    /// An IDR in three transport packets, cut after the second.
    private static func splitInPackets(_ stream: inout Builder, _ fill: UInt8, isBounded: Bool) -> [UInt8] {
        let unit = Builder.pesPacket(pts: 0, isBounded: isBounded, Sample.idr(fill, size: 450))
        stream.packets(pid: 0x100, Array(unit.prefix(368)))
        let first = stream.cut()
        stream.packets(pid: 0x100, startsUnit: false, Array(unit.dropFirst(368)))
        return first
    }

    static let boundaryRows = [
        Row(
            when: "an unbounded PES packet continues in the next segment",
            write: { stream in
                stream.tables([video])
                let first = splitInPackets(&stream, 1, isBounded: false)
                stream.pes(pid: 0x100, Sample.plain(2))
                return [first, stream.cut()]
            }, video: [[], [1, 2], []]),
        Row(
            when: "a bounded PES packet continues in the next segment",
            write: { stream in
                stream.tables([video])
                let first = splitInPackets(&stream, 1, isBounded: true)
                stream.pes(pid: 0x100, Sample.plain(2))
                return [first, stream.cut()]
            }, video: [[], [1, 2], []]),
        Row(
            when: "a held PES packet was complete: the next such packet is not held",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, Builder.pesPacket(pts: nil, Sample.idr(1, size: 146)))
                let first = stream.cut()
                stream.packets(pid: 0x100, Builder.pesPacket(pts: nil, Sample.plain(2, size: 163)))
                let second = stream.cut()
                stream.pes(pid: 0x100, Sample.plain(3))
                return [first, second, stream.cut()]
            }, video: [[], [1, 2], [3], []]),
        Row(
            when: "after clean boundaries an unfinished-looking end is trusted",
            write: { stream in
                stream.tables([video])
                stream.pes(pid: 0x100, Sample.idr(1))
                var segments = [stream.cut()]
                for fill: UInt8 in 2...4 {
                    stream.pes(pid: 0x100, Sample.plain(fill))
                    segments.append(stream.cut())
                }
                stream.packets(pid: 0x100, Builder.pesPacket(pts: nil, Sample.plain(5, size: 163)))
                return segments + [stream.cut()]
            }, video: [[1], [2], [3], [4], [5], []]),
        Row(
            when: "the continuation is lost",
            write: { stream in
                stream.tables([video])
                let first = splitInPackets(&stream, 1, isBounded: false)
                _ = stream.cut()
                stream.packets(pid: 0x100, startsUnit: false, [UInt8](repeating: 0x11, count: 50))
                stream.pes(pid: 0x100, Sample.plain(2))
                return [first, stream.cut()]
            }, video: [[], [1, 2], []], damaged: [1], counts: counts { $0[.transportErrors] = 1 }),
        Row(
            when: "an access unit ends in the next PES packet: later access units are held",
            write: { stream in
                stream.tables([video])
                let tail = Sample.stream([Sample.slice(1, isFirst: false)])
                stream.pes(pid: 0x100, Sample.idr(1))
                let first = stream.cut()
                stream.pes(pid: 0x100, tail + Sample.plain(2))
                let second = stream.cut()
                stream.pes(pid: 0x100, tail + Sample.plain(3))
                return [first, second, stream.cut()]
            }, video: [[1], [], [1], [3]], counts: counts { $0[.undecodableUnits] = 1 }),
        Row(
            when: "half an audio frame is held for the next segment",
            write: { stream in
                stream.tables([video, audio])
                let frames = Sample.adts(7) + Sample.adts(8)
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 0, Array(frames.prefix(150)))
                let first = stream.cut()
                stream.pes(pid: 0x101, streamID: 0xC0, pts: 1920, Array(frames.dropFirst(150)) + Sample.adts(9))
                return [first, stream.cut()]
            }, video: [[], [], []], audio: [[7], [8, 9], []]),
    ]

    /// A PES packet whose length is `length`, whatever follows.
    private static func packet(_ length: Int, pts: Int64 = 0, _ payload: [UInt8]) -> [UInt8] {
        var unit = Builder.pesPacket(pts: pts, payload)
        unit[4] = UInt8(length >> 8 & 0xFF)
        unit[5] = UInt8(length & 0xFF)
        return unit
    }

    /// The payload of a slice that ends in bytes of its own.
    private static func ragged(_ fill: UInt8, size: Int) -> [UInt8] {
        var unit = Sample.plain(fill, size: size)
        for index in 1...39 { unit[unit.count - 41 + index] = UInt8(index) | 0x40 }
        return unit
    }

    static let lengthRows = [
        Row(
            when: "a length that wrapped at 65,536 to less than its header",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, packet(2, Sample.idr(1, size: 65_500)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[1, 2], []], counts: counts { $0[.wrongPacketLengths] = 1 }),
        Row(
            when: "a length that wrapped at 65,536 to the middle of its first slice",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, packet(1000, Sample.idr(1, size: 66_500)))
                stream.packets(pid: 0x100, packet(150, Sample.plain(2, size: 65_700)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(3)))
                return [stream.cut()]
            }, video: [[1, 2, 3], []], counts: counts { $0[.wrongPacketLengths] = 2 }),
        Row(
            when: "a wrapped length, and a packet lost after it",
            write: { stream in
                stream.tables([video])
                let unit = packet(1000, Sample.idr(1, size: 66_500))
                stream.packets(pid: 0x100, Array(unit.prefix(184 * 20)))
                stream.skip(1, pid: 0x100)
                stream.packets(pid: 0x100, startsUnit: false, Array(unit.dropFirst(184 * 21)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[1, 2], []], damaged: [1],
            counts: counts {
                $0[.wrongPacketLengths] = 1
                $0[.transportErrors] = 1
            }),
        Row(
            when: "a wrapped length whose packet goes on in the next segment",
            write: { stream in
                stream.tables([video])
                let unit = packet(1000, Sample.idr(1, size: 66_500))
                stream.packets(pid: 0x100, Array(unit.prefix(184 * 20)))
                let first = stream.cut()
                stream.packets(pid: 0x100, startsUnit: false, Array(unit.dropFirst(184 * 20)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [first, stream.cut()]
            }, video: [[], [1, 2], []], counts: counts { $0[.wrongPacketLengths] = 1 }),
        Row(
            when: "a length that ends a few bytes before its last transport packet: nobody can tell",
            write: { stream in
                stream.tables([video])
                let unit = Builder.pesPacket(pts: 0, ragged(1, size: 700))
                stream.pes(pid: 0x100, Sample.idr(9))
                stream.packets(pid: 0x100, packet(unit.count - 6 - 14, ragged(1, size: 700)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[9, 1, 2], []], damaged: [1], counts: counts { $0[.wrongPacketLengths] = 1 }),
        Row(
            when: "a length that is longer than the packet, and no transport packet missing",
            write: { stream in
                stream.tables([video])
                stream.packets(pid: 0x100, packet(1000, Sample.idr(1)))
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[1, 2], []], counts: counts { $0[.wrongPacketLengths] = 1 }),
        Row(
            when: "the end of a bounded PES packet is lost",
            write: { stream in
                stream.tables([video])
                let unit = packet(20 + Sample.idr(1, size: 900).count, Sample.idr(1, size: 900))
                stream.packets(pid: 0x100, Array(unit.prefix(184 * 3)))
                stream.skip(2, pid: 0x100)
                stream.packets(pid: 0x100, packet(0, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[1, 2], []], damaged: [1], counts: counts { $0[.transportErrors] = 1 }),
        Row(
            when: "stuffing in the payload after a bounded PES packet",
            write: { stream in
                stream.tables([video])
                let unit = Builder.pesPacket(pts: 0, isBounded: true, Sample.idr(1))
                stream.packets(pid: 0x100, unit + [UInt8](repeating: 0xFF, count: 184))
                stream.packets(pid: 0x100, Builder.pesPacket(pts: 0, isBounded: true, Sample.plain(2)))
                return [stream.cut()]
            }, video: [[1, 2], []]),
    ]
}
