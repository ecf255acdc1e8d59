import Testing

@testable import Splice

private let wire: [(when: String, wire: Int64, near: Int64, is: Int64)] = [
    ("no wrap yet", 5_000, 4_000, 5_000),
    ("just past the wrap", 100, (1 << 33) - 100, (1 << 33) + 100),
    ("before a wrap already counted", (1 << 33) - 100, (1 << 33) + 100, (1 << 33) - 100),
    ("two wraps on", 7, (2 << 33) + 9, (2 << 33) + 7),
    ("before zero", (1 << 33) - 1, 0, -1),
]

@Test(arguments: wire.indices)
func ticksUnfold(_ index: Int) {
    let row = wire[index]
    #expect(Ticks(wire: Ticks(row.wire), near: Ticks(row.near)).count == row.is, "\(row.when)")
    #expect(Ticks(row.is).wire.count == row.wire, "\(row.when)")
}

@Test func ticksAreExactDurations() {
    #expect(Ticks(45_000).duration == .milliseconds(500))
    #expect(Ticks(-90_000).duration == .seconds(-1))
    #expect(
        Ticks(Ticks.wrap).duration == Duration(secondsComponent: 95_443, attosecondsComponent: 717_688_888_888_888_888))
}

private let admitted: [(when: String, asked: [(Int64, Int64)], given: [(Int64, Int64)], changed: Int)] = [
    ("clean", [(0, 7200), (3600, 18_000), (7200, 10_800)], [(0, 7200), (3600, 18_000), (7200, 10_800)], 0),
    ("the same decode time twice", [(0, 0), (0, 3600)], [(0, 0), (1, 3600)], 1),
    ("decode time back", [(3600, 3600), (0, 7200)], [(3600, 3600), (3601, 7200)], 1),
    ("shown before decoded", [(6_679_426, 6_391_809)], [(6_679_426, 6_679_426)], 1),
]

@Test(arguments: admitted.indices)
func sanitizerGuardsTheMuxer(_ index: Int) {
    let row = admitted[index]
    var sanitizer = TimestampSanitizer()
    let given = row.asked.map { sanitizer.admit(decode: $0.0, presentation: $0.1, leastOffset: 0) }
    #expect(given.map(\.decode) == row.given.map(\.0) && given.map(\.presentation) == row.given.map(\.1), "\(row.when)")
    #expect(sanitizer.changed == row.changed, "\(row.when)")
}

@Test func datesNeverDisagreeWithDurations() {
    var dates = DateClock(wallClock: 5_000)
    dates.beginRun(at: Ticks(18_000))
    #expect(
        dates.date(at: Ticks(18_000), lasting: Ticks(90_000)) == 5_000, "the wall clock where the upstream is silent")
    dates.note(10_000, at: Ticks(108_000))
    #expect(dates.date(at: Ticks(108_000), lasting: Ticks(90_000)) == 10_000)
    dates.note(10_250, at: Ticks(198_000))
    #expect(dates.date(at: Ticks(198_000), lasting: Ticks(90_000)) == 11_000, "inside a run media time counts")
    dates.beginRun(at: Ticks(288_000))
    dates.note(3_000, at: Ticks(288_000))
    #expect(dates.date(at: Ticks(288_000), lasting: Ticks(90_000)) == 12_000, "never back")
}

@Test func datesGoOnBehindWhatAnEarlierProcessSaid() {
    var dates = DateClock(wallClock: 5_000, end: 9_000)
    dates.beginRun(at: Ticks(18_000))
    #expect(dates.date(at: Ticks(18_000), lasting: Ticks(90_000)) == 9_000, "its timeline ran ahead of the wall")
    var later = DateClock(wallClock: 60_000, end: 9_000)
    later.beginRun(at: Ticks(18_000))
    #expect(later.date(at: Ticks(18_000), lasting: Ticks(90_000)) == 60_000, "the outage shows in the dates")
}
