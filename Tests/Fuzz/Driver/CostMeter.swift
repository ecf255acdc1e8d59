import CFuzzer
import FuzzEntries

/// Counts what an input costs.
enum CostMeter {
    /// Runs the entry.
    /// - Returns: nil in a build without AddressSanitizer.
    static func cost(of bytes: [UInt8], in entry: FuzzEntry) throws -> FuzzCost? {
        let isCounted = CFuzzerBeginCount() != 0
        let outcome = Result { try entry.run(bytes) }
        let count = CFuzzerEndCount()
        try outcome.get()
        guard isCounted else { return nil }
        var cost = FuzzCost()
        cost.heldBytes = Int(count.peakBytes)
        cost.allocations = Int(count.allocations)
        cost.copiedBytes = Int(count.copiedBytes)
        cost.steps = Int(count.comparisons)
        return cost
    }
}
