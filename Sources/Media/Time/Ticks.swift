/// Media time: a count of 90 kHz ticks on a continuous timeline (ISO/IEC 13818-1 §2.4.3.7).
///
/// The wire carries the low 33 bits, which `init(wire:near:)` unwraps.
package struct Ticks: Hashable, Comparable, Sendable {
    package static let perSecond: Int64 = 90_000
    /// The positions of a channel's timeline, 1,585 years. A time in this range stays exact in any timescale, in samples,
    /// and in milliseconds, with as much again added to it.
    package static let timeline: ClosedRange<Int64> = 0...1 << 52

    package let count: Int64

    package init(_ count: Int64) { self.count = count }

    /// The tick nearest to `units` of a clock with `timescale` units per second.
    ///
    /// A time that needs more than 64 bits keeps its low bits, which is all that the wire carries.
    package init(units: UInt64, timescale: Timescale) {
        let unit = UInt128(timescale.unitsPerSecond)
        count = Int64(truncatingIfNeeded: (UInt128(units) * 2 * UInt128(Self.perSecond) + unit) / (2 * unit))
    }

    /// The tick nearest to `samples` at `sampleRate`.
    package init(samples: Int64, sampleRate: SampleRate) {
        count = samples.rescaled(Self.perSecond, over: Int64(sampleRate.hertz))
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

    /// The same time as a `Duration`, rounded down to attoseconds: one tick is 11 111 111 111 111 1/9 of them.
    package var duration: Duration {
        let (seconds, remainder) = count.quotientAndRemainder(dividingBy: Self.perSecond)
        return Duration(secondsComponent: seconds, attosecondsComponent: remainder * 100_000_000_000_000 / 9)
    }
}
