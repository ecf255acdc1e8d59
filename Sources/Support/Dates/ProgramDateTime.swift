/// A UTC time of EXT-X-PROGRAM-DATE-TIME (RFC 8216 §4.3.2.6), in milliseconds.
package struct ProgramDateTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (left: ProgramDateTime, right: ProgramDateTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// The time `duration` later, truncated to milliseconds, or this time if the result does not fit into 64 bits. To avoid
    /// rounding errors, add durations before the call.
    package func advanced(by duration: Duration) -> ProgramDateTime {
        advanced(byMilliseconds: duration.wholeMilliseconds)
    }

    /// The time `milliseconds` later, or this time if the result does not fit into 64 bits.
    package func advanced(byMilliseconds milliseconds: Int64) -> ProgramDateTime {
        let (sum, overflows) = millisecondsSince1970.addingReportingOverflow(milliseconds)
        return overflows ? self : ProgramDateTime(millisecondsSince1970: sum)
    }

    /// Milliseconds from `other` to this time; `Int64.max` if the difference does not fit into 64 bits.
    package func milliseconds(since other: ProgramDateTime) -> Int64 {
        let (distance, overflows) = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return overflows ? .max : distance
    }
}

// ISO 8601 text. The conversion uses `CivilDate`, not the locale or time zone of the machine.
extension ProgramDateTime {
    /// Reads "2026-01-02T03:04:05.678"; nil for other text.
    ///
    /// The separator is T or a space. 24:00:00 is the end of the day. Fraction digits below a millisecond are dropped.
    /// The zone is Z, +01:00, +0100 or +01; without a zone the time is UTC.
    package init?(parsing text: String) { self.init(parsing: Array(text.utf8)[...]) }

    package init?(parsing text: ArraySlice<UInt8>) {
        var text = DateTimeText(rest: text)
        guard let year = text.digits(4), text.skip("-"), let month = text.digits(2), 1...12 ~= month, text.skip("-"),
            let day = text.digits(2), 1...CivilDate.dayCount(ofMonth: month, year: year) ~= day,
            text.skip("T") || text.skip("t") || text.skip(" "),
            let hour = text.digits(2), hour <= 24, text.skip(":"), let minute = text.digits(2), minute < 60,
            text.skip(":"), let second = text.digits(2), second <= 60,  // 60: a leap second
            let millisecond = text.milliseconds(), let offset = text.zoneMinutes(), text.rest.isEmpty,
            // 24:00:00 is the end of a day (ISO 8601-1 §5.3.4; XML Schema 1.1 part 2, 3.3.7).
            hour < 24 || minute + second + millisecond == 0
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let minutes = (days * 24 + hour) * 60 + minute - offset
        self.init(millisecondsSince1970: (minutes * 60 + second) * 1000 + millisecond)
    }

    /// The time as `2026-01-02T03:04:05.678Z`. Players read only years of four digits, so other years are clamped.
    package var text: String {
        let (days, millisecond) = floorDivide(
            min(max(millisecondsSince1970, Self.writableRange.lowerBound), Self.writableRange.upperBound), 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let second = millisecond / 1000
        let day = "\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2))"
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(day)T\(time).\(Self.padded(millisecond % 1000, 3))Z"
    }

    /// The years 0 to 9999.
    private static let writableRange: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    private static func padded(_ number: Int64, _ width: Int) -> String {
        DecimalSeconds.padded(number.magnitude, to: width)
    }
}

/// A scanner for the parts of ISO 8601 text. Each function removes what it read from the front of `rest`.
private struct DateTimeText {
    var rest: ArraySlice<UInt8>

    mutating func digits(_ count: Int) -> Int64? {
        guard rest.count >= count, let value = decimalInteger(rest.prefix(count)) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(value)
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// The fraction in milliseconds; 0 without a fraction, nil if no digit follows the point.
    mutating func milliseconds() -> Int64? {
        guard skip(".") || skip(",") else { return 0 }
        let digits = rest.prefix { ASCII.zero...ASCII.nine ~= $0 }
        rest = rest.dropFirst(digits.count)
        guard let value = decimalInteger(digits.prefix(3)) else { return nil }
        return Int64(value) * [100, 10, 1][min(digits.count, 3) - 1]
    }

    /// The zone in minutes east of UTC.
    mutating func zoneMinutes() -> Int64? {
        if rest.isEmpty || skip("Z") || skip("z") { return 0 }
        let isWest = rest.first == ASCII.minus
        guard skip("+") || skip("-"), let hours = digits(2), hours < 24 else { return nil }
        if rest.isEmpty { return isWest ? -hours * 60 : hours * 60 }
        _ = skip(":")
        guard let minutes = digits(2), minutes < 60 else { return nil }
        return isWest ? -(hours * 60 + minutes) : hours * 60 + minutes
    }
}
