import Support
import TestSupport
import Testing

@testable import Conformance

/// PIDs of the capture `clean`.
private let (videoPID, audioPID): (UInt16, UInt16) = (0x100, 0x101)

extension PlantedHLSFault {
    private static let segments = (0...4).map { "clean-0\($0).ts" }

    static let media: [PlantedHLSFault] = [
        .init("21/size", "a key of 15 bytes", in: "demuxed_aes128") { $0.change("key-1.bin") { $0.body.removeLast() } },
        .init("21/undecryptable", "another key", in: "demuxed_aes128") { $0.change("key-1.bin") { $0.body[3] ^= 1 } },
        .init("21/vector", "another IV", in: "demuxed_aes128") {
            $0.replace("IV=0x0c", "IV=0xff", in: "video.m3u8")
            $0.replace("IV=0x6e", "IV=0xff", in: "audio.m3u8")
        },
        .init("22/missing", "no EXT-X-MAP", in: "fmp4_maps") {
            $0.edit { $0.replacing(/#EXT-X-MAP[^\n]*\n/, with: "") }
        },
        .init("23/timescale", "the init section of another time scale", in: "fmp4_maps") {
            $0.change("init-main.mp4") { $0.body = FaultScene.doubledTimescales($0.body) }
        },
        .init("23/track", "an init section of other tracks", in: "fmp4_maps") {
            $0.change("init-main.mp4") { $0.body = FaultScene.renumberedTracks($0.body) }
        },
        .init("24/gap 24/overlap", "a tfdt half a second late", in: "fmp4_maps") {
            $0.shiftDecodeTimes("01-main.m4s", by: 7680, all: false)
        },
        .init("26/clock", "both clocks jump in fMP4", in: "fmp4_maps") {
            $0.shiftDecodeTimes("01-main.m4s", by: 480_000, all: true)
        },
        .init("25/back", "the video goes back by 0.3 s") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: -27_000, pid: videoPID)
        },
        .init("25/within", "a frame goes back") {
            $0.change("clean-02.ts") {
                $0.body = FaultScene.shifted($0.body, by: -18_000, pid: videoPID, from: 10, count: 1)
            }
        },
        .init("26/clock", "another clock without a tag") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: 900_000)
        },
        .init("26/clock", "the clock goes back without a tag") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: -9_000_000)
        },
        .init("26/clock", "the clocks jump by 0.4 s together") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: 36_000)
        },
        .init("26/pid", "ads without tags", in: "ssai_tagged") {
            $0.edit { text in
                text.replacing("#EXT-X-DISCONTINUITY\n", with: "")
                    .replacing(/DISCONTINUITY-SEQUENCE:[0-9]+/, with: "DISCONTINUITY-SEQUENCE:0")
            }
        },
        .init("26/within", "another clock within a segment") {
            $0.change("clean-02.ts") { $0.body = FaultScene.shifted($0.body, by: 900_000, pid: nil, from: 40) }
            $0.shift(["clean-03.ts", "clean-04.ts"], by: 900_000)
        },
        .init("27/nothing", "a tag where nothing changes") {
            $0.insert("#EXT-X-DISCONTINUITY", before: "clean-04.ts")
        },
        .init("28/differs", "an EXTINF 0.3 s short") {
            $0.edit { $0.replacing("#EXTINF:2.000,\nclean-02.ts", with: "#EXTINF:1.700,\nclean-02.ts") }
        },
        .init("29/no-key-frame", "segments that begin within a group", in: "mid_gop") {
            $0.head("#EXT-X-INDEPENDENT-SEGMENTS")
        },
        .init("31/gap", "audio is missing") { scene in
            let first = scene.pick(2..<4)
            scene.dropPackets("clean-02.ts", pid: audioPID, units: first..<first + 2)
        },
        .init("31/offset", "video jumps, and audio does not") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: 18_000, pid: videoPID)
        },
        .init("31/gap", "audio jumps, and video does not") { scene in
            scene.shift(Array(segments[scene.pick(1..<5)...]), by: 9_000, pid: audioPID)
        },
    ]

    static let renditions: [PlantedHLSFault] = [
        .init("20/one-rendition", "a gap in one variant", in: "ladder_pod") {
            $0.insert("#EXT-X-GAP", before: "128-02-main.ts", in: "128.m3u8")
        },
        .init("32/codecs", "CODECS of HEVC", in: "demuxed_aes128") {
            $0.replace("avc1.640015", "hvc1.1.6.L93.B0", in: "master.m3u8")
        },
        .init("32/codecs", "CODECS of a lower level", in: "demuxed_aes128") {
            $0.replace("avc1.640015", "avc1.64000a", in: "master.m3u8")
        },
        .init("32/resolution", "another RESOLUTION", in: "demuxed_aes128") {
            $0.replace("480x270", "640x360", in: "master.m3u8")
        },
        .init("32/frame-rate", "a lower FRAME-RATE", in: "demuxed_aes128") {
            $0.replace("FRAME-RATE=25.000", "FRAME-RATE=15.000", in: "master.m3u8")
        },
        .init("32/channels", "CHANNELS of 5.1", in: "demuxed_aes128") {
            $0.replace("CHANNELS=\"2\"", "CHANNELS=\"6\"", in: "master.m3u8")
        },
        .init("32/video-range", "VIDEO-RANGE of HDR", in: "demuxed_aes128") {
            $0.replace("FRAME-RATE=25.000", "FRAME-RATE=25.000,VIDEO-RANGE=PQ", in: "master.m3u8")
        },
        .init("33/peak", "a BANDWIDTH that is exceeded", in: "demuxed_aes128") {
            $0.replace("BANDWIDTH=600000", "BANDWIDTH=100000", in: "master.m3u8")
        },
        .init("33/average", "an average that is exceeded", in: "demuxed_aes128") {
            $0.replace("AVERAGE-BANDWIDTH=300000", "AVERAGE-BANDWIDTH=100000", in: "master.m3u8")
        },
        .init("35/no-group", "a group that does not exist", in: "demuxed_aes128") {
            $0.replace("AUDIO=\"sound\"", "AUDIO=\"other\"", in: "master.m3u8")
        },
        .init("35/no-language", "no LANGUAGE", in: "demuxed_aes128") {
            $0.replace("LANGUAGE=\"en\",", "", in: "master.m3u8")
        },
        .init("35/missing-name", "no NAME", in: "demuxed_aes128") {
            $0.replace("NAME=\"English\",", "", in: "master.m3u8")
        },
        .init("35/instream-id", "captions without INSTREAM-ID", in: "demuxed_aes128") {
            $0.head("#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"a\"", in: "master.m3u8")
        },
        .init("36/discontinuity", "another discontinuity sequence in one variant", in: "ladder_pod") {
            $0.edit("128.m3u8") { text in
                text.replacing(/DISCONTINUITY-SEQUENCE:([0-9]+)/) {
                    "DISCONTINUITY-SEQUENCE:\(Int($0.output.1)! + 1)"
                }
            }
        },
        .init("37/offset", "cues a minute late", in: "webvtt") { scene in
            for index in scene.answers.indices where scene.answers[index].url.hasSuffix(".vtt") {
                let text = String(decoding: scene.answers[index].body, as: UTF8.self)
                scene.answers[index].body = Array(text.replacing("MPEGTS:3240126000", with: "MPEGTS:3339126000").utf8)
            }
        },
        .init("37/missing", "no X-TIMESTAMP-MAP", in: "webvtt") { scene in
            for index in scene.answers.indices where scene.answers[index].url.hasSuffix(".vtt") {
                let text = String(decoding: scene.answers[index].body, as: UTF8.self)
                scene.answers[index].body = Array(text.replacing(/X-TIMESTAMP-MAP[^\n]*\n/, with: "").utf8)
            }
        },
    ]

    static let transfers: [PlantedHLSFault] = [
        .init("14/listed", "a segment that is not there") {
            $0.change("clean-03.ts") {
                $0.status = 404
                $0.body = []
            }
        },
        .init("14/removed", "a removed segment that has gone", in: "ssai_tagged") { scene in
            scene.removeVersions(after: 5)
            var again = scene.answers.first { $0.url.hasSuffix("main-01.ts") }!
            (again.status, again.body) = (404, [])
            again.time = scene.answers[scene.versions("main.m3u8").last!].time
            scene.answers.append(again)
        },
        .init("38/playlist", "a playlist as text") { $0.header("Content-Type", "text/plain", of: "main.m3u8") },
        .init("38/segment", "segments as a page") { $0.header("Content-Type", "text/html", of: "clean-02.ts") },
        .init("39/max-age", "a live playlist that is cached for a minute") {
            $0.header("Cache-Control", "max-age=60", of: "main.m3u8")
        },
        .init("39/age", "a live playlist from a cache") { $0.header("Age", "9", of: "main.m3u8") },
        .init("40/length", "a wrong Content-Length") { $0.header("Content-Length", "12", of: "clean-02.ts") },
        .init("40/cut", "a segment that is cut") { $0.change("clean-04.ts") { $0.body.removeLast(100) } },
        .init("40/not-media", "a page in place of a segment") {
            $0.change("clean-03.ts") { $0.body = Array("<!doctype html><html><body>Not found</body></html>".utf8) }
        },
        .init("40/short", "a connection that ends early") { $0.change("clean-03.ts") { $0.failure = .short } },
        .init("40/not-playlist", "a page in place of a playlist") { scene in
            scene.answers[scene.versions("main.m3u8")[1]].body = Array("<html>".utf8)
        },
        .init("40/range-ignored", "ranges that are ignored", in: "byteranges") { scene in
            for index in scene.answers.indices where scene.answers[index].byteRange != nil {
                scene.answers[index].status = 200
            }
        },
        .init("41/name", "segments called .jpg") { scene in
            scene.replace(".ts", ".jpg")
            for index in scene.answers.indices { scene.answers[index].url.replace(".ts", with: ".jpg") }
            for index in scene.answers.indices { scene.answers[index].finalURL.replace(".ts", with: ".jpg") }
        },
    ]
}

/// What the base captures have before a fault is planted, for reasons of their own (CaptureCheckTests).
private let known: [String: Set<String>] = [
    "fmp4_maps": ["38/segment"], "byteranges": ["38/segment"], "ladder_pod": ["32/resolution"],
]

@Suite struct PlantedHLSFaultTests {
    @Test(arguments: PlantedHLSFault.all) func fault(_ fault: PlantedHLSFault) throws {
        for seed: UInt64 in 1...3 {
            var scene = try FaultScene(fault.capture, seed: seed)
            fault.plant(&scene)
            let found = scene.findings()
            let rest = Set(found.map(\.identifier)).subtracting(known[fault.capture] ?? [])
            #expect(
                rest == fault.expected,
                "\(fault.when), seed \(seed): \(found.map { "\($0.identifier) ×\($0.count): \($0.message)" })")
        }
    }

    @Test func thereAreEnough() {
        #expect(PlantedHLSFault.all.count >= 60)
        let rules = Set(PlantedHLSFault.all.flatMap(\.expected).compactMap { Int($0.prefix { $0 != "/" }) })
        // Key frames and captions are judged in MediaRuleTests.
        #expect(Set(1...42).subtracting(rules) == [30, 34])
    }
}
