import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Audio frames of a byte stream: headers, timestamps, losses.
@Suite struct AudioFramerTests {
    typealias Sample = ElementarySamples

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// PES packets; nil stands for lost bytes.
        let packets: [(pts: Int64?, bytes: [UInt8])?]
        let fills: [UInt8]
        var pts: [Int64?]?
        var undecodable = 0
        var abandoned = 0

        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "timestamps are interpolated by samples from each PES packet",
            packets: [(0, Sample.adts(1) + Sample.adts(2) + Sample.adts(3)), (5761, Sample.adts(4))],
            fills: [1, 2, 3, 4], pts: [0, 1920, 3840, 5761]),
        Row(
            when: "44.1 kHz: each timestamp is rounded, without drift",
            packets: [(0, (1...4).flatMap { Sample.adts($0, frequencyIndex: 4) })],
            fills: [1, 2, 3, 4], pts: [0, 2090, 4180, 6269]),
        Row(
            when: "a frame spans two PES packets: the timestamp belongs to the first frame that begins",
            packets: [
                (0, Sample.adts(1) + Sample.adts(2).prefix(60)), (3840, Sample.adts(2).dropFirst(60) + Sample.adts(3)),
            ],
            fills: [1, 2, 3], pts: [0, 1920, 3840]),
        Row(
            when: "the clock wraps at 2³³",
            packets: [((1 << 33) - 1000, Sample.adts(1) + Sample.adts(2))],
            fills: [1, 2], pts: [(1 << 33) - 1000, 920]),
        Row(
            when: "no timestamp at first: counted back from the first timestamp",
            packets: [(nil, Sample.adts(1) + Sample.adts(2)), (9000, Sample.adts(3))],
            fills: [1, 2, 3], pts: [5160, 7080, 9000]),
        Row(
            when: "no timestamps", packets: [(nil, Sample.adts(1) + Sample.adts(2))], fills: [1, 2], pts: [nil, nil]),
        Row(
            when: "junk with a false header before the first header",
            packets: [(0, [1, 0xFF, 0xF1, 0x4C, 0x80, 0x0D, 0x7F, 0xFC, 3] + Sample.adts(1) + Sample.adts(2))],
            fills: [1, 2]),
        Row(
            when: "bytes lost inside a frame cost that frame; the next timestamp applies backward",
            packets: [
                (0, Sample.adts(1) + Sample.adts(2).prefix(60)), nil,
                (nil, Sample.adts(3).suffix(30) + Sample.adts(4) + Sample.adts(5)), (9600, Sample.adts(6)),
            ],
            fills: [1, 4, 5, 6], pts: [0, 5760, 7680, 9600], undecodable: 1),
        Row(
            when: "a signaled loss without missing bytes",
            packets: [
                (0, Sample.adts(1) + Sample.adts(2).prefix(60)), nil,
                (nil, Sample.adts(2).dropFirst(60) + Sample.adts(3)),
            ],
            fills: [1, 2, 3]),
        Row(
            when: "the last frame is truncated",
            packets: [(0, Sample.adts(1) + Sample.adts(2).prefix(60))], fills: [1], abandoned: 1),
        Row(
            when: "the CRC of protected frames is dropped with the header",
            packets: [(0, Sample.adts(1, isProtected: true) + Sample.adts(2, isProtected: true))], fills: [1, 2]),
        Row(
            when: "several unprotected raw data blocks are one packet",
            packets: [(0, Sample.adts(1, blocks: 2) + Sample.adts(2, blocks: 2))], fills: [1, 2], pts: [0, 3840]),
        Row(
            when: "several protected raw data blocks cannot be one sample",
            packets: [(0, Sample.adts(1, isProtected: true, blocks: 2) + Sample.adts(2))], fills: [2], undecodable: 1),
    ]

    @Test(arguments: rows)
    func framing(row: Row) throws {
        let (packets, counts) = try Self.frame(row.packets)
        #expect(packets.map { $0.payload.last ?? 0 } == row.fills)
        if let pts = row.pts { #expect(packets.map { $0.pts?.count } == pts) }
        #expect(counts[.undecodableUnits] == row.undecodable)
        #expect(counts[.abandonedUnits] == row.abandoned)
    }

    @Test func payloadIsTheFrameWithoutItsHeader() throws {
        for isProtected in [false, true] {
            let (packets, _) = try Self.frame([(0, Sample.adts(5, size: 333, isProtected: isProtected))])
            #expect(packets.map { Array($0.payload) } == [[UInt8](repeating: 5, count: 333)])
        }
    }

    static let configurations:
        [(channels: UInt8, frequencyIndex: UInt8, rate: SampleRate, count: Int, specific: [UInt8])] = [
            (2, 3, 48_000, 2, [0x11, 0x90]), (2, 4, 44_100, 2, [0x12, 0x10]), (1, 6, 24_000, 1, [0x13, 0x08]),
            (6, 3, 48_000, 6, [0x11, 0xB0]), (7, 3, 48_000, 8, [0x11, 0xB8]),
        ]

    @Test(arguments: configurations)
    func configuration(channels: UInt8, frequencyIndex: UInt8, rate: SampleRate, count: Int, specific: [UInt8]) throws {
        let (packets, _) = try Self.frame([(0, Sample.adts(1, frequencyIndex: frequencyIndex, channels: channels))])
        let expected = AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: count, samplesPerFrame: 1024, decoderSpecificInfo: specific)
        #expect(packets.map(\.configuration) == [expected])
    }

    /// After a year of frames at 44.1 kHz the time is within half a tick of the exact time.
    @Test func clockDoesNotDrift() {
        var clock = AudioTimestampInterpolator()
        clock.set(.zero)
        clock.advance(1024 * 1_000_000, at: 44_100)
        #expect(clock.now == Ticks(2_089_795_918))  // 1 024 000 000 × 90 000 / 44 100 = 2 089 795 918.37
    }

    static func frame(_ packets: [(pts: Int64?, bytes: [UInt8])?]) throws -> ([AudioPacket], Counts<DemuxCount>) {
        var buffer = ElementaryBuffer()
        var hasLoss = false
        for packet in packets {
            guard let packet else {
                hasLoss = true
                continue
            }
            if hasLoss { buffer.recordLoss() } else { buffer.startPacket(pts: packet.pts.map(Ticks.init), dts: nil) }
            hasLoss = false
            buffer.bytes += packet.bytes
        }
        var framer = AudioFramer(pid: 0x101, framing: .mpeg)
        var counts = Counts<DemuxCount>()
        return (try framer.frame(&buffer, isClosed: true, counts: &counts), counts)
    }
}
