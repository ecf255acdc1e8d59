import Foundation
import Synchronization
import TestSupport

/// A picture of a capture's programme, by the two numbers that are drawn into it (Captures/README.md).
struct PresentedFrame: Hashable, Sendable {
    let programme: Int
    /// Counted from 0 in the programme.
    let number: Int
}

extension CaptureFixture {
    struct MalformedShown: Error { let line: String }

    /// `shown.txt`: each picture that somebody sees who misses nothing, in order; nil where there is none.
    var presentedFrames: [PresentedFrame]? {
        get throws {
            guard let file = try? bytes("shown.txt") else { return nil }
            return try String(decoding: file, as: UTF8.self).split(separator: "\n").flatMap { line in
                let fields = line.split(separator: " ")
                guard fields.count == 4, let programme = Int(fields[0]), let first = Int(fields[2]),
                    let last = Int(fields[3]), first <= last
                else { throw MalformedShown(line: "\(line)") }
                return (first...last).map { PresentedFrame(programme: programme, number: $0) }
            }
        }
    }
}

extension ReplayResult {
    struct Undecodable: Error { let message: String }

    /// The pictures that ffmpeg decodes of what is listed in the end, in the order in which it shows them.
    var decodedPictures: [PresentedFrame] { get throws { try Self.pictures(of: segments) } }

    /// - Throws: `Undecodable` with what ffmpeg has to say, if it says anything.
    static func pictures(of segments: [File]) throws -> [PresentedFrame] {
        var files: [(initialization: [UInt8], bytes: [UInt8])] = []
        for segment in segments {
            if files.last?.initialization != segment.initialization {
                files.append((segment.initialization, segment.initialization))
            }
            files[files.count - 1].bytes += segment.bytes
        }
        return try files.flatMap { file in
            if let known = known.withLock({ $0[file.bytes] }) { return known }
            let pictures = try pictures(in: file.bytes)
            known.withLock { $0[file.bytes] = pictures }
            return pictures
        }
    }

    /// By the bytes of a run: many tests publish the same.
    private static let known = Mutex<[[UInt8]: [PresentedFrame]]>([:])

    /// Of the row of 16 cells only the mean luma of each cell is asked for: 16 bytes a picture.
    private static func pictures(in movie: [UInt8]) throws -> [PresentedFrame] {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString).mp4")
        try Data(movie).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-i", file.path, "-map", "0:v"]
            + ["-vf", "crop=256:16:16:16,scale=16:1:flags=area,format=gray", "-vsync", "passthrough"]
            + ["-f", "rawvideo", "-"]
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let cells = Array(output.fileHandleForReading.readDataToEndOfFile())
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard message.isEmpty, process.terminationStatus == 0 else { throw Undecodable(message: message) }
        return stride(from: 0, to: cells.count - 15, by: 16).map { first in
            let word = cells[first..<first + 16].reduce(0) { $0 << 1 | ($1 > 128 ? 1 : 0) }
            return PresentedFrame(programme: word >> 12, number: word & 0xFFF)
        }
    }
}
