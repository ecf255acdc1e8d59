/// A cache of the most recently used values: at least `limit` of them, and at most twice as many.
struct RecentCache<Value: Sendable>: Sendable {
    let limit: Int
    private var young: [UInt64: Value] = [:]
    private var old: [UInt64: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// The value for a key; reading and writing both count as use.
    subscript(key: UInt64) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old[key] else { return nil }
            self[key] = value
            return value
        }
        set {
            if young.count >= limit, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = newValue
        }
    }
}

extension Sequence<UInt8> {
    /// The 64-bit FNV-1a hash; collisions are possible, so compare the bytes where it matters.
    var checksum: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension String {
    var checksum: UInt64 { utf8.checksum }
}
