import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Video codecs of transport streams without tables.
@Suite struct VideoProbeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        let video: [String]
        var codec: VideoConfiguration.Codec?
        /// Stream type and name of the codec if it is not supported.
        var unsupported: (type: UInt8, name: String)?

        var testDescription: String { when }
    }

    private static let x264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "50"]
    private static let x265 = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=50"]

    static let rows = [
        Row(when: "MPEG-2 video", video: ["-c:v", "mpeg2video", "-bf", "2"], unsupported: (0x02, "MPEG-2 video")),
        Row(
            when: "MPEG-2 video with many slices", video: ["-c:v", "mpeg2video", "-g", "100", "-b:v", "8M"],
            unsupported: (0x02, "MPEG-2 video")),
        Row(when: "MPEG-1 video", video: ["-c:v", "mpeg1video"], unsupported: (0x01, "MPEG-1 video")),
        Row(when: "MPEG-4 visual", video: ["-c:v", "mpeg4", "-bf", "2"], unsupported: (0x10, "MPEG-4 visual")),
        Row(when: "H.264", video: OracleMedia.h264, codec: .h264),
        Row(
            when: "H.264 without delimiters",
            video: x264 + ["-x264-params", "aud=0", "-bsf:v", "h264_metadata=aud=remove"],
            codec: .h264),
        Row(when: "HEVC", video: x265, codec: .hevc),
    ]

    /// The packets of `stream` without its tables.
    private static func withoutTables(_ stream: [UInt8]) -> [UInt8] {
        var packets: [UInt8] = []
        for start in stride(from: 0, to: stream.count, by: 188) {
            let pid = TransportPacket(stream, at: start).pid
            if pid >= 0x20, pid != 0x1000 { packets += stream[start..<start + 188] }
        }
        return packets
    }

    /// From the beginning of the stream, and from the middle of a group of pictures.
    @Test(arguments: rows, [0, 30, 45])
    func codecIsRecognized(row: Row, percent: Int) throws {
        let stream = Self.withoutTables(try OracleMedia.make(video: row.video, audio: nil, size: "640x360"))
        let segment = Array(stream.dropFirst(stream.count / 188 * percent / 100 * 188))
        var demuxer = TransportDemuxer()
        guard let unsupported = row.unsupported else {
            let output = try demuxer.feed(segment)
            #expect(output.program?.video?.kind == row.codec.map { .video($0) })
            return
        }
        let error = #expect(throws: MediaError.self) { try demuxer.feed(segment) }
        #expect(error?.reason == .noSupportedStream(streamTypes: [unsupported.type], names: [unsupported.name]))
    }

    @Test func audioOfUnsupportedVideoIsFollowed() throws {
        let stream = try OracleMedia.make(video: ["-c:v", "mpeg4"], audio: ["-c:a", "aac"])
        var (demuxer, listed) = (TransportDemuxer(), TransportDemuxer())
        let output = try demuxer.feed(Self.withoutTables(stream))
        #expect(output.video.isEmpty && !output.audio.isEmpty)
        #expect(output.program?.unsupportedVideo == ["MPEG-4 visual"])
        #expect(try listed.feed(stream).program?.unsupportedVideo == output.program?.unsupportedVideo)
    }

    /// Video of a companion is not asked for.
    @Test func companionHasNoUnsupportedVideo() throws {
        let stream = try OracleMedia.make(video: ["-c:v", "mpeg4"], audio: ["-c:a", "aac"])
        var demuxer = TransportDemuxer(tracks: .audio)
        #expect(try demuxer.feed(Self.withoutTables(stream)).program?.unsupportedVideo == [])
    }
}
