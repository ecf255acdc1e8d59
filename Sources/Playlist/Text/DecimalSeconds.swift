/// Seconds as playlists write them (decimal-floating-point, RFC 8216 §4.2) ↔ `Duration`, digit by digit.
///
/// No `Double` is involved: 6.006 is 6 s and 6 ms exactly, and a sum of EXTINFs does not drift.
package enum DecimalSeconds {
    /// Integer digits beyond leading zeros; what is longer than 317 years is damage, and sums must not overflow.
    static let maximalIntegerDigits = 10
    /// An attosecond is the last digit that `Duration` holds; later ones are dropped.
    static let maximalFractionDigits = 18

    /// "6", "6.006", "6.", ".5", with "-" in front only if `isSigned`. nil for anything else, an exponent included.
    package static func duration(_ text: String, isSigned: Bool = false) -> Duration? {
        duration(text.utf8, isSigned: isSigned)
    }

    static func duration(_ text: some Collection<UInt8>, isSigned: Bool = false) -> Duration? {
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

    /// With `decimals` (0 ... 18) digits after the point, to the nearest, halves away from zero.
    package static func text(_ duration: Duration, decimals: Int) -> String {
        precondition(0...maximalFractionDigits ~= decimals, "a Duration has 18 decimals")
        let unit = powerOfTen(maximalFractionDigits - decimals)
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

    /// Exact, with no more digits than it takes: "6", "6.006".
    package static func text(_ duration: Duration) -> String {
        let all = text(duration, decimals: maximalFractionDigits)
        let kept = all.utf8.reversed().drop { $0 == ASCII.zero }
        let end = kept.first == ASCII.point ? kept.dropFirst() : kept
        return String(decoding: end.reversed(), as: UTF8.self)
    }

    /// The least whole number of seconds that is not less.
    package static func roundedUp(_ duration: Duration) -> Duration {
        let (seconds, attoseconds) = duration.components
        return .seconds(seconds + (attoseconds > 0 ? 1 : 0))
    }

    static func padded(_ number: UInt64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func seconds(_ digits: some Collection<UInt8>) -> Int64? {
        let significant = digits.drop { $0 == ASCII.zero }
        guard significant.count <= maximalIntegerDigits else { return nil }
        if significant.isEmpty { return 0 }
        return decimalInteger(significant).map { Int64($0) }
    }

    private static func attoseconds(_ digits: some Collection<UInt8>) -> Int64? {
        guard digits.allSatisfy({ ASCII.zero...ASCII.nine ~= $0 }) else { return nil }
        let kept = digits.prefix(maximalFractionDigits)
        guard let value = decimalInteger(kept) else { return 0 }
        return Int64(value * powerOfTen(maximalFractionDigits - kept.count))
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
