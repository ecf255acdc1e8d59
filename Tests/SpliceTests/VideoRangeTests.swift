import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Hybrid log-gamma is often signaled by an SEI message, while the parameter sets describe standard range for older
/// displays.
@Suite struct VideoRangeTests {
    static let rows: [(when: String, video: [String], range: VideoDescription.VideoRange)] = [
        (
            "HEVC, a message beside BT.2020",
            ["-c:v", "libx265", "-x265-params", "log-level=none:transfer=14:atc-sei=18"], .hybridLogGamma
        ),
        (
            "HEVC, parameter sets alone", ["-c:v", "libx265", "-x265-params", "log-level=none:transfer=18"],
            .hybridLogGamma
        ),
        ("HEVC, neither", ["-c:v", "libx265", "-x265-params", "log-level=none:transfer=14"], .standard),
        (
            "H.264, a message", ["-c:v", "libx264", "-x264-params", "alternative-transfer=arib-std-b67"],
            .hybridLogGamma
        ),
    ]

    @Test(arguments: rows.indices) func videoRangeOfPeriod(_ index: Int) throws {
        let row = Self.rows[index]
        let stream = try OracleMedia.make(
            video: row.video + ["-preset", "ultrafast"], audio: nil, seconds: 1, size: "128x96")
        var engine = SpliceEngine(.init(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0))
        let segment = SegmentInput(rendition: .main, mediaSequence: 0, bytes: stream)
        let written = try engine.handle(.segment(segment)) + engine.handle(.ended(.main))
        #expect(written.first?.description.video?.videoRange == row.range, "\(row.when)")
    }
}
