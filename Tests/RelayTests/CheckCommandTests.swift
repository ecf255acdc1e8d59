import ArgumentParser
import Conformance
import Foundation
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import Support
@testable import WebServer
@testable import liverelay

/// `liverelay check` on files and over HTTP. What it judges is tested in ConformanceTests.
@Suite(.ownThreads) struct CheckCommandTests {
    private static func judge(
        _ arguments: [String], _ bytes: [UInt8]
    ) async throws -> (lines: [Substring], report: TransportReport) {
        let file = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID().uuidString).ts")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        var text = ""
        let report = try await CheckCommand.parse(arguments + [file.path]).judge(write: { text += $0 })
        return (text.split(separator: "\n"), report)
    }

    /// Two tables and four packets of video, of which the third is lost.
    private static var stream: [UInt8] {
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: 0x1B)])
        builder.pes(pid: 0x100, pts: 90_000, [UInt8](repeating: 1, count: 300))
        builder.skip(1, pid: 0x100)
        builder.pes(pid: 0x100, pts: 93_600, [UInt8](repeating: 2, count: 100))
        return builder.bytes
    }

    @Test func textHasALineForEachFaultAndTheCounts() async throws {
        let (lines, report) = try await Self.judge([], Self.stream)
        #expect(report.counts == [.continuity: 1, .clockRepetition: 1])
        #expect(
            lines == [
                "packet 4, pid 0x0100: 1.4 Continuity_count_error: counter 3 instead of 2",
                "packet 5, no pid: 2.3a PCR_repetition_error: the PMT names no PID for the PCR of program 1",
                "5 packets, 1 program, no PCR",
                "2 faults", "  1.4 Continuity_count_error: 1", "  2.3a PCR_repetition_error: 1",
            ])
    }

    @Test func jsonHasAnObjectPerLine() async throws {
        let (lines, _) = try await Self.judge(["--format", "json"], Self.stream)
        #expect(
            lines.first == """
                {"indicator":"1.4","message":"counter 3 instead of 2","name":"Continuity_count_error","offset":752,"packet":4,\
                "pid":256,"priority":1}
                """)
        #expect(
            lines.last == """
                {"bytes":940,"counts":{"1.4":1,"2.3a":1},"faults":2,"milliseconds":0,"packets":5,"programs":1,"unjudged":0}
                """)
    }

    @Test func printedFaultsAreLimited() async throws {
        let (lines, report) = try await Self.judge(["--max-faults", "0"], Self.stream)
        #expect(lines.first?.hasPrefix("5 packets") == true && report.faults == 2)
    }

    @Test(arguments: ["#EXTM3U\n#EXT-X-TARGETDURATION:6\n", "\u{FEFF}#EXTM3U\r\n"])
    func playlistIsRefusedInWords(_ text: String) async throws {
        let error = await #expect(throws: RelayError.self) { try await Self.judge([], Array(text.utf8)) }
        #expect(error?.exit == .unreadableInput && error?.line.contains("is an HLS playlist") == true)
    }

    @Test func missingFileIsAnError() async throws {
        let error = await #expect(throws: RelayError.self) {
            try await CheckCommand.parse(["no-such-file.ts"]).judge(write: { _ in })
        }
        #expect(
            error?.exit == .unreadableInput
                && error?.message == "no-such-file.ts cannot be read: No such file or directory")
    }

    @Test func answerOverHTTPIsJudged() async throws {
        let origin = try await HTTPOrigin()
        let command = try CheckCommand.parse(["http://127.0.0.1:\(origin.server.port)/seg-1.m4s"])
        let report = try await command.judge(write: { _ in })
        #expect(report.counts == [.syncLoss: 1] && report.bytes == HTTPOrigin.segment.count)
        await origin.server.shutdown(within: .seconds(1))
    }

    private static let answers: [(path: String, arguments: [String], exit: Support.ExitStatus, words: String)] = [
        ("/missing.ts?token=secret", [], .upstreamUnavailable, "answers with status 404"),
        ("/large.mp4", ["--max-bytes", "1MiB"], .unreadableInput, "has no end within 1048576 bytes"),
    ]

    @Test(arguments: answers.indices) func answerCannotBeJudged(_ index: Int) async throws {
        let row = Self.answers[index]
        let origin = try await HTTPOrigin()
        let command = try CheckCommand.parse(row.arguments + ["http://127.0.0.1:\(origin.server.port)\(row.path)"])
        let error = await #expect(throws: RelayError.self) { try await command.judge(write: { _ in }) }
        #expect(error?.exit == row.exit && error?.message.contains(row.words) == true)
        #expect(error?.line.contains("secret") == false)
        await origin.server.shutdown(within: .seconds(1))
    }

    @Test(arguments: [["x.ts", "--max-faults", "-1"], ["x.ts", "--max-delay", "0"], ["x.ts", "--format", "xml"], []])
    func optionsThatMakeNoSenseAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try CheckCommand.parse(arguments) }
    }
}
