/// How often two things occur in one history.
struct ThingPairs {
    struct Pair: Hashable {
        let one: Thing
        let other: Thing

        init(_ one: Thing, _ other: Thing) {
            (self.one, self.other) = one.rawValue <= other.rawValue ? (one, other) : (other, one)
        }
    }

    private(set) var counts: [Pair: Int] = [:]
    let histories: Int

    init(seeds: ClosedRange<UInt64>) {
        histories = seeds.count
        for seed in seeds {
            let things = Array(Set(History(seed: seed).events.map(\.thing)))
            for (index, one) in things.enumerated() {
                for other in things[(index + 1)...] { counts[Pair(one, other), default: 0] += 1 }
            }
        }
    }

    /// Every pair that can occur, the rarest first.
    private var possible: [(pair: Pair, count: Int)] {
        var pairs: [(pair: Pair, count: Int)] = []
        for (index, one) in Thing.allCases.enumerated() {
            for other in Thing.allCases[(index + 1)...] where Thing.conflict(one, other) == nil {
                let pair = Pair(one, other)
                pairs.append((pair, counts[pair] ?? 0))
            }
        }
        return pairs.sorted {
            ($0.count, $0.pair.one.rawValue, $0.pair.other.rawValue) < (
                $1.count, $1.pair.one.rawValue, $1.pair.other.rawValue
            )
        }
    }

    var rarest: (pair: Pair, count: Int)? { possible.first }

    var text: String {
        let pairs = possible
        let counts = pairs.map(\.count)
        var lines = [
            "\(Thing.allCases.count) things, \(pairs.count) pairs that can occur, in \(histories) histories: "
                + "at least \(counts.first ?? 0), at most \(counts.last ?? 0), in the middle \(counts[counts.count / 2])"
        ]
        lines += pairs.prefix(10).map { "\($0.count)  \($0.pair.one.rawValue) and \($0.pair.other.rawValue)" }
        for (index, one) in Thing.allCases.enumerated() {
            for other in Thing.allCases[(index + 1)...] {
                if let reason = Thing.conflict(one, other) {
                    lines.append("never: \(one.rawValue) and \(other.rawValue), because \(reason)")
                }
            }
        }
        return lines.joined(separator: "\n")
    }
}
