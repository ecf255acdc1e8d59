/// A key of `Counts`: an enum of `Int` whose cases bear the names under which they are published.
package protocol CountKey: CodingKey, CaseIterable, RawRepresentable, Sendable where RawValue == Int {}

/// A number for each case of an enum, encoded as an object with the names of the cases.
///
/// Storage is allocated once, when the first number is set. The raw value of a case is the index of its number.
package struct Counts<Key: CountKey>: Encodable, Equatable, Sendable {
    /// Empty while every number is 0.
    private var numbers: [Int] = []

    package init() {}

    package subscript(key: Key) -> Int {
        get { numbers.isEmpty ? 0 : numbers[key.rawValue] }
        set {
            if numbers.isEmpty { numbers = Array(repeating: 0, count: Key.allCases.count) }
            numbers[key.rawValue] = newValue
        }
    }

    package static func += (sum: inout Counts, other: Counts) {
        if sum.numbers.isEmpty {
            sum.numbers = other.numbers
        } else {
            for index in other.numbers.indices { sum.numbers[index] += other.numbers[index] }
        }
    }

    package static func + (left: Counts, right: Counts) -> Counts {
        var sum = left
        sum += right
        return sum
    }

    package static func == (left: Counts, right: Counts) -> Bool {
        Key.allCases.allSatisfy { left[$0] == right[$0] }
    }

    package func encode(to encoder: any Encoder) throws { try encode(Key.allCases, to: encoder) }

    /// Encodes the numbers of some keys; the caller encodes the others into another object.
    package func encode(_ keys: some Sequence<Key>, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for key in keys { try container.encode(self[key], forKey: key) }
    }
}
