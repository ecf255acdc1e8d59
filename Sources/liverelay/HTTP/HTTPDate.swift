/// The one date format that HTTP/1.1 sends, IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter seconds: since 1970-01-01T00:00:00Z, not negative.
    static func text(secondsSince1970 seconds: Int) -> String {
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        let (year, month, day) = civil(daysSince1970: days)
        let clock = "\(pair(second / 3600)):\(pair(second / 60 % 60)):\(pair(second % 60))"
        return "\(weekdays[days % 7]), \(pair(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The Gregorian date of a day. Years are counted from 1 March, so that a leap day is the last day of its year.
    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let sinceMarch0 = days + 719_468  // days from 0000-03-01 to 1970-01-01
        let (era, dayOfEra) = (sinceMarch0 / 146_097, sinceMarch0 % 146_097)  // 400 years have 146 097 days
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153  // five months from March have 153 days
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }
}
