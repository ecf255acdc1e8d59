/// Media time: a count of 90 kHz ticks on a continuous axis. The wire carries its low 33 bits
/// (ISO/IEC 13818-1 §2.4.3.7), which `init(wire:near:)` unfolds.
package struct Ticks: Hashable, Comparable, Sendable {
    package static let perSecond: Int64 = 90_000
    /// The wire's clock returns to 0 after this many ticks (about 26.5 hours).
    package static let wrap: Int64 = 1 << 33

    package let count: Int64

    package init(_ count: Int64) { self.count = count }

    /// The value nearest to `reference` whose low 33 bits are those of `wire`.
    package init(wire: Ticks, near reference: Ticks) {
        let ahead = (wire.count - reference.count) & (Self.wrap - 1)
        count = reference.count + (ahead < Self.wrap / 2 ? ahead : ahead - Self.wrap)
    }

    /// The low 33 bits: what a PES header would carry.
    package var wire: Ticks { Ticks(count & (Self.wrap - 1)) }

    /// The tick nearest to so many units of a clock with `timescale` of them a second, above 0. Of a time that leaves 64
    /// bits the low ones, which is all that a wire carries.
    package init(units: UInt64, timescale: UInt32) {
        let (numerator, denominator) = (UInt128(units) * 2 * UInt128(Self.perSecond), 2 * UInt128(timescale))
        count = Int64(truncatingIfNeeded: (numerator + UInt128(timescale)) / denominator)
    }

    /// The tick nearest to `samples` at `sampleRate` Hz.
    package init(samples: Int64, sampleRate: Int64) {
        count = (samples * Self.perSecond * 2 + sampleRate) / (2 * sampleRate)
    }

    /// Of two times on the wire.
    package static func earlierOnWire(_ one: Ticks, _ other: Ticks) -> Ticks {
        Ticks(wire: other, near: one) < one ? other : one
    }

    package static func < (left: Ticks, right: Ticks) -> Bool { left.count < right.count }
    package static func + (left: Ticks, right: Ticks) -> Ticks { Ticks(left.count + right.count) }
    package static func - (left: Ticks, right: Ticks) -> Ticks { Ticks(left.count - right.count) }
    package static func += (left: inout Ticks, right: Ticks) { left = left + right }
    package static let zero = Ticks(0)
    /// The longest step between two frames of a span; a longer one is a timestamp gap.
    package static let longestFrame = Ticks.milliseconds(500)

    package static func seconds(_ whole: Int64) -> Ticks { Ticks(whole * perSecond) }
    package static func milliseconds(_ count: Int64) -> Ticks { Ticks(count * perSecond / 1000) }

    /// Exact: one tick is 11 111 111 111 111 + 1/9 attoseconds, and the ninth is rounded down.
    package var duration: Duration {
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: Self.perSecond)
        return Duration(secondsComponent: seconds, attosecondsComponent: rest * 100_000_000_000_000 / 9)
    }
}
