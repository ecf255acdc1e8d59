import Foundation
import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Audio that libavformat frames in another way than a sample needs it, compared by other means.
@Suite struct AudioFramerOracleTests {
    /// The encoder writes the same frames for every multiplex.
    @Test(arguments: [["-ac", "2"], ["-ac", "1", "-ar", "44100"], ["-ac", "6"]])
    func latmCarriesTheFramesOfADTS(options: [String]) throws {
        let encoder = ["-c:a", "aac"] + options
        let plain = try TransportDemuxer.all([OracleMedia.make(video: nil, audio: encoder)])
        let latm = try TransportDemuxer.all([
            OracleMedia.make(video: nil, audio: encoder, output: ["-mpegts_flags", "latm"])
        ])
        #expect(latm.audio.count > 100)
        #expect(latm.audio.map { Array($0.payload) } == plain.audio.map { Array($0.payload) })
        #expect(latm.audio.map(\.pts) == plain.audio.map(\.pts))
        #expect(Set(latm.audio.map(\.configuration.sampleRate)) == Set(plain.audio.map(\.configuration.sampleRate)))
        #expect(Set(latm.audio.map(\.configuration.channelCount)) == Set(plain.audio.map(\.configuration.channelCount)))
        #expect(latm.counts == Counts<DemuxCount>())
    }

    /// If only a program_config_element defines the channels, both multiplexes decode to the same audio.
    @Test(arguments: ["quad", "7.0"])
    func latmWithProgramConfigElement(layout: String) throws {
        let encoder = ["-af", "aformat=channel_layouts=\(layout)", "-c:a", "aac"]
        let plain = try TransportDemuxer.all([OracleMedia.make(video: nil, audio: encoder, seconds: 1)])
        let latm = try TransportDemuxer.all([
            OracleMedia.make(video: nil, audio: encoder, seconds: 1, output: ["-mpegts_flags", "latm"])
        ])
        #expect(latm.counts == Counts<DemuxCount>() && latm.audio.count > 40)
        let configurations = [plain, latm].map { Set($0.audio.map(\.configuration)) }
        #expect(
            configurations.allSatisfy {
                $0.count == 1 && $0.first?.incompatibility == .channels
            })
        var stages = [AudioTranscodeStage(.copy), AudioTranscodeStage(.copy)]
        let transcoded = [try stages[0].finish(plain.audio), try stages[1].finish(latm.audio)]
        #expect(stages.allSatisfy { $0.counts.undecodable == 0 && $0.lastError == nil })
        #expect(transcoded[0] == transcoded[1] && transcoded[0].count > 40)
    }

    /// The AudioSpecificConfig with a program_config_element equals that of ffmpeg's MP4 file.
    @Test(arguments: [("quad", 4), ("6.1", 7), ("7.0", 7)])
    func channelsOfProgramConfigElement(layout: String, count: Int) throws {
        let source = ["-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "anoisesrc=duration=1:seed=1"]
        let filter = ["-af", "aformat=channel_layouts=\(layout)", "-c:a", "aac", "-bitexact"]
        let stream = try OracleMedia.run(source + filter + ["-f", "mpegts", "pipe:1"])
        let file = try OracleMedia.run(
            source + filter + ["-f", "mp4", "-movflags", "empty_moov+delay_moov+frag_keyframe", "pipe:1"])
        let output = try TransportDemuxer.all([stream])
        let configuration = try #require(output.audio.first?.configuration)
        #expect(configuration.channelCount == count)
        #expect(Set(output.audio.map(\.configuration)).count == 1)
        let specific = configuration.decoderSpecificInfo
        try #require(specific.count > 7)
        // Each muxer writes its own comment after the channels, which may be empty.
        #expect(Data(file).range(of: Data(specific.prefix(7))) != nil)
    }

    /// An E-AC-3 frame: 48 kHz, six blocks.
    private static func enhanced(_ fill: UInt8, streamType: UInt8, substream: UInt8 = 0, size: Int = 64) -> [UInt8] {
        let frameSizeCode = size / 2 - 1
        return [
            0x0B, 0x77, streamType << 6 | substream << 3 | UInt8(frameSizeCode >> 8), UInt8(frameSizeCode & 0xFF), 0x34,
            0x80,
        ]
            + [UInt8](repeating: fill, count: size - 6)
    }

    @Test func dependentSubstreamsJoinThePrecedingFrame() throws {
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        for fill: UInt8 in 1...3 {
            buffer.bytes += Self.enhanced(fill, streamType: 0) + Self.enhanced(fill + 100, streamType: 1, size: 40)
        }
        var framer = AudioFramer(pid: 0x101, framing: .ac3)
        var counts = Counts<DemuxCount>()
        let first = try framer.frame(&buffer, isClosed: false, counts: &counts)
        #expect(first.map(\.payload.count) == [104, 104])
        #expect(first.map { $0.pts?.count } == [0, 2880])
        let rest = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(rest.map(\.payload.count) == [104])
        #expect(rest.map { $0.pts?.count } == [5760])
        #expect(counts == Counts<DemuxCount>())
    }

    @Test func otherProgramsOfOneStreamAreNotFollowed() throws {
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        buffer.bytes =
            Self.enhanced(1, streamType: 0) + Self.enhanced(2, streamType: 0, substream: 1)
            + Self.enhanced(3, streamType: 0) + Self.enhanced(4, streamType: 0, substream: 1)
        var framer = AudioFramer(pid: 0x101, framing: .ac3)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(packets.map { $0.payload.last } == [1, 3])
        #expect(packets.map { $0.pts?.count } == [0, 2880])
        #expect(counts == Counts<DemuxCount>())
    }
}
