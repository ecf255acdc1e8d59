import Foundation
import Support
import Testing

@testable import Record

/// When the next recording of a series is.
@Suite struct RecordingRepetitionTests {
    private typealias Row = (when: String, rule: RecordingRepetition.Rule, start: String, now: String, next: String?)

    private static let rows: [Row] = [
        ("a day later", .daily, "2026-01-02T19:15:00.000Z", "2026-01-02T19:15:00.000Z", "2026-01-03T19:15:00.000Z"),
        ("a week later", .weekly, "2026-01-02T19:15:00.000Z", "2026-01-02T19:15:00.000Z", "2026-01-09T19:15:00.000Z"),
        (
            "at the same time of a clock that is set", .daily, "2026-03-28T19:15:00.000Z", "2026-03-28T19:15:00.000Z",
            "2026-03-29T18:15:00.000Z"
        ),
        (
            "a week in which the clock is set back", .weekly, "2026-10-20T18:15:00.000Z", "2026-10-20T18:15:00.000Z",
            "2026-10-27T19:15:00.000Z"
        ),
        (
            "the server did not run for half a year", .daily, "2026-01-02T19:15:00.000Z", "2026-07-06T19:20:00.000Z",
            "2026-07-07T18:15:00.000Z"
        ),
        (
            "the server did not run for four days", .daily, "2026-01-02T19:15:00.000Z", "2026-01-06T20:00:00.000Z",
            "2026-01-06T19:15:00.000Z"
        ),
        (
            "nor in the last hour", .daily, "2026-01-02T19:15:00.000Z", "2026-01-06T20:15:00.000Z",
            "2026-01-07T19:15:00.000Z"
        ),
        ("the guide knows", .title, "2026-01-02T19:15:00.000Z", "2026-01-02T19:15:00.000Z", nil),
    ]

    @Test(arguments: rows.indices) func next(index: Int) throws {
        let row = Self.rows[index]
        let start = try #require(ProgramDateTime(parsing: row.start))
        let now = try #require(ProgramDateTime(parsing: row.now))
        let clock = try #require(LocalClock(zone: "Europe/Berlin"))
        let next = RecordingRepetition(row.rule).next(
            after: start..<start.advanced(by: .seconds(3600)), at: now, by: clock)
        #expect(next?.lowerBound.text == row.next, "\(row.when)")
        if let next { #expect(next.upperBound.milliseconds(since: next.lowerBound) == 3_600_000) }
    }

    @Test func newestOfASeriesIsNotForgotten() throws {
        var schedule = RecordingSchedule()
        let now = ProgramDateTime(millisecondsSince1970: 1_767_268_800_000)
        let added = try schedule.add(
            channel: "news", name: "News", range: (now, now.advanced(by: .seconds(60))), isKept: false,
            repetition: RecordingRepetition(.daily), at: now)
        schedule.update(added.id) {
            $0.files = .init(base: "news/a")
            $0.state = .done(note: nil)
        }
        schedule.remove(withFiles: ["news/a"])
        #expect(schedule[added.id]?.files == nil && schedule[added.id]?.repetition != nil, "retention took its files")
        let copy = try JSONDecoder().decode(RecordingSchedule.self, from: JSONEncoder().encode(schedule))
        #expect(copy == schedule)
    }
}
