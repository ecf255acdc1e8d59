import CFuzzer
import Foundation
import FuzzEntries

/// Runs libFuzzer with the entry named by the environment variable `LIVERELAY_FUZZ`.
enum LibFuzzer {
    static let entry = entryOfEnvironment()

    private static func entryOfEnvironment() -> FuzzEntry {
        let name = ProcessInfo.processInfo.environment["LIVERELAY_FUZZ"] ?? ""
        guard let entry = FuzzEntry.named(name) else { fail("LIVERELAY_FUZZ is not the name of an entry: \(name)") }
        return entry
    }

    /// - Returns: an exit status.
    static func run() -> Int32 {
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        let status = unsafe CFuzzerRun(&count, &values) { bytes, count in
            LibFuzzer.runInput(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
        if status == CFuzzerNotLinked { fail("built without libFuzzer: use Tests/Fuzz/run, or --replay") }
        return status
    }

    /// Runs the entry. A violated invariant ends the process like a trap.
    private static func runInput(_ bytes: [UInt8]) {
        do {
            if let cost = try CostMeter.cost(of: bytes, in: entry) { try entry.check(cost, of: bytes.count) }
        } catch { fatalError("\(entry.name): \(error)") }
    }
}
