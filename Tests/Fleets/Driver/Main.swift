import FleetHarness
import Foundation

/// fleets COUNT [FROM] | --trace SEED | --planted COUNT: simulates fleets by seed, and prints what is wrong with the first ones that fail.
@main struct Main {
    static func main() async {
        let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        if CommandLine.arguments.contains("--planted") {
            for fault in PlantedFault.allCases {
                let found = (1...(numbers.first ?? 20)).first { seed in
                    var simulation = FleetSimulation(seed: seed, fault: fault)
                    let outcome = simulation.run()
                    if let text = outcome.findings.first { print("\(fault) seed \(seed): \(text)") }
                    return !outcome.findings.isEmpty
                }
                if found == nil { print("\(fault): NOT FOUND") }
            }
            return
        }
        if CommandLine.arguments.contains("--trace"), let seed = numbers.first {
            var simulation = FleetSimulation(seed: seed)
            simulation.isTraced = true
            print(simulation.run())
            return
        }
        guard let count = numbers.first else {
            print("usage: fleets COUNT [FROM] | --trace SEED | --planted COUNT")
            return
        }
        let first = numbers.dropFirst().first ?? 1
        let jobs = UInt64(ProcessInfo.processInfo.activeProcessorCount)
        var (failed, silence, segments, epochs, lost) = (0, Duration.zero, 0, 0, 0)
        await withTaskGroup(of: [(UInt64, FleetSimulation.Outcome)].self) { group in
            for job in 0..<jobs {
                group.addTask {
                    stride(from: first + job, to: first + count, by: Int(jobs)).map { seed in
                        var simulation = FleetSimulation(seed: seed)
                        return (seed, simulation.run())
                    }
                }
            }
            for await outcomes in group {
                for (seed, outcome) in outcomes {
                    silence = max(silence, outcome.longestSilence)
                    segments += outcome.segments
                    epochs += outcome.epochs
                    lost += outcome.lostSegments
                    guard !outcome.findings.isEmpty else { continue }
                    failed += 1
                    if failed <= 20 { print("seed \(seed): \(outcome.findings[0])") }
                }
            }
        }
        print(
            "\(count) fleets, \(failed) failed; \(segments) segments, \(epochs) epochs, \(lost) lost, silence \(silence)"
        )
    }
}
