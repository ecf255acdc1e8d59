import Foundation

/// A clock that people read: UTC, a zone with its rules, or a fixed difference from UTC.
///
/// A zone follows its rules, so dates are right on days when clocks change. In the hour that occurs twice, two moments
/// have the same text.
package struct LocalClock: Hashable, Sendable {
    package static let utc = LocalClock(zone: .gmt)

    /// The clock of this machine, as TZ or /etc/localtime says.
    package static var own: LocalClock { LocalClock(zone: .current) }
    package static let ownName = "local"

    private let zone: TimeZone

    private init(zone: TimeZone) { self.zone = zone }

    /// - Parameter name: a name of the IANA database, such as `America/Toronto`. nil if no zone has that name.
    package init?(zone name: String) {
        guard name.utf8.count <= Self.longestName, let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// A clock that is always `seconds` ahead of UTC.
    package init?(secondsAhead seconds: Int64) {
        guard abs(seconds) <= Self.farthest, let zone = TimeZone(secondsFromGMT: Int(seconds)) else { return nil }
        self.zone = zone
    }

    package static let longestName = 64
    /// No clock of the world is farther from UTC.
    private static let farthest: Int64 = 14 * 3600

    /// Seconds by which the clock is ahead of UTC.
    /// - Parameter moment: seconds since 1970.
    package func secondsAhead(at moment: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment))))
    }

    /// The reading of the clock at a moment, as the date in UTC that has the same text.
    package func reading(at date: ProgramDateTime) -> ProgramDateTime {
        date.advanced(byMilliseconds: 1000 * secondsAhead(at: floorDivide(date.millisecondsSince1970, 1000).quotient))
    }

    /// The moment at which the clock shows the same time of day as at `date`, some days later. A time that the clock skips is
    /// later by what is skipped.
    package func sameTime(as date: ProgramDateTime, daysLater days: Int64) -> ProgramDateTime {
        let length = days * 86_400_000
        let wanted = reading(at: date).advanced(byMilliseconds: length)
        let guess = date.advanced(byMilliseconds: length)
        // The clock may be set in between.
        let corrected = guess.advanced(byMilliseconds: wanted.milliseconds(since: reading(at: guess)))
        return reading(at: corrected) == wanted ? corrected : max(guess, corrected)
    }

    /// The first moment after `date` at which the clock shows a whole multiple of `seconds` since 1970. A multiple that the
    /// clock skips is where it jumps. A multiple shorter than an hour that the clock shows twice counts twice.
    package func multiple(of seconds: Int64, after date: ProgramDateTime) -> ProgramDateTime {
        let length = seconds * 1000
        let local = reading(at: date).millisecondsSince1970
        let next = (floorDivide(local, length).quotient + 1) * length
        let same = date.advanced(byMilliseconds: next - local)
        guard reading(at: same).millisecondsSince1970 % length != 0 else { return same }
        // The clock is set in between.
        let corrected = same.advanced(byMilliseconds: next - reading(at: same).millisecondsSince1970)
        let isReached = corrected > date && reading(at: corrected).millisecondsSince1970 >= next
        return isReached ? corrected : same
    }
}
