import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

@Suite("Codec strings and names")
struct CodecStringTests {
    typealias AudioRow = (what: String, codec: AudioConfiguration.Codec, rate: SampleRate, info: String, string: String)

    static let audioRows: [AudioRow] = [
        ("AAC LC, 48 kHz stereo", .aac, 48_000, "1190", "mp4a.40.2"),
        ("AAC LC with an extension without SBR", .aac, 48_000, "119056e500", "mp4a.40.2"),
        ("HE-AAC, backward compatible signaling", .aac, 24_000, "131056e598", "mp4a.40.5"),
        ("HE-AAC, hierarchical signaling", .aac, 24_000, "2b118800", "mp4a.40.5"),
        ("HE-AAC v2, hierarchical signaling", .aac, 24_000, "eb098800", "mp4a.40.29"),
        ("HE-AAC v2, backward compatible signaling", .aac, 24_000, "130856e59d4880", "mp4a.40.29"),
        ("AAC Main", .aac, 44_100, "0a10", "mp4a.40.1"),
        ("xHE-AAC, an escaped object type", .aac, 48_000, "f94640", "mp4a.40.42"),
        ("an explicit sample rate", .aac, 50_000, "1780 61a8 10", "mp4a.40.2"),
        ("channels in a program_config_element", .aac, 48_000, "1180", "mp4a.40.2"),
        ("an empty configuration", .aac, 48_000, "", "mp4a.40.2"),
        ("MPEG-1 layer 3", .mpegAudio(layer: 3), 44_100, "", "mp4a.6B"),
        ("MPEG-2 layer 3", .mpegAudio(layer: 3), 22_050, "", "mp4a.6B"),
        ("AC-3", .ac3, 48_000, "10 11 40", "ac-3"),
        ("E-AC-3", .eac3, 48_000, "0f 00 20 0f 00", "ec-3"),
    ]

    @Test("audio", arguments: audioRows)
    func audio(what: String, codec: AudioConfiguration.Codec, rate: SampleRate, info: String, string: String) {
        let configuration = AudioConfiguration(
            codec: codec, sampleRate: rate, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: bytes(info))
        #expect(configuration.codecString == string, "\(what)")
    }

    static let hashes: [(of: String, digest: String, name: String)] = [
        ("", "cbf29ce484222325", "6c62272e07bb014262b821756295c58d"),
        ("a", "af63dc4c8601ec8c", "d228cb696f1a8caf78912b704e4a8964"),
        ("foobar", "85944171f73967e8", "343e1662793c64bf6f0d3597ba446f18"),
    ]

    @Test("FNV-1a agrees with the published test vectors", arguments: hashes)
    func contentHash(of text: String, digest: String, name: String) {
        #expect(ContentHash.digest(of: Array(text.utf8)[...]) == UInt64(digest, radix: 16))
        #expect(ContentHash.hexName(of: Array(text.utf8)) == name)
    }

    static let rates: [Int64] = [
        7_350, 8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000,
    ]

    @Test("every AAC rate except 64 kHz divides the audio timescale", arguments: rates)
    func timescale(rate: Int64) { #expect(TrackTimescale.audio % rate == 0) }
}
