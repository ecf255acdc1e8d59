/// A date of the proleptic Gregorian calendar, without a time zone.
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    /// 1 ... 12.
    package var month: Int64
    /// 1 ... 31.
    package var day: Int64

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }
}

// The arithmetic counts years from 1 March, so that the leap day is the last day of its year and months need no table.
extension CivilDate {
    private static let daysPer400Years: Int64 = 146_097
    private static let daysFromMarchOfYear0To1970: Int64 = 719_468

    /// The date that is `days` after 1970-01-01; negative for earlier dates.
    package init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = floorDivide(days + Self.daysFromMarchOfYear0To1970, Self.daysPer400Years)
        // Each of the three leap rules adds or removes a day at the end of its cycle.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        self.init(
            year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// Days from 1970-01-01 to this date.
    package var daysSince1970: Int64 {
        let (marchYear, marchMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let (era, yearOfEra) = floorDivide(marchYear, 400)
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPer400Years + dayOfEra - Self.daysFromMarchOfYear0To1970
    }

    /// The number of days of a month, 28 ... 31.
    static func dayCount(ofMonth month: Int64, year: Int64) -> Int64 {
        let next =
            month == 12
            ? CivilDate(year: year + 1, month: 1, day: 1) : CivilDate(year: year, month: month + 1, day: 1)
        return next.daysSince1970 - CivilDate(year: year, month: month, day: 1).daysSince1970
    }
}

/// The quotient rounded down, and a remainder that is not negative. `divisor` is positive.
func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
