import Testing

/// Some minutes with one fault close behind the other; `Tests/Soak/run` plays days.
@Suite struct SoakTests {
    @Test func nothingIsWrongWithAChannelInTrouble() async throws {
        let outcome = try await SoakRun(seed: 2, seconds: 270, calm: 5...20, interval: 120).play()
        #expect(outcome.findings == [])
        #expect(outcome.judge.segments > 40 && outcome.judge.pictures > 4000 && outcome.script.faults.count > 8)
        #expect(outcome.gauges.count == 2)
    }
}
