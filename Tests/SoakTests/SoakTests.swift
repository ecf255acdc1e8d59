import TestSupport
import Testing

@testable import SoakHarness

/// Runs some minutes with frequent faults. `Tests/Soak/run` runs days.
@Suite struct SoakTests {
    @Test func channelWithFaultsHasNoFindings() async throws {
        let outcome = try await SoakRun(seed: 2, seconds: 270, faultInterval: 5...20, sampleInterval: 120).run()
        #expect(outcome.findings == [])
        #expect(outcome.checker.segments > 40 && outcome.checker.frames > 4000 && outcome.script.faults.count > 8)
        #expect(outcome.samples.count == 2)
    }

    @Test(arguments: ["84d", "305d", "730d", "50y"]) func channelThatHasRunForLongHasNoFindings(_ start: String)
        async throws
    {
        let seconds = try #require(SoakCommand.seconds(start))
        // The end of 2026 and the end of the leap day of 2028 are in the middle of the second and the third.
        let begins = seconds + 86_400 - 60
        let outcome = try await SoakRun(
            seed: 5, start: begins, seconds: 120, faultInterval: 10...30, sampleInterval: 120
        ).run()
        #expect(outcome.findings == [] && outcome.checker.segments > 15)
    }

    @Test(arguments: [
        ("26h", 93_600), ("84d", 7_257_600), ("50y", 1_576_800_000), ("101y", nil), ("5", nil), ("d", nil),
    ])
    func startIsAPosition(_ text: String, _ seconds: Int?) { #expect(SoakCommand.seconds(text) == seconds) }

    @Test func channelsThatLoopAFileDoNotGrow() async throws {
        let file = try CaptureFixture("mp4_file").bytes("body/000002.mp4")
        var run = LoopRun(file: file, channels: 2, seconds: 510)
        (run.rewind, run.sampleInterval, run.settled, run.ownsProcess) = (.seconds(60), 100, 300, false)
        let samples = try await run.run()
        #expect(samples.count == 5 && samples.allSatisfy { $0.files > 30 && $0.allocated > 100_000 })
        #expect(samples.last?.elements ?? 0 > 100)
        #expect(run.findings(samples) == [])
    }

    @Test func growthIsFound() {
        let run = LoopRun(file: [], seconds: 2, settled: 1)
        let first = LoopRun.Sample(seconds: 1, anonymous: 0, allocated: 0, files: 10, bytes: 0, collections: ["a": 10])
        var last = first
        (last.seconds, last.allocated, last.files) = (2, LoopRun.tolerance + 1, 12)
        last.collections["a"] = 6 * LoopRun.largestCollection + 1
        #expect(run.findings([first, last]).count == 3)
    }

    @Test func channelThatExceedsLimitsHasNoFindings() async throws {
        var run = SoakRun(seed: 4, seconds: 270, faultInterval: 30...60, sampleInterval: 120)
        run.exceedsLimits = true
        let outcome = try await run.run()
        #expect(outcome.findings == [])
        #expect(
            outcome.limitsExceeded == ["dateRanges", "lineBytes", "linesPerSegment", "variables"])
        #expect(outcome.checker.segments > 40)
    }
}
