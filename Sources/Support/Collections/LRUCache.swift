/// Values whose costs have a limit: the least recently used ones leave first. A few stay, whatever they cost.
package struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Kept {
        let value: Value
        let cost: Int
        var lastUse: UInt64
    }

    private let limit: Int
    private let leastCount: Int
    private var kept: [Key: Kept] = [:]
    private var uses: UInt64 = 0
    /// The costs of all values together.
    package private(set) var cost = 0

    /// - Parameter leastCount: the number of values that stay, whatever they cost.
    package init(limit: Int, leastCount: Int = 1) { (self.limit, self.leastCount) = (limit, leastCount) }

    /// Returns a value, and records its use.
    package mutating func value(_ key: Key) -> Value? {
        uses += 1
        kept[key]?.lastUse = uses
        return kept[key]?.value
    }

    /// Adds a value, or replaces it.
    /// - Returns: the values that left.
    @discardableResult
    package mutating func insert(_ value: Value, as key: Key, cost: Int) -> [Value] {
        uses += 1
        self.cost += cost - (kept[key]?.cost ?? 0)
        kept[key] = Kept(value: value, cost: cost, lastUse: uses)
        var gone: [Value] = []
        while self.cost > limit, kept.count > leastCount,
            let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            kept[oldest.key] = nil
            self.cost -= oldest.value.cost
            gone.append(oldest.value.value)
        }
        return gone
    }
}
