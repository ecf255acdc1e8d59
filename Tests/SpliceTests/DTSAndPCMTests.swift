import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Framing of audio that fMP4 cannot carry, for the decoder.
@Suite struct DTSAndPCMTests {
    typealias Builder = TransportStreamBuilder

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let audio: [String]
        var output: [String] = []
        let codec: AudioConfiguration.Codec
        let rate: Int
        let channels: Int
        /// Samples per packet; 0 if they differ.
        var samples = 0

        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "DTS, 5.1", audio: ["-c:a", "dca", "-ac", "6", "-strict", "-2"], codec: .dts, rate: 48_000,
            channels: 6, samples: 512),
        Row(
            when: "DTS, stereo at 44.1 kHz", audio: ["-c:a", "dca", "-ac", "2", "-ar", "44100", "-strict", "-2"],
            codec: .dts, rate: 44_100, channels: 2, samples: 512),
        Row(
            when: "SMPTE 302M, stereo, 16 bits", audio: ["-c:a", "s302m", "-ac", "2", "-strict", "-2"],
            codec: .smpte302, rate: 48_000, channels: 2),
        Row(
            when: "SMPTE 302M, four channels, 24 bits",
            audio: ["-c:a", "s302m", "-ac", "4", "-sample_fmt", "s32", "-strict", "-2"], codec: .smpte302,
            rate: 48_000, channels: 4),
        Row(
            when: "Blu-ray PCM, stereo, 16 bits", audio: ["-c:a", "pcm_bluray", "-ac", "2"],
            output: ["-mpegts_m2ts_mode", "1"], codec: .blurayPCM, rate: 48_000, channels: 2),
        Row(
            when: "Blu-ray PCM, 5.1 at 96 kHz, 24 bits",
            audio: ["-c:a", "pcm_bluray", "-ac", "6", "-ar", "96000", "-sample_fmt", "s32"],
            output: ["-mpegts_m2ts_mode", "1"], codec: .blurayPCM, rate: 96_000, channels: 6),
    ]

    @Test(arguments: rows)
    func agreesWithLibavformat(row: Row) throws {
        let stream = try OracleMedia.make(video: OracleMedia.h264, audio: row.audio, seconds: 2, output: row.output)
        let truth = try OracleDemuxer.packets(stream).filter { !$0.isVideo }
        let ours = try TransportDemuxer.all([stream])
        #expect(ours.audio.map { Array($0.payload) } == truth.map(\.bytes))
        #expect(zip(ours.audio, truth).allSatisfy { $1.pts == nil || $0.pts?.count == $1.pts })
        let configurations = Set(ours.audio.map(\.configuration))
        let configuration = try #require(configurations.first)
        #expect(configurations.count == 1)
        #expect(configuration.codec == row.codec)
        #expect(configuration.sampleRate.hertz == row.rate)
        #expect(configuration.channelCount == row.channels)
        #expect(configuration.samplesPerFrame == row.samples)
        #expect(ours.video.count == 50)
    }

    /// The stream is cut at any position inside PES packets, with lost bytes: a PCM packet is complete or missing.
    @Test(arguments: 0..<40)
    func pcmPacketsAreCompleteOrMissing(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var builder = Builder()
        builder.tables([Builder.Stream(pid: 0x101, type: 0x06, descriptors: ProgramSelectionTests.registration("BSSD"))]
        )
        // Two channels of 16 bits: five bytes per sample pair.
        let packets = (0..<30).map { index -> [UInt8] in
            let size = 5 * Int.random(in: 40...200, using: &random)
            return [UInt8(size >> 8), UInt8(size & 0xFF), 0, 0] + [UInt8](repeating: UInt8(index), count: size)
        }
        for (index, packet) in packets.enumerated() {
            builder.pes(pid: 0x101, streamID: 0xBD, pts: Int64(index) * 900, isBounded: seed.isMultiple(of: 2), packet)
        }
        let whole = builder.cut()
        let count = whole.count / 188
        let cut = Int.random(in: 4..<count - 4, using: &random) * 188
        let segments = [Array(whole[..<cut]), Array(whole[cut...])]
        #expect(try TransportDemuxer.all(segments).audio.map { Array($0.payload) } == packets)
        var damaged = whole
        let lost = Int.random(in: 4..<count - 4, using: &random) * 188
        damaged.removeSubrange(lost..<lost + 188)
        let output = try TransportDemuxer.all([damaged])
        let kept = output.audio.filter { !$0.isDamaged }.map { Array($0.payload) }
        #expect(kept.allSatisfy(packets.contains))
        #expect(kept.count >= packets.count - 2)
        for packet in output.audio where !packet.isDamaged {
            #expect(packet.pts.map(\.count) == Int64(packet.payload.last ?? 0) * 900)
        }
    }

    /// A core frame of 512 samples at 48 kHz, 5.1, filled with `fill`.
    static func core(_ fill: UInt8, size: Int = 200) -> [UInt8] {
        let last = size - 1
        return [
            0x7F, 0xFE, 0x80, 0x01, 0xFC, 0x3C | UInt8(last >> 12), UInt8(last >> 4 & 0xFF),
            UInt8(last & 0x0F) << 4 | 0x02, 0x77, 0xE0, 0x02, 0x00,
        ] + [UInt8](repeating: fill, count: size - 12)
    }

    /// An extension substream, which follows a core.
    static func substream(size: Int) -> [UInt8] {
        let last = size - 1
        // nExtSSIndex 0, bHeaderSizeType 0, nuExtSSHeaderSize 15, nuExtSSFsize.
        let fields = UInt32(15) << 21 | UInt32(last) << 5
        return [0x64, 0x58, 0x20, 0x25, 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: fields >> UInt32($0)) }
            + [UInt8](repeating: 0x33, count: size - 9)
    }

    @Test func extensionsOfDTSAreDropped() throws {
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        for fill: UInt8 in 1...4 { buffer.bytes += Self.core(fill) + Self.substream(size: 90) }
        var framer = AudioFramer(pid: 0x101, framing: .dts)
        var counts = DemuxCounts()
        let packets = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(packets.map { Array($0.payload) } == (1...4).map { Self.core($0) })
        #expect(packets.map { $0.pts?.count } == [0, 960, 1920, 2880])
        #expect(packets.allSatisfy { $0.configuration.channelCount == 6 && $0.configuration.samplesPerFrame == 512 })
        #expect(counts == DemuxCounts())
    }

    static let types: [(when: String, type: UInt8, program: String?, stream: [UInt8], framing: AudioFraming?)] = [
        ("0x80 of Blu-ray", 0x80, "HDMV", [], .blurayPCM), ("0x80 without registration", 0x80, nil, [], nil),
        ("0x82 of Blu-ray", 0x82, "HDMV", [], .dts), ("0x82 without registration", 0x82, nil, [], .dts),
        ("0x82 of a cable system: subtitles", 0x82, "SCTE", [], nil), ("0x84 of Blu-ray", 0x84, "HDMV", [], .ac3),
        ("0x86 of Blu-ray", 0x86, "HDMV", [], .dts), ("0x86 of SCTE-35", 0x86, "CUEI", [], nil),
        ("0x8A", 0x8A, nil, [], .dts),
        ("registered as DTS", 0x06, nil, ProgramSelectionTests.registration("DTS2"), .dts),
        ("DVB's DTS descriptor", 0x06, nil, [0x7B, 1, 0], .dts),
        ("registered as SMPTE 302M", 0x06, nil, ProgramSelectionTests.registration("BSSD"), .smpte302),
        ("a truncated descriptor", 0x06, nil, [0x0A, 0, 0x7B], nil),
    ]

    @Test(arguments: types)
    func streamType(when: String, type: UInt8, program: String?, stream: [UInt8], framing: AudioFraming?) {
        let descriptors = StreamDescriptors(program.map(ProgramSelectionTests.registration)?[...] ?? [])
        let kind = ElementaryStreamKind(
            streamType: type, program: descriptors, stream: StreamDescriptors(stream[...]))
        #expect(kind == framing.map(ElementaryStreamKind.audio), "\(when)")
    }
}
