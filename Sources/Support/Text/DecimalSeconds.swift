/// Conversion between the seconds of playlists (decimal-floating-point, RFC 8216 §4.2) and `Duration`.
///
/// The conversion works digit by digit, without `Double`: 6.006 is 6 s and 6 ms exactly, and sums of EXTINFs do not
/// drift.
package enum DecimalSeconds {
    /// The number of fraction digits that `Duration` holds (attoseconds); later digits are dropped.
    static let maximumFractionDigits = 18
    /// The whole seconds that are accepted: up to 317 years.
    package static let wholeSeconds: ClosedRange<UInt64> = 0...9_999_999_999

    /// Reads "6", "6.006", "6." or ".5", and a leading "-" if `isSigned`. nil for other text, including exponents.
    package static func duration(_ text: String, isSigned: Bool = false) -> Duration? {
        duration(text.utf8, isSigned: isSigned)
    }

    package static func duration(_ text: some Collection<UInt8>, isSigned: Bool = false) -> Duration? {
        if isSigned, text.first == ASCII.minus {
            return duration(text.dropFirst(), isSigned: false).map { .zero - $0 }
        }
        let point = text.firstIndex(of: ASCII.point)
        let integer = text[..<(point ?? text.endIndex)]
        let fraction = point.map { text[text.index(after: $0)...] } ?? text[text.endIndex...]
        guard !integer.isEmpty || !fraction.isEmpty, let seconds = seconds(integer),
            let attoseconds = attoseconds(fraction)
        else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
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

    private static func seconds(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return 0 }
        return decimalInteger(digits).flatMap { wholeSeconds.contains($0) ? Int64($0) : nil }
    }

    private static func attoseconds(_ digits: some Collection<UInt8>) -> Int64? {
        guard digits.allSatisfy({ ASCII.zero...ASCII.nine ~= $0 }) else { return nil }
        let kept = digits.prefix(maximumFractionDigits)
        guard let value = decimalInteger(kept) else { return 0 }
        return Int64(value * powerOfTen(maximumFractionDigits - kept.count))
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
