import Foundation
import Media
import Mux
import Splice
import Support
import Testing

@testable import Channel
@testable import Export
@testable import Transcode

/// A slate, from its file to segments on the channel's timeline.
@Suite struct SlateTests {
    /// A movie of two GOPs of a second each.
    private static let file = Result { try make(size: "160x90") }
    /// A movie of another size that replaces it.
    private static let other = Result { try make(size: "176x144") }

    private static func make(size: String) throws -> Data {
        let path = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4").path
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-nostdin", "-v", "error", "-bitexact", "-f", "lavfi", "-i",
            "testsrc2=size=\(size):rate=25:duration=2", "-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2",
            "-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-c:a", "aac", "-flags", "+bitexact", path,
        ]
        try process.run()
        process.waitUntilExit()
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Data(contentsOf: URL(filePath: path))
    }

    private func withFile<Value>(_ data: Data, _ use: (String) throws -> Value) throws -> Value {
        let path = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString)").path
        let file = URL(filePath: path)
        try data.write(to: file)
        defer {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.removeItem(at: file.appendingPathExtension("aside"))
        }
        // With an old date, a write within one step of the file system's clock is noticed.
        try Self.setDate(of: file, Date(timeIntervalSince1970: 1_000_000))
        return try use(path)
    }

    private func slate(_ path: String) throws -> Slate {
        try Slate(SlateSource(path), longestSegment: .seconds(1), audio: AudioSettings())
    }

    @Test func segmentsContinueUntilNextOutageStartsOver() throws {
        try withFile(Self.file.get()) { path in
            var slate = try slate(path)
            var position = TimelinePosition.beginning
            var segments: [SplicedSegment] = []
            for _ in 0..<5 {
                segments.append(try slate.next(at: position, date: 1_000_000))
                position = segments[segments.count - 1].position
            }
            #expect(segments.map(\.isDiscontinuous) == [false, false, true, false, true])
            #expect(segments.allSatisfy { $0.duration == .seconds(1) && $0.isIndependent })
            let dates: [Int64] = [1_000_000, 1_001_000, 1_002_000, 1_003_000, 1_004_000]
            #expect(segments.map(\.programDateTime) == dates)
            #expect(segments.allSatisfy { $0.spans.isEmpty && $0.placements.isEmpty })
            // The upstream is published for a minute.
            position.videoDecodeTime? += 60 * 90_000
            position.presentationEnd += .seconds(60)
            let next = try slate.next(at: position, date: 2_000_000)
            #expect(next.isDiscontinuous && next.programDateTime == 2_000_000)
            #expect(next.position.presentationEnd == position.presentationEnd + .seconds(1))
            #expect(next.fragment.payloads.map(Array.init) == segments[0].fragment.payloads.map(Array.init))
            #expect(slate.counts?[.adjustedTimestamps] == 0)
        }
    }

    /// Changes of the file, by the index of the call before which they happen, and the results of six calls: `o` is a
    /// segment of the old slate, `n` of the new one, `|` precedes a discontinuity, `-` is an error.
    private struct Change: Sendable {
        let when: String
        let steps: [Int: @Sendable (URL) throws -> Void]
        let results: String
    }

    private static let rows: [Change] = [
        Change(when: "unchanged", steps: [:], results: "oo|oo|oo"),
        Change(when: "replaced by renaming", steps: [1: { try replace($0, with: other.get()) }], results: "o|nn|nn|n"),
        Change(
            when: "replaced inside an iteration", steps: [2: { try replace($0, with: other.get()) }],
            results: "oo|nn|nn"),
        Change(when: "overwritten", steps: [1: { try other.get().write(to: $0) }], results: "o|nn|nn|n"),
        Change(
            when: "overwritten with as many bytes that are no movie",
            steps: [2: { try Data(repeating: 0x5A, count: file.get().count).write(to: $0) }], results: "oo----"),
        Change(
            when: "half-written, then whole",
            steps: [1: { try half(other.get()).write(to: $0) }, 3: { try other.get().write(to: $0) }],
            results: "o--|nn|n"
        ),
        Change(
            when: "truncated, then restored",
            steps: [2: { try half(file.get()).write(to: $0) }, 3: { try file.get().write(to: $0) }],
            results: "oo-|oo|o"),
        Change(
            when: "replaced, then restored",
            steps: [2: { try replace($0, with: other.get()) }, 4: { try replace($0, with: file.get()) }],
            results: "oo|nn|oo"),
        Change(
            when: "replaced by a file that is no slate, then restored by renaming",
            steps: [
                1: {
                    try FileManager.default.moveItem(at: $0, to: $0.appendingPathExtension("aside"))
                    try Data("none".utf8).write(to: $0)
                },
                2: { #expect(unsafe rename($0.path + ".aside", $0.path) == 0) },
            ], results: "o-|oo|oo"),
        Change(when: "name removed", steps: [1: { try FileManager.default.removeItem(at: $0) }], results: "oo|oo|oo"),
        Change(
            when: "name removed, later used by another file",
            steps: [1: { try FileManager.default.removeItem(at: $0) }, 3: { try other.get().write(to: $0) }],
            results: "oo|o|nn|n"),
        Change(
            when: "replaced by a directory",
            steps: [
                1: {
                    try FileManager.default.removeItem(at: $0)
                    try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
                }
            ], results: "o-----"),
        Change(
            when: "replaced by a link to another file",
            steps: [
                1: {
                    try other.get().write(to: $0.appendingPathExtension("aside"))
                    try FileManager.default.removeItem(at: $0)
                    try FileManager.default.createSymbolicLink(
                        at: $0, withDestinationURL: $0.appendingPathExtension("aside"))
                }
            ], results: "o|nn|nn|n"),
        Change(
            when: "touched", steps: [3: { try setDate(of: $0, Date(timeIntervalSince1970: 2_000_000)) }],
            results: "oo|o|oo|o"),
    ]

    @Test(arguments: rows.indices) func changedFileStartsOver(_ index: Int) throws {
        let row = Self.rows[index]
        try withFile(Self.file.get()) { path in
            var slate = try slate(path)
            var position = TimelinePosition.beginning
            var results = ""
            for call in 0..<6 {
                try row.steps[call]?(URL(filePath: path))
                do {
                    let segment = try slate.next(at: position, date: 0)
                    let end = segment.position.presentationEnd - segment.duration
                    #expect(end == position.presentationEnd, "\(row.when)")
                    results +=
                        (segment.isDiscontinuous ? "|" : "") + (segment.description.video?.width == 160 ? "o" : "n")
                    position = segment.position
                } catch is SlateError {
                    results += "-"
                    position = position.advanced(by: .seconds(1))
                }
            }
            #expect(results == row.results, "\(row.when)")
        }
    }

    @Test func readThrowsIfFileWasOverwritten() throws {
        try withFile(Self.file.get()) { path in
            let file = try LocalFile(path)
            #expect(try file.read([4..<8]) == Array("ftyp".utf8) && !file.hasChanged)
            try Self.file.get().write(to: URL(filePath: path))
            #expect(throws: LocalFileError(.changed, path: path)) { try file.read([4..<8]) }
            #expect(file.hasChanged)
        }
    }

    /// Replaces a file by renaming another one, as `mv` does.
    private static func replace(_ file: URL, with data: Data) throws {
        let new = file.appendingPathExtension("new")
        try data.write(to: new)
        #expect(unsafe rename(new.path, file.path) == 0)
    }

    private static func half(_ data: Data) -> Data { data.prefix(data.count / 2) }

    private static func setDate(of file: URL, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    @Test func unusableFileIsRefusedWhenOpened() throws {
        func reason(_ path: String) -> SlateError.Reason? {
            do {
                _ = try SlateSource(path)
                return nil
            } catch {
                #expect(error.path == path)
                return error.reason
            }
        }
        #expect(reason("/nowhere/slate.mp4") == .file(.system(ENOENT)))
        #expect(reason(FileManager.default.temporaryDirectory.path) == .file(.notAFile))
        let pipe = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString)").path
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        #expect(reason(pipe) == .file(.notAFile))
        let file = try Self.file.get()
        #expect(try mediaReason(withFile(Data(), reason)) == .unusableMovie(.notMP4))
        #expect(try mediaReason(withFile(Data("#EXTM3U".utf8), reason)) == .unusableMovie(.notMP4))
        #expect(try mediaReason(withFile(file.dropLast(10), reason)) == .unusableMovie(.noMovie))
        #expect(try mediaReason(withFile(Self.withoutSamples(file), reason)) != nil)
    }

    private func mediaReason(_ reason: SlateError.Reason?) -> MediaError.Reason? {
        if case .media(let error) = reason { error.reason } else { nil }
    }

    /// Returns `file` with its sample tables intact and its samples zeroed.
    private static func withoutSamples(_ file: Data) -> Data {
        var file = file
        guard let media = file.firstRange(of: Data("mdat".utf8)), let movie = file.firstRange(of: Data("moov".utf8))
        else { return file }
        file.resetBytes(in: media.upperBound..<movie.lowerBound - 4)
        return file
    }
}
