/// The sample rate of coded audio in Hz, within `range`.
///
/// If 14 112 000 is not a multiple of the rate, a frame is up to one unit of the audio timescale too short, 3 in a million
/// at most. When that has grown to half a frame, the source's timestamps correct it.
package struct SampleRate: Hashable, Comparable, Sendable {
    package static let range = 4_000...768_000

    package let hertz: Int

    /// - Returns: nil outside `range`. AAC can state any rate of 24 bits.
    package init?(_ hertz: Int) {
        guard Self.range.contains(hertz) else { return nil }
        self.hertz = hertz
    }

    package static func < (left: SampleRate, right: SampleRate) -> Bool { left.hertz < right.hertz }
}

/// The rates of a standard's tables are literals.
extension SampleRate: ExpressibleByIntegerLiteral {
    package init(integerLiteral hertz: Int) {
        self.hertz = min(max(hertz, Self.range.lowerBound), Self.range.upperBound)
    }
}

extension SampleRate: CustomStringConvertible {
    package var description: String { "\(hertz)" }
}
