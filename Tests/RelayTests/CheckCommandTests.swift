import ArgumentParser
import Conformance
import Fetch
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

    // MARK: - Playlists

    private static func check(
        _ capture: String, _ arguments: [String] = []
    ) async throws -> (text: String, error: RelayError?) {
        let command = try CheckCommand.parse(arguments + [CaptureFixture(capture).directory.path])
        let input = try await CheckInput.find(command.input ?? "", maxBytes: 1 << 20, .init())
        guard case .channel(let channel) = input else { return ("", nil) }
        var text = ""
        do {
            try await command.channelCheck(.init()).run(channel, against: nil, write: { text += $0 })
            return (text, nil)
        } catch let error as RelayError { return (text, error) }
    }

    @Test func captureIsJudgedInWords() async throws {
        let (text, error) = try await Self.check("ssai_untagged")
        #expect(error?.exit == .faultsFound)
        #expect(text.hasPrefix("26 untagged-splice, MUST: without a tag changes the PID of the video from 256 to 48\n"))
        #expect(text.contains("\n1 finding: 1 MUST\njudged: 1 playlist, 29 versions, 34 segments, "))
        #expect(text.contains("not judged: 20 32 33 34 35 36 37 (there is no multivariant playlist)"))
    }

    @Test func cleanCaptureEndsWithSuccess() async throws {
        let (text, error) = try await Self.check("clean")
        #expect(error == nil && text.hasPrefix("0 findings\n"))
    }

    @Test func rulesAreLeftOut() async throws {
        for words in ["26", "untagged-splice", "1,26"] {
            let (text, error) = try await Self.check("ssai_untagged", ["--except", words])
            #expect(error == nil && text.hasPrefix("0 findings\n"))
        }
    }

    @Test func levelDecidesTheStatus() async throws {
        let (text, error) = try await Self.check("long_list")
        #expect(error == nil && text.contains("38 mime-types, note: "))
        let (_, strict) = try await Self.check("long_list", ["--fail-on", "note"])
        #expect(strict?.exit == .faultsFound)
    }

    @Test func jsonHasAnObjectForEachFinding() async throws {
        let (text, _) = try await Self.check("ssai_untagged", ["--format", "json"])
        let lines = try text.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.count == 2 && lines[0]["rule"] as? Int == 26 && lines[0]["count"] as? Int == 4)
        #expect((lines[0]["places"] as? [Any])?.count == 4 && lines[1]["findings"] as? Int == 1)
    }

    @Test func junitHasACaseForEachRule() async throws {
        let (text, _) = try await Self.check("ssai_untagged", ["--format", "junit"])
        #expect(text.contains("<testsuite name=\"http://channel.example/main.m3u8\" tests=\"42\" failures=\"1\""))
        #expect(text.split(separator: "<testcase ").count == 43 && text.split(separator: "<failure ").count == 2)
    }

    @Test func sarifNamesTheRules() async throws {
        let (text, _) = try await Self.check("ssai_untagged", ["--format", "sarif"])
        let document = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let run = try #require((document["runs"] as? [[String: Any]])?.first)
        let driver = (run["tool"] as? [String: [String: Any]])?["driver"]
        #expect((driver?["rules"] as? [Any])?.count == 42)
        let result = try #require((run["results"] as? [[String: Any]])?.first)
        #expect(result["ruleId"] as? String == "26" && result["level"] as? String == "error")
    }

    @Test func playlistInAFileIsJudged() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID().uuidString).m3u8")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.5,\nmissing.ts\n#EXT-X-ENDLIST\n".utf8).write(to: file)
        let command = try CheckCommand.parse([file.path])
        let input = try await CheckInput.find(file.path, maxBytes: 1 << 20, .init())
        guard case .channel(let channel) = input else {
            Issue.record("a playlist is a channel")
            return
        }
        var text = ""
        let error = await #expect(throws: RelayError.self) {
            try await command.channelCheck(.init()).run(channel, against: nil, write: { text += $0 })
        }
        #expect(error?.exit == .faultsFound)
        #expect(text.contains("3 version, MUST"))
        #expect(text.contains("14 removed-segments, MUST: a listed segment does not exist\n"))
    }

    @Test func playlistThatDoesNotExistIsNamed() async throws {
        let command = try CheckCommand.parse(["file:///no/such.m3u8"])
        let error = await #expect(throws: RelayError.self) {
            try await command.channelCheck(.init()).run(
                .playlist("file:///no/such.m3u8"), against: nil, write: { _ in })
        }
        #expect(error?.exit == .unreadableInput && error?.message.contains("does not exist") == true)
    }

    private static let pages: [(answer: String, exit: Support.ExitStatus)] = [
        ("/missing.m3u8?token=secret", .upstreamUnavailable)
    ]

    @Test(arguments: pages.indices) func channelThatCannotBeJudged(_ index: Int) async throws {
        let row = Self.pages[index]
        let origin = try await HTTPOrigin()
        let url = "http://127.0.0.1:\(origin.server.port)\(row.answer)"
        let command = try CheckCommand.parse([url, "--for", "1s"])
        let error = await #expect(throws: RelayError.self) {
            try await command.channelCheck(.init()).run(.playlist(url), against: nil, write: { _ in })
        }
        #expect(error?.exit == row.exit && error?.line.contains("secret") == false)
        await origin.server.shutdown(within: .seconds(1))
    }

    @Test(arguments: [
        ["x.m3u8", "--except", "43"], ["x.m3u8", "--fail-on", "all"], ["x.m3u8", "--max-connections", "0"],
        ["x.m3u8", "--against", "file.m3u8"],
    ])
    func optionsOfPlaylistsThatMakeNoSenseAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try CheckCommand.parse(arguments) }
    }

    @Test(arguments: [["x.ts", "--max-faults", "-1"], ["x.ts", "--max-delay", "0"], ["x.ts", "--format", "xml"], []])
    func optionsThatMakeNoSenseAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try CheckCommand.parse(arguments) }
    }
}
