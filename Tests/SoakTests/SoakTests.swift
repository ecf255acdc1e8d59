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

    @Test func channelThatExceedsLimitsHasNoFindings() async throws {
        var run = SoakRun(seed: 4, seconds: 270, faultInterval: 30...60, sampleInterval: 120)
        run.exceedsLimits = true
        let outcome = try await run.run()
        #expect(outcome.findings == [])
        #expect(
            outcome.limitsExceeded == ["dateRanges", "lineBytes", "linesPerSegment", "trailingLines", "variables"])
        #expect(outcome.checker.segments > 40)
    }
}
