import Support

/// Media time: a count of 90 kHz ticks on a continuous timeline (ISO/IEC 13818-1 §2.4.3.7).
///
/// The wire carries the low 33 bits, which `init(wire:near:)` unwraps.
// Its arithmetic is inlined: each frame takes part in some of it.
@usableFromInline
package struct Ticks: Hashable, Comparable, Sendable {
    package static let perSecond: Int64 = 90_000
    /// The positions of a channel's timeline, 1,585 years. A time in this range, even doubled, stays exact in any
    /// timescale, in samples and in milliseconds.
    package static let timeline: ClosedRange<Int64> = 0...1 << 52

    @usableFromInline package let count: Int64

    @inlinable package init(_ count: Int64) { self.count = count }

    /// The tick nearest to `units` of a clock with `timescale` units per second.
    ///
    /// If the time needs more than 64 bits, its low bits are kept; the wire carries no others.
    package init(units: UInt64, timescale: Timescale) {
        let unit = UInt128(timescale.unitsPerSecond)
        count = Int64(truncatingIfNeeded: (UInt128(units) * 2 * UInt128(Self.perSecond) + unit) / (2 * unit))
    }

    /// The tick nearest to the duration of `samples`.
    package init(samples: Int64, sampleRate: SampleRate) {
        count = samples.rescaled(Self.perSecond, over: Int64(sampleRate.hertz))
    }

    /// The tick nearest to `duration`, limited to the end of `timeline`.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let part = (attoseconds / 1_000_000_000 * Ticks.perSecond + 500_000_000) / 1_000_000_000
        let count = Int128(seconds) * Int128(Ticks.perSecond) + Int128(part)
        self.init(min(Int64(clamping: count), Self.timeline.upperBound))
    }

    @inlinable package static func < (left: Ticks, right: Ticks) -> Bool { left.count < right.count }
    @inlinable package static func + (left: Ticks, right: Ticks) -> Ticks { Ticks(left.count + right.count) }
    @inlinable package static func - (left: Ticks, right: Ticks) -> Ticks { Ticks(left.count - right.count) }
    @inlinable package static func += (left: inout Ticks, right: Ticks) { left = left + right }
    package static let zero = Ticks(0)
    /// The longest step between two frames of a span. A longer step is a timestamp gap.
    package static let longestFrame = Ticks.milliseconds(500)

    package static func seconds(_ whole: Int64) -> Ticks { Ticks(whole * perSecond) }
    package static func milliseconds(_ count: Int64) -> Ticks { Ticks(count * perSecond / 1000) }

    /// The same time as a `Duration`, rounded down to attoseconds: one tick is 11 111 111 111 111 1/9 of them.
    package var duration: Duration {
        let (seconds, remainder) = count.quotientAndRemainder(dividingBy: Self.perSecond)
        return Duration(secondsComponent: seconds, attosecondsComponent: remainder * 100_000_000_000_000 / 9)
    }
}

/// Timestamp unwrapping: 33-bit wire timestamps and the continuous timeline (ISO/IEC 13818-1 §2.4.3.7).
extension Ticks {
    /// The period of the wire's 33-bit clock: about 26.5 hours.
    package static let wrap: Int64 = 1 << 33

    /// Unwraps a wire timestamp: the value nearest to `reference` whose low 33 bits equal those of `wire`.
    package init(wire: Ticks, near reference: Ticks) {
        let ahead = (wire.count - reference.count) & (Self.wrap - 1)
        self.init(reference.count + (ahead < Self.wrap / 2 ? ahead : ahead - Self.wrap))
    }

    /// The low 33 bits: the timestamp that a PES header would carry.
    package var wire: Ticks { Ticks(count & (Self.wrap - 1)) }

    /// Returns the earlier of two wire timestamps that are less than half a wrap apart.
    package static func earlierOnWire(_ first: Ticks, _ second: Ticks) -> Ticks {
        Ticks(wire: second, near: first) < first ? second : first
    }
}

/// Conversion between clocks, exact for any clock: the product has 128 bits.
extension Int64 {
    /// Returns `self * multiplier / divisor` to the nearest integer, halves up.
    ///
    /// A result that needs more than 64 bits keeps its low bits; the wire carries no others. A time within
    /// `Ticks.timeline` has no such result in a clock of 100 MHz or less.
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

/// Units per second of a clock in a file, 1 ... 2³² − 1: `mdhd`, `mvhd` and `emsg` (ISO/IEC 14496-12 §8.4.2).
package struct Timescale: Hashable, Sendable, CustomStringConvertible {
    package static let range: ClosedRange<UInt32> = 1 ... .max

    package let unitsPerSecond: UInt32

    /// - Returns: nil for 0.
    package init?(_ unitsPerSecond: UInt32) {
        guard Self.range.contains(unitsPerSecond) else { return nil }
        self.unitsPerSecond = unitsPerSecond
    }

    package var description: String { "\(unitsPerSecond)" }
}

/// Units per second of each track, constant for the life of a channel.
///
/// An HLS demuxer built on libav reads all periods with the first init section. A timescale that followed the period's
/// audio rate would make it jump at each rotation.
package enum TrackTimescale {
    package static let video: Int64 = 90_000
    /// Every AAC sampling rate (ISO/IEC 14496-3 Table 1.18) except 64 kHz divides this value, so the time of a frame is
    /// an integer at any rate: 294 units per sample at 48 kHz, 320 at 44.1 kHz.
    package static let audio: Int64 = 14_112_000
    /// The timescale of `mvhd`, where every duration is 0.
    package static let movie: Int64 = 1_000
}

/// Track identifiers, constant for the life of a channel for the same reason.
package enum TrackID {
    package static let video: UInt32 = 1
    package static let audio: UInt32 = 2
}

/// The sample rate of coded audio in Hz, within `range`.
///
/// If 14 112 000 is not a multiple of the rate, a frame is up to one unit of the audio timescale too short, 3 in a
/// million at most. When the error has grown to half a frame, the source's timestamps correct it.
package struct SampleRate: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    package static let range = 4_000...768_000

    package let hertz: Int

    /// - Returns: nil outside `range`. AAC can state any rate of 24 bits.
    package init?(_ hertz: Int) {
        guard Self.range.contains(hertz) else { return nil }
        self.hertz = hertz
    }

    package static func < (left: SampleRate, right: SampleRate) -> Bool { left.hertz < right.hertz }

    /// A literal outside the range, as in a standard's tables, becomes the nearest rate within it.
    package init(integerLiteral hertz: Int) {
        self.hertz = min(max(hertz, Self.range.lowerBound), Self.range.upperBound)
    }

    package var description: String { "\(hertz)" }
}
