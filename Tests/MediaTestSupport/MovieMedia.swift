import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Fragmented files that ffmpeg generates when the tests begin.
enum MovieMedia {
    /// Muxer options for one fragment per key frame, with every header before the first.
    static let fragments = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]

    /// B-frames, several slices, two fragments per second.
    static let h264 = [
        "-c:v", "libx264", "-preset", "veryfast", "-g", "13", "-bf", "2", "-x264-params", "slices=2:scenecut=0",
    ]

    /// - Parameter output: additional options of the muxer.
    static func make(
        video: [String]? = h264, audio: [String]? = ["-c:a", "aac"], seconds: Int = 1, rate: String = "25",
        size: String = "320x180", output: [String] = fragments
    ) throws -> [UInt8] {
        var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-bitexact"]
        if video != nil {
            arguments += ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate):duration=\(seconds)"]
        }
        if audio != nil {
            arguments += ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)"]
        }
        arguments += (video ?? []) + (audio ?? [])
        return try OracleMedia.run(
            arguments + ["-strict", "-2", "-flags", "+bitexact", "-f", "mp4"] + output + ["pipe:1"])
    }

    /// Returns an init section and one segment per fragment.
    static func cut(_ file: [UInt8]) throws -> (initialization: [UInt8], segments: [[UInt8]]) {
        let boxes = try BoxReader.boxes(in: file[...])
        let moofs = boxes.filter { $0.type == "moof" }.map(\.start)
        let ends = moofs.dropFirst() + [boxes.first { $0.type == "mfra" }?.start ?? file.count]
        return (Array(file[..<(moofs.first ?? file.count)]), zip(moofs, ends).map { Array(file[$0..<$1]) })
    }
}

extension FragmentedMP4Demuxer {
    /// Returns the joined output of all segments.
    static func all(
        _ segments: [[UInt8]], initialization: [UInt8], tracks: TrackSelection = .both
    ) throws(MediaError) -> DemuxedSegment {
        var demuxer = FragmentedMP4Demuxer(tracks: tracks)
        var whole = DemuxedSegment()
        for segment in segments {
            try demuxer.initialize(with: initialization)
            whole.append(try demuxer.feed(segment))
        }
        return whole
    }
}
