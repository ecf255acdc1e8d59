import Foundation
import TestSupport
import Testing

@testable import Support

private let readRows: [(when: String, text: String, written: String?)] = [
    ("Z", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
    ("east of Greenwich, colon", "2026-01-02T03:04:05.678+01:00", "2026-01-02T02:04:05.678Z"),
    ("east of Greenwich, no colon", "2026-01-02T03:04:05.678+0130", "2026-01-02T01:34:05.678Z"),
    ("west, hours only, over the end of a year", "2025-12-31T20:00:00-05", "2026-01-01T01:00:00.000Z"),
    ("no zone is UTC", "2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"),
    ("one fraction digit", "2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.600Z"),
    ("nine fraction digits, cut off", "2026-01-02T03:04:05.678999999Z", "2026-01-02T03:04:05.678Z"),
    ("a comma before the fraction", "2026-01-02T03:04:05,67Z", "2026-01-02T03:04:05.670Z"),
    ("a space for T, small z", "2026-01-02 03:04:05z", "2026-01-02T03:04:05.000Z"),
    ("leap day", "2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"),
    ("leap day of a century that has one", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
    ("leap second", "2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
    ("before 1970", "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
    ("before the year 0, by its zone", "0000-01-01T00:00:00+01:00", "0000-01-01T00:00:00.000Z"),
    ("after 9999, by its zone", "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59.999Z"),
    ("no leap day in 2026", "2026-02-29T00:00:00Z", nil),
    ("no leap day in 1900", "1900-02-29T00:00:00Z", nil),
    ("month 13", "2026-13-01T00:00:00Z", nil),
    ("day 0", "2026-01-00T00:00:00Z", nil),
    ("the end of a year", "2026-12-31T24:00:00Z", "2027-01-01T00:00:00.000Z"),
    ("a minute after the end of a day", "2026-01-01T24:01:00Z", nil),
    ("a moment after the end of a day", "2026-01-01T24:00:00.001Z", nil),
    ("hour 25", "2026-01-01T25:00:00Z", nil),
    ("minute 60", "2026-01-01T00:60:00Z", nil),
    ("a date alone", "2026-01-02", nil),
    ("a point without digits", "2026-01-02T03:04:05.Z", nil),
    ("something after the zone", "2026-01-02T03:04:05Zulu", nil),
    ("a zone by name", "2026-01-02T03:04:05 CET", nil),
    ("nothing", "", nil),
]

@Test(arguments: readRows)
func dateTimesSeenInPractice(when: String, text: String, written: String?) {
    #expect(ProgramDateTime(parsing: text)?.text == written, "\(when)")
}

/// Foundation has an independent calendar.
@Test func calendarAgreesWithFoundation() throws {
    let foundation = ISO8601DateFormatter()
    foundation.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    var random = SeededGenerator(seed: 2)
    // From 1600, after which Foundation's calendar is Gregorian throughout, to 9999.
    for _ in 0..<3000 {
        let milliseconds = Int64.random(in: -11_676_096_000_000..<253_402_300_800_000, using: &random)
        let date = ProgramDateTime(millisecondsSince1970: milliseconds)
        let expected = try #require(foundation.date(from: date.text))
        #expect(Int64((expected.timeIntervalSince1970 * 1000).rounded()) == milliseconds)
        #expect(ProgramDateTime(parsing: date.text) == date)
    }
}

@Test func advancingTruncatesToMilliseconds() {
    let start = ProgramDateTime(millisecondsSince1970: 1000)
    #expect(start.advanced(by: .microseconds(6_006_900)).millisecondsSince1970 == 7006)
    #expect(start.advanced(by: .milliseconds(-1500)).millisecondsSince1970 == -500)
}

/// A segment of a DASH manifest may last 2⁶⁰ s.
@Test(arguments: [1, -1] as [Int64]) func advancingBeyondAllTimesDoesNotTrap(sign: Int64) {
    let start = ProgramDateTime(millisecondsSince1970: sign * 1000)
    let longest = Duration.seconds(sign << 60)
    #expect(start.advanced(by: longest) == start)
    #expect(longest.wholeMilliseconds == (sign > 0 ? .max : .min))
    #expect(longest.wholeMicroseconds == (sign > 0 ? .max : .min))
}
