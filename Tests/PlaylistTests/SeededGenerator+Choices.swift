import TestSupport

extension SeededGenerator {
    /// True once in `times` on average.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    /// The value once in two.
    mutating func perhaps<Value>(_ make: (inout SeededGenerator) -> Value) -> Value? {
        once(in: 2) ? make(&self) : nil
    }
}
