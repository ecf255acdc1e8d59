import Support

// Reads the time at which a server allows the next request (RFC 9110 §10.2.3).

extension FetchAnswer {
    /// The delay that Retry-After asks for, in 0 s ... 366 days; nil if the header is absent or malformed.
    ///
    /// A date is counted from the answer's own Date header, so that a wrong clock on either side does no harm.
    package var retryAfter: Duration? {
        guard let text = header("retry-after") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, Self.longestRetryAfter))
        }
        guard let then = ProgramDateTime(httpDate: text),
            let now = header("date").flatMap({ ProgramDateTime(httpDate: $0) })
        else { return nil }
        return max(.zero, .milliseconds(then.millisecondsSince1970 - now.millisecondsSince1970))
    }

    /// Seconds of a leap year. A longer delay means that the resource never comes back.
    private static let longestRetryAfter: Int64 = 366 * 86_400
}

extension FetchOutcome {
    /// The delay that an unsuccessful answer asks for.
    package var retryAfter: Duration? {
        guard case .success(let answer) = self, !answer.isSuccess else { return nil }
        return answer.retryAfter
    }
}

extension ProgramDateTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads each of the three forms that a recipient must accept (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    package init?(httpDate text: String) {
        // The weekday adds nothing to the date.
        let fields = text.split { " ,-".contains($0) }.dropFirst().map(String.init)
        guard fields.count >= 4 else { return nil }
        let isAsctime = fields[0].first?.isLetter == true
        let (day, month, year, time) =
            isAsctime ? (fields[1], fields[0], fields[3], fields[2]) : (fields[0], fields[1], fields[2], fields[3])
        guard let number = Self.months.firstIndex(of: month), isAsctime || fields.dropFirst(4) == ["GMT"] else {
            return nil
        }
        self.init(parsing: "\(Self.fourDigits(year))-\(Self.pair("\(number + 1)"))-\(Self.pair(day))T\(time)Z")
    }

    /// Expands a year of two digits to a year in 1970 ... 2069.
    private static func fourDigits(_ year: String) -> String {
        year.utf8.count == 2 ? (year < "70" ? "20" : "19") + year : year
    }

    private static func pair(_ digits: String) -> String { digits.utf8.count == 1 ? "0" + digits : digits }
}
