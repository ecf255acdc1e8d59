/// A moment of EXT-X-PROGRAM-DATE-TIME (RFC 8216 §4.3.2.6), to the millisecond, on the UTC axis.
package struct ProgramDateTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (left: ProgramDateTime, right: ProgramDateTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// Later by `duration`, whose part below a millisecond is dropped: add up durations first, then come here.
    package func advanced(by duration: Duration) -> ProgramDateTime {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return ProgramDateTime(millisecondsSince1970: millisecondsSince1970 + milliseconds)
    }
}

/// ISO 8601 text, with the proleptic Gregorian calendar worked out here: no locale and no time zone of the machine.
extension ProgramDateTime {
    /// "2026-01-02T03:04:05.678", with T or a space, any number of fraction digits (what is below a millisecond is
    /// dropped), and Z, +01:00, +0100, +01 or no zone at all, which is read as UTC. nil for anything else.
    package init?(parsing text: String) { self.init(parsing: Array(text.utf8)[...]) }

    init?(parsing text: ArraySlice<UInt8>) {
        var text = DateTimeText(rest: text)
        guard let year = text.digits(4), text.skip("-"), let month = text.digits(2), 1...12 ~= month, text.skip("-"),
            let day = text.digits(2), 1...Self.days(inMonth: month, of: year) ~= day,
            text.skip("T") || text.skip("t") || text.skip(" "),
            let hour = text.digits(2), hour < 24, text.skip(":"), let minute = text.digits(2), minute < 60,
            text.skip(":"), let second = text.digits(2), second <= 60,  // 60: a leap second
            let millisecond = text.milliseconds(), let offset = text.zoneMinutes(), text.rest.isEmpty
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        self.init(millisecondsSince1970: (minutes * 60 + second) * 1000 + millisecond)
    }

    /// Always `2026-01-02T03:04:05.678Z`. What four digits of a year cannot say is written as the nearest that they can:
    /// players would read nothing else.
    package var text: String {
        let (days, millisecond) = Self.floorDivide(
            min(max(millisecondsSince1970, Self.writableRange.lowerBound), Self.writableRange.upperBound), 86_400_000)
        let (year, month, day) = Self.date(daysSince1970: days)
        let second = millisecond / 1000
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time).\(Self.padded(millisecond % 1000, 3))Z"
    }

    /// From the year 0 to the end of 9999.
    private static let writableRange: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    // A year begins in March here, so that the leap day is its last and months need no table.

    /// Days from 1970-01-01 to that date.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (marchYear, marchMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let (era, yearOfEra) = floorDivide(marchYear, 400)
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysPerEra + dayOfEra - daysFromEraTo1970
    }

    /// The Gregorian date of a day.
    package static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(days + daysFromEraTo1970, daysPerEra)
        // Each of the three leap rules lends or takes a day at its end.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    /// 400 years.
    private static let daysPerEra: Int64 = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let daysFromEraTo1970: Int64 = 719_468

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        let next = month == 12 ? (year + 1, Int64(1)) : (year, month + 1)
        return daysSince1970(year: next.0, month: next.1, day: 1) - daysSince1970(year: year, month: month, day: 1)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        DecimalSeconds.padded(number.magnitude, to: width)
    }
}

/// The grammar, piece by piece; each takes what it read off the front.
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

    /// 0 without a fraction; nil when a point is followed by no digit.
    mutating func milliseconds() -> Int64? {
        guard skip(".") || skip(",") else { return 0 }
        let digits = rest.prefix { ASCII.zero...ASCII.nine ~= $0 }
        rest = rest.dropFirst(digits.count)
        guard let value = decimalInteger(digits.prefix(3)) else { return nil }
        return Int64(value) * [100, 10, 1][min(digits.count, 3) - 1]
    }

    /// Minutes east of UTC.
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
