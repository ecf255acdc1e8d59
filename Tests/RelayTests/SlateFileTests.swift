import Foundation
import Media
import Mux
import Splice
import TestSupport
import Testing

@testable import liverelay

/// A slate from a file to segments on the channel's timeline.
@Suite struct SlateFileTests {
    /// Two groups of a second each.
    private static let file = Result { try make(size: "160x90") }
    /// What takes its place.
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
        // What is written to it in the same tick of the file system's clock is seen all the same.
        try Self.date(file, Date(timeIntervalSince1970: 1_000_000))
        return try use(path)
    }

    private func slate(_ path: String) throws -> Slate {
        try Slate(SlateSource(path), longestSegment: .seconds(1), sound: AudioSettings())
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
            #expect(slate.segments == 6 && slate.counts?.timestampsSanitized == 0)
        }
    }

    /// What happened to the file, in front of which calls, and what the calls gave: `o` a segment of the old slate, `n` of
    /// the new one, `|` before what lies behind a discontinuity, `-` for an error.
    private struct Change: Sendable {
        let when: String
        let steps: [Int: @Sendable (URL) throws -> Void]
        let gives: String
    }

    private static let rows: [Change] = [
        Change(when: "nothing", steps: [:], gives: "oo|oo|oo"),
        Change(when: "renamed over", steps: [1: { try replace($0, with: other.get()) }], gives: "o|nn|nn|n"),
        Change(
            when: "the same, in the middle of a round", steps: [2: { try replace($0, with: other.get()) }],
            gives: "oo|nn|nn"),
        Change(when: "written over", steps: [1: { try other.get().write(to: $0) }], gives: "o|nn|nn|n"),
        Change(
            when: "written over by as many bytes that are none",
            steps: [2: { try Data(repeating: 0x5A, count: file.get().count).write(to: $0) }], gives: "oo----"),
        Change(
            when: "half-written, then whole",
            steps: [1: { try half(other.get()).write(to: $0) }, 3: { try other.get().write(to: $0) }], gives: "o--|nn|n"
        ),
        Change(
            when: "cut short, then what it was",
            steps: [2: { try half(file.get()).write(to: $0) }, 3: { try file.get().write(to: $0) }],
            gives: "oo-|oo|o"),
        Change(
            when: "another came and went",
            steps: [2: { try replace($0, with: other.get()) }, 4: { try replace($0, with: file.get()) }],
            gives: "oo|nn|oo"),
        Change(
            when: "put aside for what is no slate, and put back",
            steps: [
                1: {
                    try FileManager.default.moveItem(at: $0, to: $0.appendingPathExtension("aside"))
                    try Data("none".utf8).write(to: $0)
                },
                2: { #expect(unsafe rename($0.path + ".aside", $0.path) == 0) },
            ], gives: "o-|oo|oo"),
        Change(when: "its name is gone", steps: [1: { try FileManager.default.removeItem(at: $0) }], gives: "oo|oo|oo"),
        Change(
            when: "its name is another file's later",
            steps: [1: { try FileManager.default.removeItem(at: $0) }, 3: { try other.get().write(to: $0) }],
            gives: "oo|o|nn|n"),
        Change(
            when: "a directory is there",
            steps: [
                1: {
                    try FileManager.default.removeItem(at: $0)
                    try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
                }
            ], gives: "o-----"),
        Change(
            when: "a link that leads elsewhere",
            steps: [
                1: {
                    try other.get().write(to: $0.appendingPathExtension("aside"))
                    try FileManager.default.removeItem(at: $0)
                    try FileManager.default.createSymbolicLink(
                        at: $0, withDestinationURL: $0.appendingPathExtension("aside"))
                }
            ], gives: "o|nn|nn|n"),
        Change(
            when: "touched", steps: [3: { try date($0, Date(timeIntervalSince1970: 2_000_000)) }], gives: "oo|o|oo|o"),
    ]

    @Test(
        "a file that changed is noticed before a piece of it is given, and shown from its beginning",
        arguments: rows.indices)
    func changes(_ index: Int) throws {
        let row = Self.rows[index]
        try withFile(Self.file.get()) { path in
            var slate = try slate(path)
            var position = TimelinePosition.beginning
            var given = ""
            for call in 0..<6 {
                try row.steps[call]?(URL(filePath: path))
                do {
                    let segment = try slate.next(at: position, date: 0)
                    let end = segment.position.presentationEnd - segment.duration
                    #expect(end == position.presentationEnd, "\(row.when)")
                    given +=
                        (segment.isDiscontinuous ? "|" : "") + (segment.description.video?.width == 160 ? "o" : "n")
                    position = segment.position
                } catch let error as RelayError {
                    #expect(error.exit == .badSlate, "\(row.when)")
                    given += "-"
                    position = position.advanced(by: .seconds(1))
                }
            }
            #expect(given == row.gives, "\(row.when)")
        }
    }

    @Test("bytes of a file that was written over while it was read are of neither")
    func whileRead() throws {
        try withFile(Self.file.get()) { path in
            let file = try SlateFile(path)
            #expect(try file.read([4..<8]) == Array("ftyp".utf8) && !file.hasChanged)
            try Self.file.get().write(to: URL(filePath: path))
            #expect(throws: RelayError(slate: path, .changed)) { try file.read([4..<8]) }
            #expect(file.hasChanged)
        }
    }

    /// As `mv` does it.
    private static func replace(_ file: URL, with data: Data) throws {
        let new = file.appendingPathExtension("new")
        try data.write(to: new)
        #expect(unsafe rename(new.path, file.path) == 0)
    }

    private static func half(_ data: Data) -> Data { data.prefix(data.count / 2) }

    private static func date(_ file: URL, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
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
