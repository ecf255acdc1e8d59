import Support

/// Conversion between clocks, exact for any clock: the product has 128 bits.
extension Int64 {
    /// Returns `self * multiplier / divisor` to the nearest integer, halves up.
    ///
    /// A result that needs more than 64 bits keeps its low bits, which is all that the wire carries. No time within
    /// `Ticks.timeline` has such a result in a clock of 100 MHz or less.
    /// - Parameter divisor: above 0.
    package func rescaled(_ multiplier: Int64, over divisor: Int64) -> Int64 {
        Int64(truncatingIfNeeded: Self.floorDivide(product(multiplier) * 2 + Int128(divisor), 2 * Int128(divisor)))
    }

    /// Returns `self * multiplier / divisor`, rounded up.
    /// - Parameter divisor: above 0.
    package func rescaledUp(_ multiplier: Int64, over divisor: Int64) -> Int64 {
        Int64(truncatingIfNeeded: -Self.floorDivide(-product(multiplier), Int128(divisor)))
    }

    private func product(_ multiplier: Int64) -> Int128 { Int128(self) * Int128(multiplier) }

    private static func floorDivide(_ dividend: Int128, _ divisor: Int128) -> Int128 {
        let (quotient, rest) = dividend.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}
