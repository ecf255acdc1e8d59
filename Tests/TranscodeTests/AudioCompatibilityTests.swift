import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

private func configuration(
    _ codec: AudioConfiguration.Codec, rate: SampleRate = 48_000, channels: Int = 2, samples: Int = 1024,
    info: String = ""
) -> AudioConfiguration {
    AudioConfiguration(
        codec: codec, sampleRate: rate, channelCount: channels, samplesPerFrame: samples,
        decoderSpecificInfo: bytes(info))
}

private let compatibilityRows:
    [(what: String, configuration: AudioConfiguration, incompatibility: AudioIncompatibility?)] =
        [
            ("AAC-LC", configuration(.aac, info: "1190"), nil),
            ("AAC-LC 7.1", configuration(.aac, channels: 8, info: "11b8"), nil),
            (
                "AAC-LC with 960 samples per frame, as in digital radio",
                configuration(.aac, samples: 960, info: "1194"),
                .frameLength(960)
            ),
            ("HE-AAC with hierarchical signaling", configuration(.aac, rate: 24_000, info: "2b098800"), nil),
            ("HE-AAC with backward-compatible signaling", configuration(.aac, rate: 24_000, info: "131056e598"), nil),
            ("MP3", configuration(.mpegAudio(layer: 3), samples: 1152), nil),
            ("AC-3", configuration(.ac3, samples: 1536, info: "10116a"), nil),
            ("layer II", configuration(.mpegAudio(layer: 2), samples: 1152), .codec),
            ("layer I", configuration(.mpegAudio(layer: 1), samples: 384), .codec),
            ("FLAC", configuration(.flac, samples: 4096), .codec),
            ("Opus", configuration(.opus, samples: 960), .codec),
            ("AAC Main", configuration(.aac, info: "0990"), .objectType(1)),
            ("AAC SSR", configuration(.aac, info: "1990"), .objectType(3)),
            ("AAC LTP", configuration(.aac, info: "2190"), .objectType(4)),
            ("AAC with a program_config_element", configuration(.aac, info: "1180"), .channels),
            (
                "two raw_data_blocks per frame", configuration(.aac, samples: 2048, info: "1190"),
                .frameLength(2048)
            ),
            ("AAC at 64 kHz", configuration(.aac, rate: 64_000, info: "1110"), .sampleRate(64_000)),
            ("AAC without a configuration", configuration(.aac), .configuration),
        ]

@Test(arguments: compatibilityRows.indices)
func compatibilityOfConfiguration(_ index: Int) {
    let row = compatibilityRows[index]
    #expect(row.configuration.incompatibility == row.incompatibility, "\(row.what)")
    // Audio that is copied is in the transport streams too.
    #expect(row.incompatibility != nil || TransportAudioCodec(row.configuration) != nil, "\(row.what)")
}

private let targetRows: [(rate: SampleRate, channels: Int, target: String)] = [
    (48_000, 2, "aac/48000/2/1024/1190"), (44_100, 1, "aac/44100/1/1024/1208"), (48_000, 6, "aac/48000/6/1024/11b0"),
    (48_000, 7, "aac/48000/6/1024/11b0"), (48_000, 8, "aac/48000/8/1024/11b8"), (48_000, 12, "aac/48000/8/1024/11b8"),
    (64_000, 2, "aac/48000/2/1024/1190"), (192_000, 2, "aac/48000/2/1024/1190"), (24_000, 2, "aac/24000/2/1024/1310"),
]

@Test(arguments: targetRows.indices)
func transcodingTargetOfSource(_ index: Int) {
    let row = targetRows[index]
    let target = AudioConfiguration.aacLC(sampleRate: row.rate, channelCount: row.channels)
    #expect(target.text == row.target)
    #expect(target.incompatibility == nil && target.isPlainAACLC)
}

@Test func configurationTextRoundTrips() {
    for row in compatibilityRows where row.incompatibility == nil {
        #expect(AudioConfiguration(text: row.configuration.text) == row.configuration, "\(row.what)")
    }
    for text in [
        "", "aac", "aac/48000/2/1024", "aac/0/2/1024/1190", "aac/48000/2/0/", "aac/48000/2/1024/119", "opera////",
        // Beyond what the arithmetic of the timeline bears.
        "aac/1/2/1024/1190", "aac/3999/2/1024/1190", "aac/768001/2/1024/1190", "aac/48000/0/1024/1190",
        "aac/48000/65/1024/1190", "aac/48000/2/65536/1190", "aac/48000/2/9223372036854775807/1190",
        "aac/-48000/2/1024/1190", "aac/9223372036854775808/2/1024/1190",
    ] {
        #expect(AudioConfiguration(text: text) == nil, "\(text)")
    }
}

/// Tests the choice between copying and transcoding, with packets that are never decoded.
@Suite("Audio transcode stage")
struct AudioTranscodeStageTests {
    private let stereo = configuration(.aac, info: "1190")
    private let mono = configuration(.aac, channels: 1, info: "1188")

    @Test("compatible audio is copied unchanged")
    func compatibleAudioIsCopied() throws {
        var stage = AudioTranscodeStage(.copy)
        let packets =
            SyntheticPackets.audioPackets(5, from: 0, configuration: stereo)
            + SyntheticPackets.audioPackets(5, from: 9600, configuration: mono)
        #expect(try stage.finish(packets) == packets)
        #expect(stage.counts == .init())
    }

    private static let dolby = configuration(.ac3, samples: 1536, info: "10116a")
    private static let layer3 = configuration(.mpegAudio(layer: 3), samples: 1152)
    private static let lowComplexity = configuration(.aac, info: "1190")

    /// The codec of the first audio, what is known of the channel, and which audio after it is copied.
    static let channelRows: [(String, first: AudioConfiguration, isAAC: Bool?, copies: [AudioConfiguration])] = [
        ("AAC begins", lowComplexity, nil, [lowComplexity]),
        ("AC-3 begins", dolby, nil, [lowComplexity, dolby, layer3]),
        ("MP3 begins", layer3, nil, [lowComplexity, dolby, layer3]),
        ("MP2 begins, which becomes AAC", configuration(.mpegAudio(layer: 2), samples: 1152), nil, [lowComplexity]),
        ("AC-3 in a channel that began without audio", dolby, true, [lowComplexity]),
        ("AAC of a backup in a channel of AC-3", lowComplexity, false, [lowComplexity, dolby, layer3]),
    ]

    @Test("a channel of AAC keeps its codec", arguments: channelRows.indices)
    func channelOfAACKeepsItsCodec(_ index: Int) throws {
        let row = Self.channelRows[index]
        var stage = AudioTranscodeStage(.copy)
        _ = try stage.finish(SyntheticPackets.audioPackets(2, from: 0, configuration: row.first))
        if let isAAC = row.isAAC { stage.isChannelAAC = isAAC }
        for audio in [Self.lowComplexity, Self.dolby, Self.layer3] {
            let packets = SyntheticPackets.audioPackets(2, from: 90_000, configuration: audio)
            var next = stage
            #expect((try next.finish(packets) == packets) == row.copies.contains(audio), "\(row.0): \(audio.codec)")
        }
    }

    @Test("a span that libav rejects is dropped and counted")
    func rejectedSpanIsDropped() throws {
        var stage = AudioTranscodeStage(.copy)
        let odd = configuration(.aac, info: "f8ffffff")
        #expect(try stage.finish(SyntheticPackets.audioPackets(5, from: 0, configuration: odd)) == [])
        #expect(stage.counts == .init(transcoded: 0, undecodable: 5))
        #expect(stage.lastError != nil)
    }

    @Test("uniform keeps the first configuration and copies equivalent audio with it")
    func uniformKeepsFirstConfiguration() throws {
        var stage = AudioTranscodeStage(.uniform)
        let first = SyntheticPackets.audioPackets(5, from: 0, configuration: stereo)
        #expect(try stage.finish(first) == first && stage.uniform == stereo)
        let padded = configuration(.aac, info: "119056e500")
        let equivalent = try stage.finish(SyntheticPackets.audioPackets(5, from: 9600, configuration: padded))
        #expect(equivalent.map(\.configuration) == Array(repeating: stereo, count: 5))
        #expect(stage.counts.transcoded == 0)
    }

    @Test("uniform keeps the configuration over a restart")
    func uniformResumes() throws {
        var stage = AudioTranscodeStage(.uniform, uniform: stereo)
        _ = try stage.finish(SyntheticPackets.audioPackets(1, from: 0, configuration: mono))
        #expect(stage.uniform == stereo)
        #expect(AudioTranscodeStage(.uniform, uniform: configuration(.ac3, samples: 1536)).uniform == nil)
        #expect(AudioTranscodeStage(.copy, uniform: stereo).uniform == nil)
    }

    @Test("uniform with a first configuration other than AAC-LC uses the nearest AAC-LC")
    func uniformStartsWithAnotherCodec() throws {
        var stage = AudioTranscodeStage(.uniform)
        let stream = try OracleMedia.make(video: nil, audio: ["-c:a", "ac3"], seconds: 1)
        var demuxer = TransportDemuxer(tracks: .audio)
        let packets = try demuxer.feed(stream).audio + demuxer.finish().audio
        let expected = AudioConfiguration.aacLC(sampleRate: 48_000, channelCount: 1)
        #expect(try Set(stage.finish(packets).map(\.configuration)) == [expected])
        #expect(stage.uniform == expected)
    }
}
