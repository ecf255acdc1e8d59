import Foundation

/// Runs ffmpeg or ffprobe on bytes.
package enum FFmpegTool {
    package struct Answer: Sendable {
        package let output: [UInt8]
        package let errors: String
        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    package struct Failure: Error { let errors: String }

    /// - Parameter input: the bytes of a file whose path replaces the argument INPUT.
    package static func run(_ tool: String, _ arguments: [String], input: [UInt8]? = nil) throws -> Answer {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        if let input { try Data(input).write(to: file) }
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: UUID().uuidString))
        try Data().write(to: errors)
        defer { try? FileManager.default.removeItem(at: errors) }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [tool] + arguments.map { $0 == "INPUT" ? file.path : $0 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        let message = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        guard process.terminationStatus == 0 else { throw Failure(errors: message) }
        return Answer(output: bytes, errors: message)
    }
}
