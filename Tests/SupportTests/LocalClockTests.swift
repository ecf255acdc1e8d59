import Testing

@testable import Support

/// Clocks of people, on days when they are set too.
struct LocalClockTests {
    private static let readings: [(zone: String, date: String, shows: String)] = [
        ("UTC", "2026-07-01T12:00:00Z", "2026-07-01T12:00:00.000Z"),
        ("Europe/Berlin", "2026-07-01T12:00:00Z", "2026-07-01T14:00:00.000Z"),
        ("Asia/Kathmandu", "2026-07-01T12:00:00Z", "2026-07-01T17:45:00.000Z"),
        ("America/St_Johns", "2026-01-01T00:00:00Z", "2025-12-31T20:30:00.000Z"),
        ("Europe/Berlin", "1969-12-31T23:59:59.500Z", "1970-01-01T00:59:59.500Z"),
    ]

    @Test(arguments: readings) func reading(zone: String, date: String, shows: String) throws {
        let clock = try #require(LocalClock(zone: zone))
        #expect(clock.reading(at: try #require(ProgramDateTime(parsing: date))).text == shows)
    }

    private static let hour: Int64 = 3600
    private static let day: Int64 = 86_400

    private static let multiples: [(when: String, zone: String, seconds: Int64, after: String, next: String)] = [
        ("an ordinary day", "Europe/Berlin", day, "2026-07-01T12:00:00Z", "2026-07-01T22:00:00Z"),
        ("midnight itself", "Europe/Berlin", day, "2026-07-01T22:00:00Z", "2026-07-02T22:00:00Z"),
        ("a day of 23 hours", "Europe/Berlin", day, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("a day of 25 hours", "Europe/Berlin", day, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("the hour that occurs twice, first", "Europe/Berlin", hour, "2026-10-25T00:10:00Z", "2026-10-25T01:00:00Z"),
        ("and again", "Europe/Berlin", hour, "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"),
        ("the hour that is skipped", "Europe/Berlin", hour, "2026-03-29T00:10:00Z", "2026-03-29T01:00:00Z"),
        ("six hours around a skipped hour", "Europe/Berlin", 6 * hour, "2026-03-29T00:10:00Z", "2026-03-29T04:00:00Z"),
        ("a quarter of an hour beside UTC", "Asia/Kathmandu", hour, "2026-07-01T12:00:00Z", "2026-07-01T12:15:00Z"),
        ("a midnight that is skipped", "America/Santiago", day, "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"),
        ("a midnight that occurs twice", "America/Santiago", day, "2026-04-04T12:00:00Z", "2026-04-05T04:00:00Z"),
        ("before 1970", "UTC", hour, "1969-12-31T23:30:00Z", "1970-01-01T00:00:00Z"),
    ]

    @Test(arguments: multiples) func multiple(
        when: String, zone: String, seconds: Int64, after: String, next: String
    ) throws {
        let clock = try #require(LocalClock(zone: zone))
        let found = clock.multiple(of: seconds, after: try #require(ProgramDateTime(parsing: after)))
        #expect(found == ProgramDateTime(parsing: next), "\(when): \(found.text)")
    }

    private static let days: [(when: String, zone: String, from: String, days: Int64, to: String)] = [
        ("an ordinary day", "Europe/Berlin", "2026-07-01T12:00:00Z", 1, "2026-07-02T12:00:00Z"),
        ("a day of 23 hours", "Europe/Berlin", "2026-03-28T12:00:00Z", 1, "2026-03-29T11:00:00Z"),
        ("a day of 25 hours", "Europe/Berlin", "2026-10-24T12:00:00Z", 1, "2026-10-25T13:00:00Z"),
        ("a time that is skipped", "Europe/Berlin", "2026-03-28T01:30:00Z", 1, "2026-03-29T01:30:00Z"),
        ("the day after that", "Europe/Berlin", "2026-03-28T01:30:00Z", 2, "2026-03-30T00:30:00Z"),
        ("a time that occurs twice", "Europe/Berlin", "2026-10-24T00:30:00Z", 1, "2026-10-25T00:30:00Z"),
        ("a week", "America/Santiago", "2026-09-03T12:00:00Z", 7, "2026-09-10T11:00:00Z"),
        ("UTC", "UTC", "2026-03-28T12:00:00Z", 1, "2026-03-29T12:00:00Z"),
    ]

    @Test(arguments: days) func sameTime(when: String, zone: String, from: String, days: Int64, to: String) throws {
        let clock = try #require(LocalClock(zone: zone))
        let found = clock.sameTime(as: try #require(ProgramDateTime(parsing: from)), daysLater: days)
        #expect(found == ProgramDateTime(parsing: to), "\(when): \(found.text)")
    }

    @Test func unknownZone() {
        for name in ["", "Europe/Nowhere", String(repeating: "a", count: 65)] {
            #expect(LocalClock(zone: name) == nil, "\(name)")
        }
    }
}
