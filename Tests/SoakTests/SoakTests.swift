import Testing

/// A quarter of an hour of every kind of trouble; `Tests/Soak/run` plays days of it.
@Suite struct SoakTests {
    @Test(arguments: [UInt64(1), 2])
    func nothingIsWrongWithAChannelInTrouble(seed: UInt64) async throws {
        let outcome = try await SoakRun(seed: seed, seconds: 900, interval: 300).play()
        #expect(outcome.findings == [], "seed \(seed)")
        #expect(outcome.judge.segments > 150 && outcome.script.faults.count > 5)
        #expect(outcome.gauges.count == 3)
    }
}
