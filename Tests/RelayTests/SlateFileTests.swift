import Foundation
import Splice
import TestSupport
import Testing

@testable import liverelay

/// A slate from a file to segments on the channel's timeline.
@Suite struct SlateFileTests {
    /// Two groups of a second each.
    private static let file = Result {
        let path = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4").path
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-nostdin", "-v", "error", "-bitexact", "-f", "lavfi", "-i",
            "testsrc2=size=160x90:rate=25:duration=2", "-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2",
            "-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-c:a", "aac", "-flags", "+bitexact", path,
        ]
        try process.run()
        process.waitUntilExit()
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Data(contentsOf: URL(filePath: path))
    }

    private func withFile<Value>(_ data: Data, _ use: (String) throws -> Value) throws -> Value {
        let path = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString)").path
        try data.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try use(path)
    }

    private func slate(_ path: String) throws -> Slate {
        try Slate(SlateSource(path), longestSegment: .seconds(1), sound: SoundConfiguration())
    }

    @Test("one segment a call, each where the one before ended; another outage begins anew")
    func follows() throws {
        try withFile(Self.file.get()) { path in
            var slate = try slate(path)
            var position = TimelinePosition.beginning
            var given: [SplicedSegment] = []
            for _ in 0..<5 {
                given.append(try slate.next(at: position, date: 1_000_000))
                position = given[given.count - 1].position
            }
            #expect(given.map(\.isDiscontinuous) == [false, false, true, false, true])
            #expect(given.allSatisfy { $0.duration == .seconds(1) && $0.isIndependent })
            #expect(given.map(\.programDateTime) == (0..<5).map { 1_000_000 + 1000 * $0 })
            #expect(given.allSatisfy { $0.spans.isEmpty && $0.placements.isEmpty })
            // The upstream was back for a minute.
            position.videoDecodeTime? += 60 * 90_000
            position.presentationEnd += .seconds(60)
            let next = try slate.next(at: position, date: 2_000_000)
            #expect(next.isDiscontinuous && next.programDateTime == 2_000_000)
            #expect(next.position.presentationEnd == position.presentationEnd + .seconds(1))
            #expect(next.fragment.payloads.map(Array.init) == given[0].fragment.payloads.map(Array.init))
            #expect(slate.segments == 6 && slate.counts?.sanitized == 0)
        }
    }

    @Test("a file that is replaced by another stays; one that is cut short is an error, and each call says so")
    func changes() throws {
        try withFile(Self.file.get()) { path in
            var slate = try slate(path)
            let first = try slate.next(at: .beginning, date: 0)
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.truncate(atOffset: 100)
            // What was read already is still shown.
            var position = first.position
            var errors: [RelayError] = []
            for _ in 0..<4 {
                do {
                    position = try slate.next(at: position, date: 0).position
                } catch let error as RelayError { errors.append(error) }
            }
            #expect(errors.count >= 2 && errors.allSatisfy { $0.exit == .badSlate })
        }
    }

    @Test("what cannot be a slate is found out at once, and said with what to do")
    func refusals() throws {
        func line(_ path: String) -> String {
            do {
                _ = try SlateSource(path)
                return "nothing"
            } catch {
                #expect(error.exit == .badSlate)
                return error.line
            }
        }
        #expect(line("/nowhere/slate.mp4").contains("/nowhere/slate.mp4 cannot be read (errno 2)"))
        #expect(line(FileManager.default.temporaryDirectory.path).contains("is no file"))
        let pipe = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString)").path
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        #expect(line(pipe).contains("is no file"))
        let file = try Self.file.get()
        let rows: [(data: Data, says: String)] = [
            (Data(), "no MP4"), (Data("#EXTM3U".utf8), "no MP4"), (file.dropLast(10), "moov"),
            (Self.withoutPictures(file), "ffmpeg"),
        ]
        for row in rows {
            let said = try withFile(row.data, line)
            #expect(said.contains(row.says) && said.contains("ffmpeg -i"), "\(said)")
        }
    }

    /// Tables as they were, and nothing where the samples are.
    private static func withoutPictures(_ file: Data) -> Data {
        var file = file
        guard let media = file.firstRange(of: Data("mdat".utf8)), let movie = file.firstRange(of: Data("moov".utf8))
        else { return file }
        file.resetBytes(in: media.upperBound..<movie.lowerBound - 4)
        return file
    }
}
