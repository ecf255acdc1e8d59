import Foundation
import Synchronization
package import TestSupport

/// A video frame of a capture, identified by the two numbers that are drawn into it (Captures/README.md).
package struct PresentedFrame: Hashable, Sendable {
    /// Which of the capture's programs the frame belongs to.
    package let program: Int
    /// Counted from 0 in the program.
    package let number: Int

    package init(program: Int, number: Int) { (self.program, self.number) = (program, number) }
}

extension CaptureFixture {
    private struct MalformedPresentedFrames: Error { let line: String }

    /// The content of `shown.txt`: all frames that the capture presents, in order; nil if there is no such file.
    package var presentedFrames: [PresentedFrame]? {
        get throws {
            guard let file = try? bytes("shown.txt") else { return nil }
            return try String(decoding: file, as: UTF8.self).split(separator: "\n").flatMap { line in
                let fields = line.split(separator: " ")
                guard fields.count == 4, let program = Int(fields[0]), let first = Int(fields[2]),
                    let last = Int(fields[3]), first <= last
                else { throw MalformedPresentedFrames(line: "\(line)") }
                return (first...last).map { PresentedFrame(program: program, number: $0) }
            }
        }
    }
}

extension ReplayResult {
    private struct Undecodable: Error { let message: String }

    /// The frames that ffmpeg decodes from the segments listed at the end, in order of presentation.
    package var decodedFrames: [PresentedFrame] { get throws { try Self.frames(of: segments) } }

    /// Decodes segments with ffmpeg.
    /// - Throws: `Undecodable` if ffmpeg reports any error.
    package static func frames(of segments: [File]) throws -> [PresentedFrame] {
        var files: [(initialization: [UInt8], bytes: [UInt8])] = []
        for segment in segments {
            if files.last?.initialization != segment.initialization {
                files.append((segment.initialization, segment.initialization))
            }
            files[files.count - 1].bytes += segment.bytes
        }
        return try files.flatMap { file in
            if let frames = decoded.withLock({ $0[file.bytes] }) { return frames }
            let frames = try frames(in: file.bytes)
            decoded.withLock { $0[file.bytes] = frames }
            return frames
        }
    }

    /// Decoded frames by the bytes of a period: many tests publish the same periods.
    private static let decoded = Mutex<[[UInt8]: [PresentedFrame]]>([:])

    /// Scales the row of 16 cells to its mean lumas, so that ffmpeg returns 16 bytes per frame.
    private static func frames(in movie: [UInt8]) throws -> [PresentedFrame] {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString).mp4")
        try Data(movie).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-i", file.path, "-map", "0:v"]
            + [
                "-vf", "crop=256:16:16:16,scale=16:1:flags=area,format=gray", "-vsync", "passthrough", "-enc_time_base",
                "1:90000",
            ]
            + ["-f", "rawvideo", "-"]
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let cells = Array(output.fileHandleForReading.readDataToEndOfFile())
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard message.isEmpty, process.terminationStatus == 0 else { throw Undecodable(message: message) }
        return stride(from: 0, to: cells.count - 15, by: 16).map { first in
            let word = cells[first..<first + 16].reduce(0) { $0 << 1 | ($1 > 128 ? 1 : 0) }
            return PresentedFrame(program: word >> 12, number: word & 0xFFF)
        }
    }
}
