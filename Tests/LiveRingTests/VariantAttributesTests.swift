import Playlist
import Testing

@testable import LiveRing
@testable import Support

struct VariantAttributesTests {
    static let program = SegmentFormat(
        videoCodec: "avc1.640028", audioCodec: "mp4a.40.2", resolution: .init(width: 1920, height: 1080),
        frameRate: "25.000")
    static let ad = SegmentFormat(
        videoCodec: "avc1.4d401f", audioCodec: "mp4a.40.5", resolution: .init(width: 1280, height: 720),
        frameRate: "29.970")
    static let dark = SegmentFormat(
        videoCodec: "hvc1.2.4.L120.90", audioCodec: "ec-3", resolution: .init(width: 1280, height: 720),
        frameRate: "50.000", videoRange: "PQ")
    static let gamma = SegmentFormat(
        videoCodec: "hvc1.2.4.L120.90", audioCodec: "ac-3", resolution: .init(width: 1280, height: 720),
        frameRate: "50.000", videoRange: "HLG")
    static let plain = SegmentFormat(
        videoCodec: "avc1.640020", audioCodec: "mp4a.6B", resolution: .init(width: 1280, height: 720),
        frameRate: "50.000", videoRange: "SDR")
    static let vision: SegmentFormat = {
        var format = gamma
        format.supplementalCodec = "dvh1.08.07/db4h"
        return format
    }()
    static let radio = SegmentFormat(audioCodec: "mp4a.40.2")

    /// Segments as (format, 90 kHz ticks, bytes); TARGETDURATION is 6.
    static let rows: [(when: String, segments: [(SegmentFormat, Int64, Int)], line: String)] = [
        (
            "one segment: its rate is both, rounded up", [(program, 540_000, 600_001)],
            "BANDWIDTH=800002,AVERAGE-BANDWIDTH=800002,CODECS=\"avc1.640028,mp4a.40.2\",RESOLUTION=1920x1080,FRAME-RATE=25.000"
        ),
        (
            "an ad in it: its codecs too, the larger frame, the higher rate",
            [(program, 540_000, 600_000), (ad, 540_000, 300_000), (program, 540_000, 600_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=666667,CODECS=\"avc1.640028,avc1.4d401f,mp4a.40.2,mp4a.40.5\",RESOLUTION=1920x1080,FRAME-RATE=29.970"
        ),
        (
            "HLG with advertisements in SDR is HLG; every codec of either",
            [(gamma, 540_000, 600_000), (plain, 540_000, 600_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=800000,CODECS=\"hvc1.2.4.L120.90,avc1.640020,ac-3,mp4a.6B\",RESOLUTION=1280x720,FRAME-RATE=50.000,VIDEO-RANGE=HLG"
        ),
        (
            "PQ among HLG is PQ", [(gamma, 540_000, 600_000), (dark, 540_000, 600_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=800000,CODECS=\"hvc1.2.4.L120.90,ac-3,ec-3\",RESOLUTION=1280x720,FRAME-RATE=50.000,VIDEO-RANGE=PQ"
        ),
        (
            "SDR has no attribute", [(plain, 540_000, 600_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=800000,CODECS=\"avc1.640020,mp4a.6B\",RESOLUTION=1280x720,FRAME-RATE=50.000"
        ),
        (
            "Dolby Vision over HLG, and an advertisement without it",
            [(vision, 540_000, 600_000), (plain, 540_000, 600_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=800000,CODECS=\"hvc1.2.4.L120.90,avc1.640020,ac-3,mp4a.6B\",SUPPLEMENTAL-CODECS=\"dvh1.08.07/db4h\",RESOLUTION=1280x720,FRAME-RATE=50.000,VIDEO-RANGE=HLG"
        ),
        ("audio only", [(radio, 540_000, 96_000)], "BANDWIDTH=128000,AVERAGE-BANDWIDTH=128000,CODECS=\"mp4a.40.2\""),
        (
            "a short burst is measured with its neighbours",
            [(radio, 450_000, 125_000), (radio, 90_000, 475_000), (radio, 450_000, 125_000)],
            "BANDWIDTH=800000,AVERAGE-BANDWIDTH=527273,CODECS=\"mp4a.40.2\""
        ),
        (
            "short segments only: 3 s at a time",
            [(radio, 90_000, 1000), (radio, 90_000, 1000), (radio, 90_000, 4000), (radio, 90_000, 1000)],
            "BANDWIDTH=16000,AVERAGE-BANDWIDTH=14000,CODECS=\"mp4a.40.2\""
        ),
        (
            "less than half a TARGETDURATION in all", [(radio, 90_000, 1000)],
            "BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS=\"mp4a.40.2\""
        ),
    ]

    @Test(arguments: rows)
    func describesListedSegments(when: String, segments: [(SegmentFormat, Int64, Int)], line: String) throws {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for (n, (format, duration, bytes)) in segments.enumerated() {
            let header = NewSegment.numbered(n).header.count
            index.publish(.numbered(n, duration: duration, format: format, payloadBytes: bytes - header))
        }
        for hasEnded in [false, true] {
            let snapshot = RingSnapshot(
                version: 0, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil, directory: "")
            let written = String(decoding: try #require(snapshot.masterPlaylist()), as: UTF8.self)
            let lines = written.split(separator: "\n")
            #expect(lines.contains("#EXT-X-STREAM-INF:" + line), "\(when): \(written)")
            #expect(lines.last == "live.m3u8")
            #expect(lines.contains("#EXT-X-INDEPENDENT-SEGMENTS") == hasEnded, "a later segment may break the promise")
        }
    }

    @Test func hasNoPlaylistBeforeFirstSegment() {
        #expect(RingIndex(policy: plentiful, targetDuration: 6).variantAttributes == nil)
    }
}
