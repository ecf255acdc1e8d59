import Foundation
import TestSupport

@testable import Media

/// Makes MP4 files with ffmpeg that are no segments.
enum FileMedia {
    /// Closed GOPs of one second with B-frames.
    static let h264 = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-x264-params", "keyint=25:scenecut=0"]
    static let hevc = [
        "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params",
        "log-level=none:keyint=25:bframes=2:open-gop=0:scenecut=0",
    ]
    static let aac = ["-c:a", "aac", "-ar", "48000", "-ac", "2"]

    struct Failure: Error { let errors: String }

    /// Makes a file. The audio is noise, so that no two audio frames are equal.
    /// - Parameters:
    ///   - delay: seconds by which video and audio begin later.
    ///   - output: further options of the muxer.
    static func make(
        video: [String]? = h264, audio: [String]? = aac, seconds: String = "3", rate: String = "25",
        delay: (video: String, audio: String) = ("0", "0"), output: [String] = []
    ) throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "file-\(UUID().uuidString).mp4").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var arguments = ["-nostdin", "-v", "error", "-bitexact"]
        if video != nil {
            arguments += [
                "-itsoffset", delay.video, "-f", "lavfi", "-i",
                "testsrc2=size=160x90:rate=\(rate):duration=\(seconds)",
            ]
        }
        if audio != nil {
            arguments += ["-itsoffset", delay.audio, "-f", "lavfi", "-i", "anoisesrc=seed=1:r=48000:d=\(seconds)"]
        }
        arguments += (video ?? []) + (audio ?? []) + ["-strict", "-2", "-flags", "+bitexact"] + output
        return try GeneratedMedia.bytes(arguments + ["slate.mp4"]) {
            let answer = try FragmentTool.run("ffmpeg", arguments + [path])
            guard answer.status == 0 else { throw Failure(errors: answer.errors) }
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        }
    }
}

extension [UInt8] {
    subscript(range: Range<UInt64>) -> ArraySlice<UInt8> { self[Int(range.lowerBound)..<Int(range.upperBound)] }

    func replacing(_ old: String, with new: String) -> [UInt8] { replacing(bytes(old), with: bytes(new)) }
}
