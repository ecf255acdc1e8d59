import Foundation
import TestSupport

/// Transport streams that ffmpeg generates when the tests begin.
enum OracleMedia {
    struct Failure: Error { let arguments: [String] }

    /// B-frames and several slices.
    static let h264 = [
        "-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf", "2", "-x264-params", "slices=2:scenecut=0",
    ]

    /// - Parameter output: additional options of the muxer.
    static func make(
        video: [String]?, audio: [String]?, seconds: Int = 3, size: String = "320x180", output: [String] = []
    ) throws -> [UInt8] {
        var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-bitexact"]
        if video != nil { arguments += ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=\(seconds)"] }
        if audio != nil {
            arguments += ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)"]
        }
        if let video { arguments += video }
        if let audio { arguments += audio }
        return try run(arguments + ["-flags", "+bitexact", "-f", "mpegts"] + output + ["pipe:1"])
    }

    static func run(_ arguments: [String]) throws -> [UInt8] {
        try GeneratedMedia.bytes(arguments) { try generate(arguments) }
    }

    private static func generate(_ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, !output.isEmpty else { throw Failure(arguments: arguments) }
        return [UInt8](output)
    }
}
