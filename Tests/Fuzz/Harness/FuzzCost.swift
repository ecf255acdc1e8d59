/// What one input of an entry cost.
package struct FuzzCost: Equatable, Sendable {
    /// The most bytes that were allocated at once.
    package let heldBytes: Int
    /// Allocations, which stand for steps: whatever walks the input again allocates again.
    package let allocations: Int

    package init(heldBytes: Int, allocations: Int) {
        self.heldBytes = heldBytes
        self.allocations = allocations
    }
}

/// A bound that grows with the size of the input, and no faster.
package struct FuzzBound: Equatable, Sendable {
    /// For any input: tables, buffers of a fixed size.
    let base: Int
    let perByte: Int

    package func limit(of byteCount: Int) -> Int { base + perByte * byteCount }
}

extension FuzzEntry {
    /// Throws a finding if the input cost more than an input of its size may.
    package func check(_ cost: FuzzCost, of byteCount: Int) throws {
        try demand(
            cost.heldBytes <= heldBytes.limit(of: byteCount), "\(byteCount) bytes of input held \(cost.heldBytes)")
        try demand(
            cost.allocations <= allocations.limit(of: byteCount),
            "\(byteCount) bytes of input took \(cost.allocations) allocations")
    }
}
