import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// What a splice changes in the transport stream of a channel.
@Suite struct TransportStreamStateTests {
    private static func aac(_ rate: SampleRate, _ channels: Int, objectType: UInt8 = 2) -> AudioConfiguration {
        let index = UInt8(AudioSpecificConfig.samplingFrequencies.firstIndex(of: rate) ?? 3)
        return AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: channels, samplesPerFrame: 1024,
            decoderSpecificInfo: [objectType << 3 | index >> 1, index << 7 | UInt8(channels) << 3])
    }

    private static let mp3 = AudioConfiguration(
        codec: .mpegAudio(layer: 3), sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1152, decoderSpecificInfo: []
    )
    private static let opus = AudioConfiguration(
        codec: .opus, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 960, decoderSpecificInfo: [])

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The audio of each segment, and the name of its init section.
        let segments: [(audio: AudioConfiguration?, initialization: String)]
        let audioChanges: Int
        let discontinuities: UInt64
        let codec: TransportAudioCodec
    }

    static let rows = [
        Row(
            testDescription: "nothing changes", segments: [(aac(48_000, 2), "a"), (aac(48_000, 2), "a")],
            audioChanges: 0, discontinuities: 0, codec: .aac),
        Row(
            testDescription: "other video and back",
            segments: [(aac(48_000, 2), "a"), (aac(48_000, 2), "b"), (aac(48_000, 2), "a")],
            audioChanges: 0, discontinuities: 2, codec: .aac),
        Row(
            testDescription: "another rate and back",
            segments: [(aac(48_000, 2), "a"), (aac(44_100, 2), "b"), (aac(48_000, 2), "a")],
            audioChanges: 2, discontinuities: 2, codec: .aac),
        Row(
            testDescription: "audio in a foreign codec is silence in the channel's",
            segments: [(aac(48_000, 2), "a"), (mp3, "b"), (aac(48_000, 2), "a")],
            audioChanges: 0, discontinuities: 2, codec: .aac),
        Row(
            testDescription: "no audio is silence",
            segments: [(aac(44_100, 1), "a"), (nil, "b"), (aac(44_100, 1), "a")],
            audioChanges: 0, discontinuities: 2, codec: .aac),
        Row(
            testDescription: "mono AAC after silence at the beginning", segments: [(nil, "a"), (aac(48_000, 1), "b")],
            audioChanges: 1, discontinuities: 1, codec: .aac),
        Row(
            testDescription: "MP3 is the channel's codec", segments: [(mp3, "a"), (aac(48_000, 1), "b"), (mp3, "a")],
            audioChanges: 0, discontinuities: 2, codec: .mpeg),
        Row(
            testDescription: "Opus is not carried", segments: [(opus, "a"), (opus, "a")],
            audioChanges: 0, discontinuities: 0, codec: .aac),
        Row(
            testDescription: "ADTS has no object type of its own for xHE-AAC",
            segments: [(aac(48_000, 2, objectType: 23), "a")],
            audioChanges: 0, discontinuities: 0, codec: .aac),
    ]

    @Test(arguments: rows) func stateAfterSegments(_ row: Row) throws {
        var state: TransportStreamState?
        for segment in row.segments {
            let next = state?.followed(by: segment.audio, initialization: segment.initialization)
            state =
                next ?? TransportStreamState(video: .h264, audio: segment.audio, initialization: segment.initialization)
            // A restart between any two segments changes nothing.
            #expect(
                TransportStreamState(text: state?.text ?? "", discontinuities: state?.discontinuities ?? 0) == state)
        }
        #expect(state?.audioChanges == row.audioChanges && state?.discontinuities == row.discontinuities)
        #expect(state?.program.audio == row.codec)
    }

    /// Digital radio's frames, which ADTS cannot describe: they are encoded again.
    @Test func framesOf960SamplesAreForeign() {
        let radio = AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 960, decoderSpecificInfo: [0x11, 0x94])
        #expect(TransportAudioCodec(radio) == nil && TransportAudioCodec(Self.aac(48_000, 2)) == .aac)
    }

    @Test(arguments: ["", "h264", "h264;aac;-1;a;", "h265;aac;0;a;", "h264;ogg;0;a;", "h264;aac;x;a;", "h264;aac;0;a"])
    func otherTextIsRefused(_ text: String) { #expect(TransportStreamState(text: text, discontinuities: 0) == nil) }
}
