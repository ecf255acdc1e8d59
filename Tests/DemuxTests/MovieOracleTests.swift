import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// The demuxer yields the same packets as libavformat for fragmented files: timestamps, sizes, content, order.
@Suite struct MovieOracleTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var video: [String]? = MovieMedia.h264
        var codec = VideoConfiguration.Codec.h264
        var audio: [String]? = ["-c:a", "aac"]
        var rate = "25"
        var output = MovieMedia.fragments
        var audioCodec: AudioConfiguration.Codec? = .aac

        var testDescription: String { when }
    }

    /// An audio-only row with fragments of half a second; the muxer describes AC-3 by its first packet.
    private static func audioRow(_ when: String, _ options: [String], _ codec: AudioConfiguration.Codec) -> Row {
        Row(
            when: when, video: nil, audio: options,
            output: ["-movflags", "+delay_moov+default_base_moof", "-frag_duration", "500000"], audioCodec: codec)
    }

    private static let hevc = [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=12:bframes=2",
    ]
    static let rows = [
        Row(when: "H.264 with B-frames and two slices, AAC"),
        Row(when: "an edit list", output: ["-movflags", "+frag_keyframe+delay_moov+default_base_moof"]),
        Row(when: "a leading sidx", output: ["-movflags", "+dash+frag_keyframe+global_sidx"]),
        Row(when: "data offsets from the start of the file", output: ["-movflags", "+frag_keyframe+empty_moov"]),
        Row(when: "no offset in tfhd", output: ["-movflags", "+frag_keyframe+empty_moov+omit_tfhd_offset"]),
        Row(when: "one moof per track", output: ["-movflags", "+frag_keyframe+empty_moov+separate_moof"]),
        Row(
            when: "one fragment per frame", output: ["-movflags", "+frag_every_frame+empty_moov+default_base_moof"]),
        Row(
            when: "a prime timescale",
            output: MovieMedia.fragments + ["-video_track_timescale", "12347"]),
        Row(when: "30000/1001 frames per second", rate: "30000/1001"),
        Row(when: "video only", audio: nil, audioCodec: nil),
        Row(when: "HEVC as hvc1", video: hevc + ["-tag:v", "hvc1"], codec: .hevc),
        Row(
            when: "open groups of pictures with recovery points",
            video: ["-c:v", "libx264", "-preset", "veryfast", "-x264-params", "open-gop=1:keyint=12:bframes=2"]),
        audioRow("AAC at 44.1 kHz", ["-c:a", "aac", "-ar", "44100", "-ac", "2"], .aac),
        audioRow("AC-3", ["-c:a", "ac3", "-ac", "6"], .ac3),
        audioRow("E-AC-3", ["-c:a", "eac3"], .eac3),
        audioRow("MP3", ["-c:a", "libmp3lame"], .mpegAudio(layer: 3)),
        audioRow("Opus", ["-c:a", "libopus"], .opus),
        audioRow("FLAC", ["-c:a", "flac"], .flac),
    ]

    @Test(arguments: rows)
    func agreesWithLibavformat(row: Row) throws {
        let file = try MovieMedia.make(video: row.video, audio: row.audio, rate: row.rate, output: row.output)
        let expected = try OracleDemuxer.packets(file, container: "mp4")
        let (initialization, segments) = try MovieMedia.cut(file)
        let ours = try FragmentedMP4Demuxer.all(segments, initialization: initialization)
        let whole = try FragmentedMP4Demuxer.all([file], initialization: initialization)
        #expect(whole == ours, "a self-initializing file yields the same as its segments")
        try expectEqual(
            ours.video.map(ComparableFrame.init),
            expected.filter(\.isVideo).map { ComparableFrame(movie: $0, codec: row.codec) })
        try expectEqual(
            ours.audio.map(ComparableFrame.init), expected.filter { !$0.isVideo }.map { ComparableFrame(movie: $0) })
        #expect(ours.video.isEmpty == (row.video == nil))
        #expect(ours.audio.isEmpty == (row.audio == nil))
        #expect(ours.audio.allSatisfy { $0.configuration.codec == row.audioCodec })
        #expect(Set(ours.video.map(\.configuration)).count <= 1)
        #expect(Set(ours.audio.map(\.configuration)).count <= 1)
        #expect(ours.counts == Counts<DemuxCount>())
        #expect(ours.isAudioOnly == (row.video == nil))
    }

    /// The same program in either container has equal parameter sets and payloads, so it needs only one init section.
    @Test(arguments: ["-bsf:v null", "-bsf:v dump_extra=freq=k", "-tag:v avc3 -bsf:v dump_extra=freq=k"])
    func sameProgramInTransportStream(options: String) throws {
        let stream = try OracleMedia.make(video: MovieMedia.h264, audio: nil, seconds: 1)
        let file = try FragmentTool.make(
            ["-i", "INPUT", "-c", "copy"] + options.split(separator: " ").map(String.init) + MovieMedia.fragments
                + ["-f", "mp4"], input: stream)
        let movie = try FragmentedMP4Demuxer.all([file], initialization: file)
        let transport = try TransportDemuxer.all([stream])
        #expect(movie.video.count == 25)
        #expect(movie.video.map(\.configuration) == transport.video.map(\.configuration))
        #expect(movie.video.map(\.payload) == transport.video.map(\.payload))
        #expect(movie.video.map(\.randomAccess) == transport.video.map(\.randomAccess))
    }

    private func expectEqual(_ ours: [ComparableFrame], _ expected: [ComparableFrame]) throws {
        #expect(ours.count == expected.count)
        for (mine, theirs) in zip(ours, expected) { try #require(mine == theirs) }
    }
}
