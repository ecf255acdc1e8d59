import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// The demuxer yields the same packets as libavformat: timestamps, sizes, content, order.
@Suite struct OracleTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var video: [String]? = OracleMedia.h264
        var codec = VideoConfiguration.Codec.h264
        var audio: [String]? = ["-c:a", "aac"]
        var headerSize = 7
        var output: [String] = []

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "H.264 with B-frames and two slices, AAC"),
        Row(when: "H.264 only", audio: nil),
        Row(when: "AAC only", video: nil),
        Row(when: "bounded video PES", output: ["-omit_video_pes_length", "0"]),
        Row(when: "one audio frame in a PES", output: ["-pes_payload_size", "0"]),
        Row(when: "a constant multiplex rate with null packets", output: ["-muxrate", "2M"]),
        Row(
            when: "interlaced macroblock-adaptive frames",
            video: ["-c:v", "libx264", "-preset", "veryfast", "-flags", "+ilme+ildct", "-g", "12"]),
        Row(
            when: "open groups of pictures with recovery points",
            video: ["-c:v", "libx264", "-preset", "veryfast", "-x264-params", "open-gop=1:keyint=12:bframes=2"]),
        Row(
            when: "HEVC",
            video: ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=20"],
            codec: .hevc),
        Row(
            when: "MPEG-2 video with B-frames", video: ["-c:v", "mpeg2video", "-bf", "2", "-g", "12"], codec: .mpeg2),
        Row(
            when: "MPEG-2 video, interlaced, in closed groups of pictures",
            video: [
                "-c:v", "mpeg2video", "-bf", "2", "-g", "15", "-flags", "+ilme+ildct+cgop", "-sc_threshold",
                "1000000000",
            ], codec: .mpeg2),
        Row(when: "MPEG-1 layer II", audio: ["-c:a", "mp2"], headerSize: 0),
        Row(when: "MPEG-1 layer III", audio: ["-c:a", "libmp3lame"], headerSize: 0),
        Row(when: "MPEG-2 layer III", audio: ["-c:a", "libmp3lame", "-ar", "22050"], headerSize: 0),
        Row(when: "AC-3", audio: ["-c:a", "ac3", "-ac", "6"], headerSize: 0),
        Row(when: "AC-3 at 44.1 kHz", audio: ["-c:a", "ac3", "-ar", "44100"], headerSize: 0),
        Row(when: "E-AC-3", audio: ["-c:a", "eac3"], headerSize: 0),
        Row(when: "AAC at 44.1 kHz", audio: ["-c:a", "aac", "-ar", "44100", "-ac", "2"]),
    ]

    @Test(arguments: rows)
    func agreesWithLibavformat(row: Row) throws {
        let stream = try OracleMedia.make(video: row.video, audio: row.audio, output: row.output)
        let expected = try OracleDemuxer.packets(stream)
        let ours = try TransportDemuxer.all([stream])
        let video = expected.filter(\.isVideo).map { ComparableFrame(video: $0, codec: row.codec) }
        try Self.expectEqual(ours.video.map(ComparableFrame.init), video)
        let audio = expected.filter { !$0.isVideo }.map { ComparableFrame(audio: $0, headerSize: row.headerSize) }
        try Self.expectEqual(ours.audio.map(ComparableFrame.init), audio)
        #expect(ours.video.isEmpty == (row.video == nil))
        #expect(ours.audio.isEmpty == (row.audio == nil))
        #expect(ours.video.filter(\.isDamaged).isEmpty)
        #expect(ours.counts[.undecodableUnits] == 0)
    }

    /// Timestamps that the oracle lacks are not compared: ours are interpolated.
    static func expectEqual(_ ours: [ComparableFrame], _ expected: [ComparableFrame]) throws {
        #expect(ours.count == expected.count)
        for (mine, theirs) in zip(ours, expected) {
            var mine = mine
            if theirs.pts == nil { mine.pts = nil }
            if theirs.dts == nil { mine.dts = nil }
            try #require(mine == theirs)
        }
    }
}
