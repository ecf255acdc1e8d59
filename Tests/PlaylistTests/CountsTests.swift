import Foundation
import Support
import Testing

/// Numbers by the cases of an enum.
struct CountsTests {
    enum Key: Int, CountKey { case first, second, third }

    private static func counts(_ numbers: [Key: Int]) -> Counts<Key> {
        numbers.reduce(into: Counts()) { $0[$1.key] = $1.value }
    }

    @Test(
        arguments: [
            ("nothing was counted", [:], [:], [:]),
            ("on the left alone", [.first: 2], [:], [.first: 2]),
            ("on the right alone", [:], [.third: 3], [.third: 3]),
            ("on both sides", [.first: 1, .second: 2], [.second: 5], [.first: 1, .second: 7]),
            ("a number that is 0", [.second: 0], [:], [:]),
        ] as [(String, [Key: Int], [Key: Int], [Key: Int])])
    func sum(when: String, left: [Key: Int], right: [Key: Int], sum: [Key: Int]) throws {
        let total = Self.counts(left) + Self.counts(right)
        #expect(total == Self.counts(sum), "\(when)")
        let json = try JSONDecoder().decode([String: Int].self, from: JSONEncoder().encode(total))
        #expect(json == ["first": sum[.first] ?? 0, "second": sum[.second] ?? 0, "third": sum[.third] ?? 0], "\(when)")
    }

    @Test func unlikeNumbersDiffer() {
        #expect(Self.counts([.first: 1]) != Counts() && Self.counts([.first: 1]) != Self.counts([.second: 1]))
    }
}
