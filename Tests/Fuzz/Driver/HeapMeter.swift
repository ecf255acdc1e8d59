import CFuzzer
import FuzzEntries

/// Counts what an input allocates.
enum HeapMeter {
    /// Runs the entry.
    /// - Returns: nil in a build without AddressSanitizer.
    static func cost(of bytes: [UInt8], in entry: FuzzEntry) throws -> FuzzCost? {
        let isCounted = CFuzzerBeginHeap() != 0
        let outcome = Result { try entry.run(bytes) }
        let heap = CFuzzerEndHeap()
        try outcome.get()
        return isCounted
            ? FuzzCost(heldBytes: Int(heap.peakBytes), allocations: Int(heap.allocations)) : nil
    }
}
