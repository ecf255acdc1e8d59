import FleetHarness
import Testing

@testable import Fleet

/// One at a time, because each needs a core for seconds.
@Suite("Simulated fleets", .serialized) struct FleetSimulationTests {
    @Test("Fleets with faults keep what is promised", arguments: 1...6)
    func seeds(seed: Int) {
        var simulation = FleetSimulation(seed: UInt64(seed), seconds: 400)
        let outcome = simulation.run()
        #expect(outcome.findings == [], "seed \(seed)")
        #expect(outcome.segments > 100)
    }

    /// Seeds of fleets that failed before.
    @Test("Fleets that failed once", arguments: [41, 154, 185, 292, 1149, 1626, 1822, 2074])
    func earlierFailures(seed: Int) {
        var simulation = FleetSimulation(seed: UInt64(seed))
        #expect(simulation.run().findings == [], "seed \(seed)")
    }

    @Test("The simulation finds planted faults", arguments: PlantedFault.allCases)
    func plantedFaults(fault: PlantedFault) {
        let isFound = (1...20).contains { seed in
            var simulation = FleetSimulation(seed: UInt64(seed), fault: fault)
            return !simulation.run().findings.isEmpty
        }
        #expect(isFound, "\(fault)")
    }
}
