import Foundation
import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// AC-3 and E-AC-3: frame headers and their `dac3` and `dec3`.
@Suite struct AudioAC3Tests {
    /// Expected `dac3` and `dec3` come from ffmpeg's muxer for the same frames.
    static let encoded: [(encoder: String, layout: String, rate: Int, bitRate: String, channels: Int)] = [
        ("ac3", "mono", 48_000, "64k", 1), ("ac3", "stereo", 44_100, "192k", 2), ("ac3", "stereo", 32_000, "96k", 2),
        ("ac3", "3.0", 48_000, "256k", 3), ("ac3", "3.0(back)", 48_000, "256k", 3), ("ac3", "4.0", 48_000, "320k", 4),
        ("ac3", "quad(side)", 48_000, "320k", 4), ("ac3", "5.0(side)", 48_000, "384k", 5),
        ("ac3", "5.1(side)", 48_000, "640k", 6), ("ac3", "2.1", 48_000, "192k", 3),
        ("eac3", "mono", 48_000, "64k", 1), ("eac3", "stereo", 44_100, "128k", 2),
        ("eac3", "5.1(side)", 48_000, "384k", 6), ("eac3", "stereo", 32_000, "96k", 2),
    ]

    @Test(arguments: encoded)
    func specificInfoAgreesWithFFmpeg(
        encoder: String, layout: String, rate: Int, bitRate: String, channels: Int
    ) throws {
        let arguments = [
            "-f", "lavfi", "-i", "anoisesrc=duration=0.5:seed=3", "-af", "aformat=channel_layouts=\(layout)", "-ar",
            "\(rate)", "-c:a", encoder, "-b:a", bitRate, "-bitexact",
        ]
        let stream = try FragmentTool.make(arguments + ["-f", "mpegts"])
        let file = try FragmentTool.make(arguments + ["-f", "mp4", "-movflags", "empty_moov+delay_moov+frag_keyframe"])
        let configuration = try #require(try TransportDemuxer.all([stream]).audio.first?.configuration)
        #expect(configuration.channelCount == channels)
        #expect(configuration.sampleRate.hertz == rate)
        #expect(configuration.samplesPerFrame == 1536)
        let box = try #require(Data(file).range(of: Data((encoder == "ac3" ? "dac3" : "dec3").utf8)))
        let size = Int(file[box.lowerBound - 1]) - 8
        #expect(configuration.decoderSpecificInfo == Array(file[box.upperBound..<box.upperBound + size]))
    }

    /// bsid 9 and 10 stand for half and a quarter of the sample rate.
    @Test(arguments: [(bsid: UInt8(8), rate: 48_000), (9, 24_000), (10, 12_000)])
    func reducedRates(bsid: UInt8, rate: Int) {
        let frame: [UInt8] = [0x0B, 0x77, 0, 0, 0x08, bsid << 3, 0x40, 0] + [UInt8](repeating: 0, count: 120)
        guard case .frame(let header) = AC3.header(frame, at: 0, end: frame.count) else {
            Issue.record("no frame")
            return
        }
        #expect(header.format.sampleRate.hertz == rate)
        #expect(header.size == 256)
    }

    /// One frame of six blocks at 48 kHz.
    struct Frame {
        var streamType = 0
        var acmod = 7
        var lfeon = true
        var channelMap: Int?
        /// complexity_index_type_a.
        var objects: Int?
        /// Whether mixmdat and infomdat are present with every optional field.
        var hasMetadata = false
        var size = 160

        var bytes: [UInt8] {
            var bits: [UInt8] = []
            func u(_ count: Int, _ value: Int) {
                for shift in (0..<count).reversed() { bits.append(UInt8(value >> shift & 1)) }
            }
            u(16, 0x0B77)
            u(2, streamType)
            u(3, 0)
            u(11, size / 2 - 1)
            u(2, 0)
            u(2, 3)
            u(3, acmod)
            u(1, lfeon ? 1 : 0)
            u(5, 16)
            for _ in 0..<(acmod == 0 ? 2 : 1) {
                u(5, 27)
                u(1 + 8, 0x1AA)  // compr
            }
            if streamType == 1 {
                u(1, channelMap == nil ? 0 : 1)
                if let channelMap { u(16, channelMap) }
            }
            writeMetadata(u)
            u(1, objects == nil ? 0 : 1)
            if let objects {
                u(6, 1)
                u(8, 1)
                u(8, objects)
            }
            while bits.count % 8 != 0 { bits.append(0) }
            let head = stride(from: 0, to: bits.count, by: 8).map {
                bits[$0..<$0 + 8].reduce(UInt8(0)) { $0 << 1 | $1 }
            }
            return head + [UInt8](repeating: 0x55, count: size - head.count)
        }

        private func writeMetadata(_ u: (Int, Int) -> Void) {
            u(1, hasMetadata ? 1 : 0)
            if hasMetadata {
                if acmod > 2 { u(2, 1) }
                if acmod > 2, acmod % 2 == 1 { u(6, 0) }
                if acmod > 3 { u(6, 0) }
                if lfeon { u(6, 0x3F) }
                if streamType == 0 {
                    for _ in 0..<(acmod == 0 ? 2 : 1) { u(7, 0x7F) }
                    u(7, 0x7F)
                    u(2, 3)
                    u(5, 2)  // four bytes of mixdata
                    u(32, 0xFFFF_FFFF)
                    if acmod < 2 { for _ in 0..<(acmod == 0 ? 2 : 1) { u(15, 0x7FFF) } }
                    u(1, 1)
                    for block in 0..<6 { u(block % 2 == 0 ? 1 : 6, block % 2 == 0 ? 0 : 0x3F) }
                }
            }
            u(1, hasMetadata ? 1 : 0)
            guard hasMetadata else { return }
            u(3, 5)  // bsmod
            u(2, 3)
            if acmod == 2 { u(4, 0xF) }
            if acmod > 5 { u(2, 3) }
            for _ in 0..<(acmod == 0 ? 2 : 1) { u(9, 0x1FF) }
            u(1, 1)
        }
    }

    /// The frames of a program, its channels, and `dec3` after the data rate.
    static let programs: [(when: String, frames: [Frame], channels: Int, dec3: String)] = [
        ("5.1", [Frame()], 6, "200f00"), ("stereo", [Frame(acmod: 2, lfeon: false)], 2, "200400"),
        ("dual mono", [Frame(acmod: 0, lfeon: false)], 2, "200000"),
        ("all metadata fields: bsmod is read", [Frame(hasMetadata: true)], 6, "205f00"),
        ("all metadata, mono", [Frame(acmod: 1, lfeon: false, hasMetadata: true)], 1, "205200"),
        ("all metadata, dual mono", [Frame(acmod: 0, lfeon: false, hasMetadata: true)], 2, "205000"),
        ("objects on 5.1", [Frame(objects: 16)], 6, "200f000110"),
        ("objects after all metadata", [Frame(objects: 12, hasMetadata: true)], 6, "205f00010c"),
        (
            "7.1: side channels replaced, two rear channels added",
            [Frame(), Frame(streamType: 1, acmod: 6, lfeon: false, channelMap: 0x1A00)], 8, "200f0202"
        ),
        (
            "5.1.2: a pair on top", [Frame(), Frame(streamType: 1, acmod: 2, lfeon: false, channelMap: 0x0010)], 8,
            "200f0240"
        ),
        (
            "7.1.4 in two dependent frames, with objects",
            [
                Frame(), Frame(streamType: 1, acmod: 6, lfeon: false, channelMap: 0x1A00),
                Frame(streamType: 1, acmod: 6, lfeon: true, channelMap: 0x0012, objects: 9),
            ], 11, "200f05420109"
        ),
        (
            "a dependent frame without chanmap uses the channels of its acmod",
            [Frame(acmod: 2, lfeon: false), Frame(streamType: 1, acmod: 7, lfeon: false)], 5, "20040200"
        ),
    ]

    @Test(arguments: programs.indices)
    func program(_ index: Int) throws {
        let row = Self.programs[index]
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        let unit = row.frames.flatMap(\.bytes)
        for _ in 0..<3 { buffer.bytes += unit }
        var framer = AudioFramer(pid: 0x101, framing: .ac3)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(packets.map { Array($0.payload) } == [unit, unit, unit], "\(row.when)")
        let configuration = try #require(packets.first?.configuration)
        #expect(configuration.channelCount == row.channels, "\(row.when)")
        let info = configuration.decoderSpecificInfo
        // 160 bytes each 32 ms are 40 kbit/s.
        let rate = 40 * row.frames.count
        #expect(Array(info.prefix(2)) == [UInt8(rate * 8 / 256), UInt8(rate * 8 % 256)], "\(row.when)")
        let digits = info.dropFirst(2).map { String(UInt16($0) + 0x100, radix: 16).suffix(2) }.joined()
        #expect(digits == row.dec3, "\(row.when)")
        #expect(configuration.codecString == "ec-3")
        #expect(counts == Counts<DemuxCount>())
    }

    /// Blu-ray's AC-3 core with an E-AC-3 extension: only the core plays everywhere.
    @Test func dependentFrameAfterAC3IsDropped() throws {
        let core: [UInt8] = [0x0B, 0x77, 0, 0, 0x08, 0x40, 0x40, 0] + [UInt8](repeating: 1, count: 248)
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        for _ in 0..<3 { buffer.bytes += core + Frame(streamType: 1, channelMap: 0x1A00).bytes }
        var framer = AudioFramer(pid: 0x101, framing: .ac3)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(packets.map { Array($0.payload) } == [core, core, core])
        #expect(packets.map { $0.pts?.count } == [0, 2880, 5760])
        #expect(counts == Counts<DemuxCount>())
    }
}
