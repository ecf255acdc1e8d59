/// What one input of an entry cost.
package struct FuzzCost: Equatable, Sendable {
    /// The most bytes that were allocated at once.
    package var heldBytes = 0
    package var allocations = 0
    /// Bytes that were allocated, and bytes that our own code moved, 1 KiB or more at once.
    package var copiedBytes = 0
    /// Comparisons that our own code made, so that every turn of a loop counts.
    package var steps = 0

    package init() {}
}

/// A bound that grows with the size of the input, and no faster.
package struct FuzzBound: Equatable, Sendable {
    /// For any input: tables, buffers of a fixed size.
    let base: Int
    let perByte: Int

    package func limit(of byteCount: Int) -> Int { base + perByte * byteCount }
}

/// The bounds of what an input may cost. Every entry has all of them.
package struct FuzzBounds: Equatable, Sendable {
    var heldBytes = FuzzBound(base: 1 << 20, perByte: 64)
    var allocations = FuzzBound(base: 20_000, perByte: 16)
    var copiedBytes = FuzzBound(base: 4 << 20, perByte: 1024)
    var steps = FuzzBound(base: 1_000_000, perByte: 400)
}

extension FuzzEntry {
    /// Throws a finding if the input cost more than an input of its size may.
    package func check(_ cost: FuzzCost, of byteCount: Int) throws {
        let rows = [
            ("bytes held at once", cost.heldBytes, bounds.heldBytes),
            ("allocations", cost.allocations, bounds.allocations),
            ("bytes copied", cost.copiedBytes, bounds.copiedBytes), ("steps", cost.steps, bounds.steps),
        ]
        for (what, value, bound) in rows {
            let limit = bound.limit(of: byteCount)
            try demand(value <= limit, "\(byteCount) bytes of input cost \(value) \(what), more than \(limit)")
        }
    }
}
