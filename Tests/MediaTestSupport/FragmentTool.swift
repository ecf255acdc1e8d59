import Foundation
import TestSupport

/// Runs ffmpeg and ffprobe.
enum FragmentTool {
    struct Answer {
        let output: [UInt8]
        let errors: String
        let status: Int32

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs a tool and waits for its end.
    /// - Parameter input: written to a file whose path replaces "INPUT" among the arguments.
    static func run(
        _ tool: String, _ arguments: [String], input: [UInt8]? = nil, hidesBanner: Bool = true
    ) throws -> Answer {
        let directory = FileManager.default.temporaryDirectory.appending(path: "fragment-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (file, errors) = (directory.appending(path: "input"), directory.appending(path: "errors"))
        if let input { try Data(input).write(to: file) }
        try Data().write(to: errors)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [tool] + (hidesBanner ? ["-hide_banner"] : []) + arguments.map { $0 == "INPUT" ? file.path : $0 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            output: [UInt8](output), errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self),
            status: process.terminationStatus)
    }

    /// Returns ffmpeg's standard output; empty if ffmpeg fails.
    static func make(_ arguments: [String], input: [UInt8]? = nil) throws -> [UInt8] {
        let arguments = ["-nostdin", "-v", "error"] + arguments + ["pipe:1"]
        guard input == nil else { return try run("ffmpeg", arguments, input: input).output }
        return try GeneratedMedia.bytes(arguments) { try run("ffmpeg", arguments).output }
    }
}

/// Decodes hexadecimal digits, ignoring other characters.
func bytes(_ hex: String) -> [UInt8] {
    let digits: [Int] = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { index -> UInt8 in
        UInt8(digits[index] << 4 | digits[index + 1])
    }
}
