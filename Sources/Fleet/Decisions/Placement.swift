/// Spreads channels over nodes by the bit rate that each has left.
///
/// All nodes compute the same placement from the same records.
enum Placement {
    struct Candidate: Equatable {
        let node: String
        /// kbit/s that the node has left.
        var room: Int
    }

    /// The nodes in the order in which they should take each of `channels`.
    /// - Parameter channels: the slug and the bit rate of channels without an owner.
    static func ranking(
        of channels: [(slug: String, rate: Int)], on candidates: [Candidate]
    ) -> [String: [String]] {
        var candidates = candidates.sorted { $0.node < $1.node }
        var ranking: [String: [String]] = [:]
        for (slug, rate) in channels.sorted(by: { $0.slug < $1.slug }) {
            guard let most = candidates.map(\.room).max() else { return [:] }
            let scored = candidates.indices.map { index in
                (index, isEqual: candidates[index].room > most - max(1, rate), score(slug, candidates[index].node))
            }
            let order = scored.sorted { left, right in
                if left.isEqual != right.isEqual { return left.isEqual }
                if !left.isEqual, candidates[left.0].room != candidates[right.0].room {
                    return candidates[left.0].room > candidates[right.0].room
                }
                return left.2 > right.2
            }
            ranking[slug] = order.map { candidates[$0.0].node }
            if let first = order.first { candidates[first.0].room -= rate }
        }
        return ranking
    }

    /// The weight of a node for a channel (rendezvous hashing), by FNV-1a with a final mix.
    private static func score(_ slug: String, _ node: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(slug) \(node)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return hash ^ (hash >> 33)
    }
}
