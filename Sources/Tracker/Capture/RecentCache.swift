/// A table that forgets: of the values used lately at least `limit` are in it, and never more than twice as many.
struct RecentCache<Value: Sendable>: Sendable {
    let limit: Int
    private var young: [UInt64: Value] = [:]
    private var old: [UInt64: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// Reading and writing count as use.
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
    /// FNV-1a, 64 bits; a hint only, equal bytes are compared.
    var checksum: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension String {
    var checksum: UInt64 { utf8.checksum }
}
