import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A vector and an array that have the same operations applied.
struct PersistentVectorTests {
    @Test(arguments: UInt64(1)...6)
    func behavesLikeAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (vector, array, start) = (PersistentVector<Int>(), [Int](), 0)
        var copies: [(vector: PersistentVector<Int>, array: [Int])] = []
        for step in 0..<3000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<14:
                vector.append(step)
                array.append(step)
            case 14..<16:
                let count = min(
                    array.count, Int.random(in: 0..<4 << Int.random(in: 0...4, using: &random), using: &random))
                vector.removeFirst(count)
                array.removeFirst(count)
                start += count
            case 16:
                let count = min(array.count, Int.random(in: 0..<40, using: &random))
                vector.removeLast(count)
                array.removeLast(count)
            case 17 where !array.isEmpty:
                let position = Int.random(in: array.indices, using: &random)
                vector[start + position] = -step
                array[position] = -step
            case 18: copies.append((vector, array))
            default: copies.append((vector.suffix(array.count / 2), array.suffix(array.count / 2)))
            }
            try #require(vector.count == array.count && vector.startIndex == start, "step \(step)")
        }
        copies.append((vector, array))
        for copy in copies {
            #expect(Array(copy.vector) == copy.array)
            #expect(copy.vector.indices.map { copy.vector[$0] } == copy.array)
            #expect(Array(copy.vector.reversed()) == copy.array.reversed())
        }
    }

    @Test func appendingToASliceDoesNotChangeTheWhole() {
        var whole = PersistentVector<Int>()
        for number in 0..<100 { whole.append(number) }
        var slice = whole.prefix(40)
        slice.append(-1)
        #expect(Array(slice) == Array(0..<40) + [-1] && Array(whole) == Array(0..<100))
        #expect(Array(whole[70..<72]) == [70, 71] && whole[70..<72].startIndex == 70)
    }

    @Test func copyCostsAPathOfTheTree() {
        var steps: [Int] = []
        for count in [1000, 2000, 4000, 8000, 16_000] {
            var vector = PersistentVector<Int>()
            for number in 0..<count { vector.append(number) }
            let copy = vector
            let counter = StepCounter()
            StepCounter.$current.withValue(counter) { vector.append(0) }
            steps.append(counter.steps)
            #expect(copy.count == count)
        }
        #expect(steps.allSatisfy { $0 <= 4 * 32 }, "\(steps)")
    }
}
