/// Units per second of a clock in a file, 1 ... 2³² − 1: `mdhd`, `mvhd` and `emsg` (ISO/IEC 14496-12 §8.4.2).
package struct Timescale: Hashable, Sendable {
    package static let range: ClosedRange<UInt32> = 1 ... .max

    package let unitsPerSecond: UInt32

    /// - Returns: nil for 0.
    package init?(_ unitsPerSecond: UInt32) {
        guard Self.range.contains(unitsPerSecond) else { return nil }
        self.unitsPerSecond = unitsPerSecond
    }
}

extension Timescale: CustomStringConvertible {
    package var description: String { "\(unitsPerSecond)" }
}
