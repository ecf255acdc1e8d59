import Synchronization
import TestSupport
import Testing

@testable import Support

/// A number that counts how often it is compared.
private struct CountedNumber: Comparable, Sendable {
    final class Counter: Sendable { let count = Mutex(0) }

    let number: Int
    let counter: Counter

    static func < (left: Self, right: Self) -> Bool {
        left.counter.count.withLock { $0 += 1 }
        return left.number < right.number
    }

    static func == (left: Self, right: Self) -> Bool {
        left.counter.count.withLock { $0 += 1 }
        return left.number == right.number
    }
}

@Suite struct SortedSetTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func holdsWhatASortedArrayHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = SortedSet<Int>()
        var known: Set<Int> = []
        for _ in 0..<2000 {
            let number = Int.random(in: 0..<600, using: &random)
            if Int.random(in: 0..<5, using: &random) < 3 {
                set.insert(number)
                known.insert(number)
            } else {
                set.remove(number)
                known.remove(number)
            }
            #expect(set.first == known.min() && set.last == known.max())
        }
        #expect(set.prefix { _ in true } == known.sorted())
        #expect(set.prefix { $0 < 300 } == known.sorted().filter { $0 < 300 })
    }

    @Test("A value more costs a logarithm of comparisons") func comparisons() {
        let counts = [4096, 8192, 16_384].map { count in
            let counter = CountedNumber.Counter()
            var set = SortedSet<CountedNumber>()
            for number in 0..<count { set.insert(CountedNumber(number: number * 7919 % count, counter: counter)) }
            counter.count.withLock { $0 = 0 }
            for number in 0..<64 {
                set.remove(CountedNumber(number: number * 61, counter: counter))
                set.insert(CountedNumber(number: number * 61, counter: counter))
            }
            return counter.count.withLock { $0 } / 64
        }
        #expect(counts.allSatisfy { $0 <= 48 } && counts[2] <= counts[0] + 12, "\(counts)")
    }
}
