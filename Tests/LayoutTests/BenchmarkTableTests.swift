import Foundation
import TestSupport
import Testing

/// `Benchmarks/table --from FILE --check` judges the figures of an earlier run, so that no benchmark has to run.
@Suite("What Benchmarks/table judges") struct BenchmarkTableTests {
    private static let python = "/usr/bin/python3"

    private static let rows: [(when: String, rounds: String, beyond: String?)] = [
        (
            "the median of three rounds is within the aim",
            #"{"stream": [\#(stream(0.7, 1)), \#(stream(9, 1)), \#(stream(0.5, 1))]}"#, nil
        ),
        (
            "the median of three rounds is beyond the aim",
            #"{"stream": [\#(stream(0.8, 1)), \#(stream(9, 1)), \#(stream(0.5, 1))]}"#, "stream: cpu"
        ),
        ("a run failed", #"{"stream": [\#(stream(0.1, 1, status: 256))]}"#, "stream: status of liverelay"),
        (
            "a figure has an aim of its own",
            #"{"many": [{"liverelay": {"cpu": 19, "p50": 0.2, "p99": 0.29}}]}"#, "many: p50"
        ),
        ("a row has no aim", #"{"each": [{"liverelay": {"cpu": 99}}]}"#, nil),
    ]

    private static func stream(_ ours: Double, _ theirs: Double, status: Int = 0) -> String {
        #"{"liverelay": {"cpu": \#(ours), "status": \#(status)}, "ffmpeg": {"cpu": \#(theirs), "status": 0}}"#
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python)), arguments: rows)
    func check(when: String, rounds: String, beyond: String?) throws {
        let figures = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: figures) }
        try Data(#"{"rounds": \#(rounds)}"#.utf8).write(to: figures)
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        let table = PackageRoot.url.appending(path: "Benchmarks/table")
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [table.path, "--from", figures.path, "--check"]
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.contains("| work | figure | liverelay | aim |"), "\(when)")
        #expect(process.terminationStatus == (beyond == nil ? 0 : 1), "\(when): \(message)")
        #expect(message == (beyond.map { "beyond the aim: \($0)\n" } ?? ""), "\(when)")
    }
}
