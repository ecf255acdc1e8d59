/// Conversion between the seconds of playlists (decimal-floating-point, RFC 8216 §4.2) and `Duration`.
///
/// The conversion works digit by digit, without `Double`: 6.006 is 6 s and 6 ms exactly, and sums of EXTINFs do not
/// drift.
@usableFromInline
package enum DecimalSeconds {
    /// The number of fraction digits that `Duration` holds (attoseconds); later digits are dropped.
    static let maximumFractionDigits = 18
    /// The whole seconds that are accepted: up to 317 years.
    @inlinable package static var wholeSeconds: ClosedRange<UInt64> { 0...9_999_999_999 }

    /// Reads "6", "6.006", "6." or ".5", and a leading "-" if `isSigned`. nil for other text, including exponents.
    package static func duration(_ text: String, isSigned: Bool = false) -> Duration? {
        duration(text.utf8, isSigned: isSigned)
    }

    // Inlined, because a playlist has thousands, and a generic function would allocate for each part of one.
    @inlinable
    package static func duration(_ text: some Sequence<UInt8>, isSigned: Bool = false) -> Duration? {
        var (seconds, attoseconds) = (UInt64(0), UInt64(0))
        // The value of the next digit after the point, in attoseconds; zero after the last that is held.
        var unit: UInt64?
        var (hasDigits, isNegative, isFirst) = (false, false, true)
        for byte in text {
            defer { isFirst = false }
            switch byte {
            case 0x30...0x39:
                hasDigits = true
                let digit = UInt64(byte - 0x30)
                if let part = unit {
                    attoseconds += digit * part
                    unit = part / 10
                } else {
                    seconds = seconds * 10 + digit
                    guard wholeSeconds.contains(seconds) else { return nil }
                }
            case 0x2E where unit == nil: unit = 100_000_000_000_000_000
            case 0x2D where isSigned && isFirst: isNegative = true
            default: return nil
            }
        }
        guard hasDigits else { return nil }
        let duration = Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
        return isNegative ? .zero - duration : duration
    }

    /// Writes `duration` with `decimals` (0 ... 18) digits after the point, rounded to nearest, halves away from zero.
    package static func text(_ duration: Duration, decimals: Int) -> String {
        precondition(0...maximumFractionDigits ~= decimals, "a Duration has 18 decimals")
        let unit = powerOfTen(maximumFractionDigits - decimals)
        let (seconds, attoseconds) = duration.components
        let isNegative = seconds < 0 || attoseconds < 0
        var whole = seconds.magnitude
        var units = (attoseconds.magnitude + unit / 2) / unit
        if units == powerOfTen(decimals) {
            units = 0
            whole += 1
        }
        let sign = isNegative && (whole > 0 || units > 0) ? "-" : ""
        return sign + String(whole) + (decimals > 0 ? "." + padded(units, to: decimals) : "")
    }

    /// Writes `duration` exactly, without trailing zeros: "6", "6.006".
    package static func text(_ duration: Duration) -> String {
        let all = text(duration, decimals: maximumFractionDigits)
        let kept = all.utf8.reversed().drop { $0 == ASCII.zero }
        let end = kept.first == ASCII.point ? kept.dropFirst() : kept
        return String(decoding: end.reversed(), as: UTF8.self)
    }

    /// The smallest whole number of seconds that is not less than `duration`.
    package static func roundedUp(_ duration: Duration) -> Duration {
        let (seconds, attoseconds) = duration.components
        return .seconds(seconds + (attoseconds > 0 ? 1 : 0))
    }

    package static func padded(_ number: UInt64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
