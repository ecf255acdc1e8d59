import Support
import Synchronization

/// The date format of HTTP/1.1, IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter seconds: since 1970-01-01T00:00:00Z, not negative.
    package static func text(secondsSince1970 seconds: Int) -> String {
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        let date = CivilDate(daysSince1970: Int64(days))
        let clock = "\(pair(second / 3600)):\(pair(second / 60 % 60)):\(pair(second % 60))"
        return "\(weekdays[days % 7]), \(pair(Int(date.day))) \(months[Int(date.month) - 1]) \(date.year) \(clock) GMT"
    }

    private static let latest = Mutex((second: 0, text: ""))

    /// The date of the present second. The text is made once per second and shared by all responses.
    package static func text(ofNow second: Int) -> String {
        latest.withLock { latest in
            if latest.second != second { latest = (second, text(secondsSince1970: second)) }
            return latest.text
        }
    }

    private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
