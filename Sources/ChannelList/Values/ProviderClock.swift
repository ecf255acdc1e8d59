import Foundation
import Support

/// The clock by which a provider writes the dates of its archive.
///
/// A zone follows its rules, so dates are right on days when clocks change. In the hour that occurs twice, two moments
/// have the same text.
package struct ProviderClock: Hashable, Sendable {
    static let utc = ProviderClock(zone: .gmt)

    private let zone: TimeZone

    private init(zone: TimeZone) { self.zone = zone }

    /// - Parameter name: a name of the IANA database, such as `America/Toronto`. nil if no zone has that name.
    init?(zone name: String) {
        guard ConfigurationPattern.zone.longest >= name.utf8.count, let zone = TimeZone(identifier: name) else {
            return nil
        }
        self.zone = zone
    }

    /// A clock that is always `seconds` ahead of UTC.
    init?(secondsAhead seconds: Int64) {
        guard abs(seconds) <= Self.farthest, let zone = TimeZone(secondsFromGMT: Int(seconds)) else { return nil }
        self.zone = zone
    }

    /// No clock of the world is farther from UTC.
    private static let farthest: Int64 = 14 * 3600

    /// Seconds by which the clock is ahead of UTC.
    /// - Parameter moment: seconds since 1970.
    func secondsAhead(at moment: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment))))
    }
}

extension ProviderClock {
    /// The clocks of the world differ by quarters of an hour.
    private static let step: Int64 = 900

    /// Reads a panel's statements about its clock (`server_info` of `player_api.php`).
    ///
    /// `timezone` takes precedence. If it is not the name of a zone, the difference of `time_now`, which is local, and
    /// `timestamp_now` is used.
    /// - Returns: the clock, nil if the panel makes no usable statement; and whether its statements contradict each
    ///   other.
    static func ofPanel(_ info: LooseJSON) -> (clock: ProviderClock?, isContradictory: Bool) {
        let named = info["timezone"].text.flatMap { ProviderClock(zone: String($0.trimmingWhiteSpace)) }
        guard let now = info["timestamp_now"].text.flatMap({ Int64($0) }), let date = info["time_now"].text,
            let local = ProgramDateTime(parsing: date.replacing(" ", with: "T"))
        else { return (named, false) }
        let distance = local.millisecondsSince1970 / 1000 - now
        let (steps, rest) = distance.quotientAndRemainder(dividingBy: step)
        let rounded = (steps + rest / (step / 2)) * step
        guard let measured = ProviderClock(secondsAhead: rounded) else { return (named, false) }
        guard let named else { return (measured, false) }
        return (named, named.secondsAhead(at: now) != rounded)
    }
}
