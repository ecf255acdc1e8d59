import Playlist

// When a server wants to be asked again (RFC 9110 §10.2.3).

extension FetchAnswer {
    /// nil when it does not say, or says it in no way that the standard knows. Never negative, and unbounded.
    ///
    /// A date is counted from the answer's own Date: then it does not matter whose clock is right.
    var retryAfter: Duration? {
        guard let text = header("retry-after") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, Self.longest))
        }
        guard let then = ProgramDateTime(httpDate: text),
            let now = header("date").flatMap({ ProgramDateTime(httpDate: $0) })
        else { return nil }
        return max(.zero, .milliseconds(then.millisecondsSince1970 - now.millisecondsSince1970))
    }

    /// A year: whoever says more means never.
    private static let longest: Int64 = 366 * 86_400
}

extension FetchOutcome {
    /// Of an answer that refuses.
    var retryAfter: Duration? {
        guard case .success(let answer) = self, !(200..<300).contains(answer.status) else { return nil }
        return answer.retryAfter
    }
}

extension ProgramDateTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Each of the three forms that a recipient has to know (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    init?(httpDate text: String) {
        // The weekday says nothing that the date does not.
        let words = text.split { " ,-".contains($0) }.dropFirst().map(String.init)
        guard words.count >= 4 else { return nil }
        let isOldest = words[0].first?.isLetter == true
        let (day, month, year, time) =
            isOldest ? (words[1], words[0], words[3], words[2]) : (words[0], words[1], words[2], words[3])
        guard let number = Self.months.firstIndex(of: month), isOldest || words.dropFirst(4) == ["GMT"] else {
            return nil
        }
        self.init(parsing: "\(Self.fourDigits(year))-\(Self.pair("\(number + 1)"))-\(Self.pair(day))T\(time)Z")
    }

    /// Of two digits, those of 1970 to 2069.
    private static func fourDigits(_ year: String) -> String {
        year.utf8.count == 2 ? (year < "70" ? "20" : "19") + year : year
    }

    private static func pair(_ digits: String) -> String { digits.utf8.count == 1 ? "0" + digits : digits }
}
