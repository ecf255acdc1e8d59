import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite("Silent AAC frames")
struct SilenceTests {
    static let layouts = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 8)]

    @Test("ffmpeg decodes silent frames to zeros without errors", arguments: layouts, [3, 4, 11])
    func silentFramesDecodeToZeros(layout: (configuration: Int, channels: Int), frequencyIndex: Int) throws {
        let audio = configuration(layout.configuration, layout.channels, frequencyIndex)
        let frame = try #require(audio.silentRawDataBlock)
        let file = try stream(of: frame, count: 12, audio)
        let answer = try FragmentTool.run(
            "ffmpeg", ["-nostdin", "-v", "verbose", "-xerror", "-i", "INPUT", "-f", "s16le", "pipe:1"], input: file)
        #expect(answer.status == 0)
        #expect(!answer.errors.contains("rror") && !answer.errors.contains("nvalid"), "\(answer.errors)")
        #expect(answer.output.count == 12 * 1024 * layout.channels * 2)
        #expect(answer.output.allSatisfy { $0 == 0 })
    }

    @Test("a sine decodes to samples other than zero, so that the test above can fail")
    func sineIsNotSilent() throws {
        let sine = try FragmentTool.make(
            ["-f", "lavfi", "-i", "sine=d=0.2", "-c:a", "aac", "-f", "adts"])
        let decoded = try FragmentTool.make(["-i", "INPUT", "-f", "s16le"], input: sine)
        #expect(!decoded.isEmpty && decoded.contains { $0 != 0 })
    }

    static let unsupportedRows: [(what: String, info: String)] = [
        ("channels in a program_config_element", "1180"), ("AAC SSR", "1990"), ("xHE-AAC", "f94640"),
        ("a reserved channel configuration", "11f8"), ("a truncated configuration", "11"),
    ]

    @Test("an unsupported configuration has no silent frame", arguments: unsupportedRows)
    func unsupportedConfiguration(what: String, info: String) {
        let audio = AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: bytes(info))
        var cache = SilentFrameCache()
        #expect(cache.frame(for: audio) == nil, "\(what)")
    }

    @Test func frameSizesByChannelConfiguration() {
        #expect((1...7).map { AACSilence.frame(channelConfiguration: $0)?.count } == [4, 6, 10, 13, 15, 19, 24])
        #expect(AACSilence.frame(channelConfiguration: 0) == nil)
        #expect(AACSilence.frame(channelConfiguration: 8) == nil)
    }

    private func configuration(_ layout: Int, _ channels: Int, _ frequencyIndex: Int) -> AudioConfiguration {
        let info = 2 << 11 | frequencyIndex << 7 | layout << 3
        return AudioConfiguration(
            codec: .aac, sampleRate: AudioSpecificConfig.samplingFrequencies[frequencyIndex], channelCount: channels,
            samplesPerFrame: 1024, decoderSpecificInfo: [UInt8(info >> 8), UInt8(info & 0xFF)])
    }

    private func stream(of frame: [UInt8], count: Int, _ audio: AudioConfiguration) throws -> [UInt8] {
        let duration = UInt32(TrackTimescale.audio * 1024 / Int64(audio.sampleRate.hertz))
        let sample = MuxSample(duration: duration, compositionOffset: 0, isSync: true, payload: frame[...])
        let track = MuxTrack(
            trackID: TrackID.audio, decodeTime: 0, samples: Array(repeating: sample, count: count))
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: nil, audio: track)
        let initSection = try InitWriter.write(video: nil, audio: audio)
        return initSection.bytes + fragment.header + fragment.payloads.joined()
    }
}
