import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Opus in transport streams.
@Suite struct OpusStreamTests {
    typealias Builder = TransportStreamBuilder

    static func stream(_ code: UInt8?) -> Builder.Stream {
        let channels: [UInt8] = code.map { [0x7F, 2, 0x80, $0] } ?? []
        return Builder.Stream(pid: 0x101, type: 0x06, descriptors: [0x05, 4] + Array("Opus".utf8) + channels)
    }

    /// An access unit: a control header, its size, and an Opus packet.
    static func unit(_ packet: [UInt8], flags: UInt8 = 0, extra: [UInt8] = []) -> [UInt8] {
        let size = [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        return [0x7F, 0xE0 | flags] + size + extra + packet
    }

    private static func demux(_ streams: [Builder.Stream], _ payloads: [[UInt8]]) throws -> DemuxedSegment {
        var builder = Builder()
        builder.tables(streams)
        for (index, payload) in payloads.enumerated() {
            builder.pes(pid: 0x101, streamID: 0xBD, pts: 90_000 + Int64(index) * 3600, isBounded: true, payload)
        }
        var demuxer = TransportDemuxer()
        var whole = try demuxer.feed(builder.cut())
        whole.append(try demuxer.finish())
        return whole
    }

    static let units: [(when: String, payload: [UInt8], packets: [[UInt8]], samples: Int)] = [
        ("20 ms of both channels", unit([0xFC, 0xFF, 0xFE]), [[0xFC, 0xFF, 0xFE]], 960),
        ("two access units", unit([0xFC, 1]) + unit([0xFC, 2]), [[0xFC, 1], [0xFC, 2]], 960),
        (
            "more than 255 bytes", unit([0xFC] + [UInt8](repeating: 7, count: 600)),
            [[0xFC] + [UInt8](repeating: 7, count: 600)], 960
        ),
        ("255 bytes", unit([UInt8](repeating: 0xFC, count: 255)), [[UInt8](repeating: 0xFC, count: 255)], 960),
        (
            "trimmed at both ends, with an extension", unit([0xFC, 3], flags: 0x1C, extra: [0, 9, 0, 8, 2, 1, 1]),
            [[0xFC, 3]], 960
        ),
        ("2.5 ms", unit([0xE0, 1]), [[0xE0, 1]], 120), ("60 ms of speech", unit([0x18, 1]), [[0x18, 1]], 2880),
        ("two frames", unit([0xFD, 1, 1]), [[0xFD, 1, 1]], 1920),
        ("six frames", unit([0xFF, 6, 1]), [[0xFF, 6, 1]], 5760),
    ]

    @Test(arguments: units)
    func accessUnits(when: String, payload: [UInt8], packets: [[UInt8]], samples: Int) throws {
        let segment = try Self.demux([Self.stream(2)], [payload])
        #expect(segment.audio.map { Array($0.payload) } == packets, "\(when)")
        #expect(
            segment.audio.allSatisfy { $0.configuration.samplesPerFrame == samples && $0.configuration.codec == .opus })
        #expect(segment.audio.first?.pts == Ticks(90_000) && segment.counts == Counts<DemuxCount>(), "\(when)")
        #expect(segment.program?.unsupportedAudio == [])
    }

    static let codes: [(code: UInt8?, channels: Int, info: [UInt8])] = [
        (nil, 2, [0, 2, 0, 0, 0, 0, 0xBB, 0x80, 0, 0, 0]), (1, 1, [0, 1, 0, 0, 0, 0, 0xBB, 0x80, 0, 0, 0]),
        (0, 2, [0, 2, 0, 0, 0, 0, 0xBB, 0x80, 0, 0, 255, 2, 0, 0, 1]),
        (6, 6, [0, 6, 0, 0, 0, 0, 0xBB, 0x80, 0, 0, 1, 4, 2, 0, 4, 1, 2, 3, 5]),
    ]

    @Test(arguments: codes)
    func channels(code: UInt8?, channels: Int, info: [UInt8]) throws {
        let segment = try Self.demux([Self.stream(code)], [Self.unit([0xFC, 1, 2])])
        let configuration = try #require(segment.audio.first?.configuration)
        #expect(configuration.channelCount == channels && configuration.decoderSpecificInfo == info)
        #expect(configuration.sampleRate == 48_000)
    }

    @Test("An explicit mapping of channels is not supported, and named")
    func explicitMapping() throws {
        let segment = try Self.demux([TransportRuleTests.audio, Self.stream(0x81)], [])
        #expect(segment.program?.unsupportedAudio == ["Opus"])
    }

    @Test("After an access unit that is cut short others are found again")
    func damage() throws {
        let segment = try Self.demux(
            [Self.stream(2)],
            [Self.unit([0xFC, 1]), [0x7F, 0xE0, 9, 0xFC], (3...8).flatMap { Self.unit([0xFC, $0]) }])
        let last = segment.audio.map(\.payload.last)
        #expect(last.first == 1 && last.suffix(3) == [6, 7, 8], "\(last)")
    }
}
