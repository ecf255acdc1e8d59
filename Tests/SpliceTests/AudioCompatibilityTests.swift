import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

private func sound(
    _ codec: AudioConfiguration.Codec, rate: Int = 48_000, channels: Int = 2, samples: Int = 1024, info: String = ""
) -> AudioConfiguration {
    AudioConfiguration(
        codec: codec, sampleRate: rate, channelCount: channels, samplesPerFrame: samples,
        decoderSpecificInfo: bytes(info))
}

private let carriageRows: [(what: String, configuration: AudioConfiguration, is: AudioCompatibility)] = [
    ("AAC-LC", sound(.aac, info: "1190"), .copy),
    ("AAC-LC 7.1", sound(.aac, channels: 8, info: "11b8"), .copy),
    ("AAC-LC of digital radio", sound(.aac, samples: 960, info: "1194"), .copy),
    ("HE-AAC announced in front", sound(.aac, rate: 24_000, info: "2b098800"), .copy),
    ("HE-AAC announced behind", sound(.aac, rate: 24_000, info: "131056e598"), .copy),
    ("MP3", sound(.mpegAudio(layer: 3), samples: 1152), .copy),
    ("AC-3", sound(.ac3, samples: 1536, info: "10116a"), .copy),
    ("layer II", sound(.mpegAudio(layer: 2), samples: 1152), .transcode(.codec)),
    ("layer I", sound(.mpegAudio(layer: 1), samples: 384), .transcode(.codec)),
    ("DTS", sound(.dts, channels: 6, samples: 512), .transcode(.codec)),
    ("PCM", sound(.smpte302), .transcode(.codec)),
    ("AAC Main", sound(.aac, info: "0990"), .transcode(.objectType(1))),
    ("AAC SSR", sound(.aac, info: "1990"), .transcode(.objectType(3))),
    ("AAC LTP", sound(.aac, info: "2190"), .transcode(.objectType(4))),
    ("AAC whose channels stand in the stream", sound(.aac, info: "1180"), .transcode(.channels)),
    ("two raw_data_blocks a frame", sound(.aac, samples: 2048, info: "1190"), .transcode(.frameLength(2048))),
    ("AAC at 64 kHz", sound(.aac, rate: 64_000, info: "1110"), .transcode(.sampleRate(64_000))),
    ("AAC that says nothing", sound(.aac), .transcode(.configuration)),
]

@Test(arguments: carriageRows.indices)
func whatIsCopied(_ index: Int) {
    let row = carriageRows[index]
    #expect(AudioCompatibility(row.configuration) == row.is, "\(row.what)")
}

private let targetRows: [(rate: Int, channels: Int, gives: String)] = [
    (48_000, 2, "aac/48000/2/1024/1190"), (44_100, 1, "aac/44100/1/1024/1208"), (48_000, 6, "aac/48000/6/1024/11b0"),
    (48_000, 7, "aac/48000/6/1024/11b0"), (48_000, 8, "aac/48000/8/1024/11b8"), (48_000, 12, "aac/48000/8/1024/11b8"),
    (64_000, 2, "aac/48000/2/1024/1190"), (192_000, 2, "aac/48000/2/1024/1190"), (24_000, 2, "aac/24000/2/1024/1310"),
]

@Test(arguments: targetRows.indices)
func whatTheBridgeWrites(_ index: Int) {
    let row = targetRows[index]
    let target = AudioConfiguration.aacLC(sampleRate: row.rate, channelCount: row.channels)
    #expect(target.text == row.gives)
    #expect(AudioCompatibility(target) == .copy && target.isPlainAACLC)
}

@Test func configurationsComeBackFromTheirText() {
    for row in carriageRows where row.is == .copy {
        #expect(AudioConfiguration(text: row.configuration.text) == row.configuration, "\(row.what)")
    }
    for text in [
        "", "aac", "aac/48000/2/1024", "aac/0/2/1024/1190", "aac/48000/2/0/", "aac/48000/2/1024/119", "opera////",
    ] {
        #expect(AudioConfiguration(text: text) == nil, "\(text)")
    }
}

/// Packets that are never decoded: what is asked is what becomes of them.
@Suite("Sound before the merge")
struct AudioTranscodeStageTests {
    private let stereo = sound(.aac, info: "1190")
    private let mono = sound(.aac, channels: 1, info: "1188")

    @Test("what can be copied is handed on as it is")
    func copied() {
        var stage = AudioTranscodeStage(.copy)
        let packets =
            SyntheticPackets.audioPackets(5, from: 0, configuration: stereo)
            + SyntheticPackets.audioPackets(5, from: 9600, configuration: mono)
        #expect(stage.finish(packets) == packets)
        #expect(stage.counts == .init())
    }

    @Test("a stretch that the libraries refuse is left out and counted")
    func refused() {
        var stage = AudioTranscodeStage(.copy)
        let odd = sound(.aac, info: "f8ffffff")
        #expect(stage.finish(SyntheticPackets.audioPackets(5, from: 0, configuration: odd)) == [])
        #expect(stage.counts == .init(transcoded: 0, undecodable: 5))
        #expect(stage.lastError != nil)
    }

    @Test("uniform keeps the first configuration, and an alike one is copied under its name")
    func uniform() throws {
        var stage = AudioTranscodeStage(.uniform)
        let first = SyntheticPackets.audioPackets(5, from: 0, configuration: stereo)
        #expect(stage.finish(first) == first && stage.uniform == stereo)
        let padded = sound(.aac, info: "119056e500")
        let alike = stage.finish(SyntheticPackets.audioPackets(5, from: 9600, configuration: padded))
        #expect(alike.map(\.configuration) == Array(repeating: stereo, count: 5))
        #expect(stage.counts.transcoded == 0)
    }

    @Test("uniform goes on after a restart with what it began with")
    func resumed() {
        var stage = AudioTranscodeStage(.uniform, uniform: stereo)
        _ = stage.finish(SyntheticPackets.audioPackets(1, from: 0, configuration: mono))
        #expect(stage.uniform == stereo)
        #expect(AudioTranscodeStage(.uniform, uniform: sound(.ac3, samples: 1536)).uniform == nil)
        #expect(AudioTranscodeStage(.copy, uniform: stereo).uniform == nil)
    }

    @Test("uniform turns all into the first one's AAC-LC when that was something else")
    func uniformOfAnotherCodec() throws {
        var stage = AudioTranscodeStage(.uniform)
        let stream = try OracleMedia.make(video: nil, audio: ["-c:a", "ac3"], seconds: 1)
        var demuxer = TransportDemuxer(tracks: .audio)
        let packets = try demuxer.feed(stream).audio + demuxer.finish().audio
        let expected = AudioConfiguration.aacLC(sampleRate: 48_000, channelCount: 1)
        #expect(Set(stage.finish(packets).map(\.configuration)) == [expected])
        #expect(stage.uniform == expected)
    }
}
