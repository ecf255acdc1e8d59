import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite("HE-AAC with implicit signaling")
struct ImplicitSBRProbeTests {
    /// Builds a raw_data_block without spectral data, optionally followed by SBR data (ISO/IEC 14496-3 §4.4.2).
    private func block(channels: Int, hasSBR: Bool) -> [UInt8] {
        var bits = BitWriter()
        bits.append(channels == 1 ? 0 : 1, bits: 3)  // single_channel_element or channel_pair_element
        bits.append(0, bits: 4)
        if channels == 1 {
            bits.append(0, bits: 8 + 11 + 3)
        } else {
            bits.append(1, bits: 1)  // common_window
            bits.append(0, bits: 11 + 2 + 2 * (8 + 3))
        }
        if hasSBR {
            bits.append(6, bits: 3)  // fill_element
            bits.append(3, bits: 4)  // bytes
            bits.append(0xD, bits: 4)  // EXT_SBR_DATA without a header
            bits.append(0, bits: 20)
        }
        bits.append(7, bits: 3)
        return bits.bytes
    }

    private func packets(_ info: String, rate: SampleRate, channels: Int, sbr: [Bool]) -> [AudioPacket] {
        let configuration = AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: channels, samplesPerFrame: 1024,
            decoderSpecificInfo: bytes(info))
        return sbr.enumerated().map { index, hasSBR in
            AudioPacket(
                pid: 257, configuration: configuration, pts: Ticks(Int64(index) * 1024 * 90_000 / Int64(rate.hertz)),
                isDamaged: false, payload: block(channels: channels, hasSBR: hasSBR)[...])
        }
    }

    static let rows:
        [(what: String, info: String, rate: SampleRate, channels: Int, sbr: [Bool], output: String, codecs: String)] = [
            ("SBR in stereo", "1310", 24_000, 2, [true, true], "131056e598", "mp4a.40.5"),
            ("SBR in mono without parametric stereo", "1388", 22_050, 1, [true, true], "138856e5a0", "mp4a.40.5"),
            ("SBR from the second frame on", "1310", 24_000, 2, [false, true], "131056e598", "mp4a.40.5"),
            ("plain AAC at a low rate", "1310", 24_000, 2, [false, false, false], "1310", "mp4a.40.2"),
            ("a rate too high for SBR", "1190", 48_000, 2, [true, true], "1190", "mp4a.40.2"),
            ("explicitly signaled absence of SBR", "131056e500", 24_000, 2, [true], "131056e500", "mp4a.40.2"),
        ]

    @Test("detected SBR is signaled in the configuration", arguments: rows.indices)
    func detectedSBRIsSignaled(_ index: Int) throws {
        let row = Self.rows[index]
        var stage = AudioTranscodeStage(.copy)
        let output = try stage.finish(packets(row.info, rate: row.rate, channels: row.channels, sbr: row.sbr))
        let configuration = try #require(output.first?.configuration)
        #expect(output.allSatisfy { $0.configuration == configuration }, "\(row.what)")
        #expect(configuration.decoderSpecificInfo == bytes(row.output), "\(row.what)")
        #expect(configuration.codecString == row.codecs, "\(row.what)")
        #expect(configuration.sampleRate == row.rate, "\(row.what): frames are counted at the core's rate")
    }

    @Test(
        "ffprobe reads the signaled SBR from the init section",
        arguments: [
            ("1310", 2, "24000,2")
        ])
    func signaledSBRIsReadByFFprobe(info: String, channels: Int, expected: String) throws {
        let configuration = AudioConfiguration(
            codec: .aac, sampleRate: 24_000, channelCount: channels, samplesPerFrame: 1024,
            decoderSpecificInfo: bytes(info))
        var cache = SilentFrameCache()
        let frame = cache.frame(for: configuration)
        let silence = try #require(frame)
        let sample = MuxSample(
            duration: UInt32(TrackTimescale.audio * 1024 / 24_000), compositionOffset: 0, isSync: true,
            payload: silence.payload[...])
        let fragment = FragmentWriter.write(
            sequenceNumber: 1, video: nil,
            audio: MuxTrack(
                trackID: TrackID.audio, decodeTime: 0, samples: Array(repeating: sample, count: 10)))
        let file =
            try InitWriter.write(video: nil, audio: configuration).bytes + fragment.header
            + fragment.payloads.joined()
        let answer = try FragmentTool.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "stream=sample_rate,channels", "-of", "csv=p=0", "INPUT"],
            input: file)
        #expect(answer.text.split(separator: "\n").first.map(String.init) == expected)
    }
}
