import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

private let wire: [(when: String, wire: Int64, near: Int64, is: Int64)] = [
    ("no wrap yet", 5_000, 4_000, 5_000),
    ("just past the wrap", 100, (1 << 33) - 100, (1 << 33) + 100),
    ("before a wrap already counted", (1 << 33) - 100, (1 << 33) + 100, (1 << 33) - 100),
    ("two wraps on", 7, (2 << 33) + 9, (2 << 33) + 7),
    ("before zero", (1 << 33) - 1, 0, -1),
]

@Test(arguments: wire.indices)
func ticksUnwrap(_ index: Int) {
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

private let admitted: [(when: String, input: [(Int64, Int64)], output: [(Int64, Int64)], changed: Int)] = [
    ("clean", [(0, 7200), (3600, 18_000), (7200, 10_800)], [(0, 7200), (3600, 18_000), (7200, 10_800)], 0),
    ("the same decode time twice", [(0, 0), (0, 3600)], [(0, 0), (1, 3600)], 1),
    ("decode time steps back", [(3600, 3600), (0, 7200)], [(3600, 3600), (3601, 7200)], 1),
    ("presented before decoded", [(6_679_426, 6_391_809)], [(6_679_426, 6_679_426)], 1),
]

@Test(arguments: admitted.indices)
func sanitizerGuardsTheMuxer(_ index: Int) {
    let row = admitted[index]
    var sanitizer = TimestampSanitizer()
    let output = row.input.map { sanitizer.admit(decode: $0.0, presentation: $0.1, leastOffset: 0) }
    #expect(
        output.map(\.decode) == row.output.map(\.0) && output.map(\.presentation) == row.output.map(\.1), "\(row.when)")
    #expect(sanitizer.counts[.adjustedTimestamps] == row.changed, "\(row.when)")
}

@Test func datesNeverDisagreeWithDurations() {
    var dates = ProgramDateTimeClock(wallClock: 5_000)
    dates.beginPeriod(at: Ticks(18_000))
    #expect(
        dates.stamp(from: Ticks(18_000), duration: Ticks(90_000)) == 5_000,
        "the wall clock where the upstream has no dates")
    dates.record(10_000, at: Ticks(108_000))
    #expect(dates.stamp(from: Ticks(108_000), duration: Ticks(90_000)) == 6_000, "too far inside a period")
    #expect(dates.counts[.ignoredProgramDateTimes] == 1)
    dates.beginPeriod(at: Ticks(198_000))
    dates.record(11_000, at: Ticks(198_000))
    #expect(dates.stamp(from: Ticks(198_000), duration: Ticks(90_000)) == 11_000)
    dates.beginPeriod(at: Ticks(288_000))
    dates.record(3_000, at: Ticks(288_000))
    #expect(dates.stamp(from: Ticks(288_000), duration: Ticks(90_000)) == 12_000, "dates never go back")
    #expect(dates.date(of: Ticks(378_000)) == 13_000)
}

/// Segments of 6 s in one period: dates of the upstream, and dates published.
private let dateRows: [(when: String, upstream: [Int64?], published: [Int64])] = [
    ("every segment dated exactly", [0, 6_000, 12_000], [0, 6_000, 12_000]),
    ("only the first dated", [500, nil, nil], [500, 6_500, 12_500]),
    ("only some dated", [500, nil, 12_500], [500, 6_500, 12_500]),
    ("dates that follow rounded EXTINF values", [0, 5_960, 12_040], [0, 6_000, 12_000]),
    ("a clock that runs ahead of the media", [0, 6_150, 12_300], [0, 6_150, 12_300]),
    ("a clock that falls behind the media", [0, 5_850, 11_700], [0, 6_000, 12_000]),
    ("a jump forward", [0, 60_000, 66_000], [0, 6_000, 12_000]),
    ("a jump back", [60_000, 0, 6_000], [60_000, 66_000, 72_000]),
    ("first date on the second segment", [nil, 6_500, 12_500], [0, 6_500, 12_500]),
    ("first date on the second segment, far away", [nil, 60_000, 66_000], [0, 6_000, 12_000]),
]

@Test(arguments: dateRows)
func datesInsideAPeriod(when: String, upstream: [Int64?], published: [Int64]) {
    var dates = ProgramDateTimeClock(wallClock: 0)
    dates.beginPeriod(at: .zero)
    let dated = upstream.enumerated().map { index, date in
        let time = Ticks.seconds(6 * Int64(index))
        if let date { dates.record(date, at: time) }
        return dates.stamp(from: time, duration: .seconds(6))
    }
    #expect(dated == published, "\(when)")
}

/// The second of three periods of 6 s: media lost before it, the end of what others published meanwhile, the upstream's
/// date, and the date published.
private let lossRows: [(when: String, lost: Ticks, filledUntil: Int64?, upstream: Int64?, published: Int64)] = [
    ("nothing lost", .zero, nil, nil, 6_000),
    ("9 s lost", .seconds(9), nil, nil, 15_000),
    ("9 s lost, 5 s of them filled by gaps", .seconds(9), 11_000, nil, 15_000),
    ("9 s lost, and more filled by gaps", .seconds(9), 18_000, nil, 18_000),
    ("gaps for media that was late, not lost", .zero, 11_000, nil, 11_000),
    ("an upstream with dates counts less", .seconds(9), nil, 8_000, 8_000),
    ("an upstream with dates counts more", .seconds(9), nil, 60_000, 60_000),
    ("dates of the upstream go back", .seconds(9), nil, 0, 6_000),
]

@Test(arguments: lossRows)
func lostMediaAdvancesDatesOnce(when: String, lost: Ticks, filledUntil: Int64?, upstream: Int64?, published: Int64) {
    var dates = ProgramDateTimeClock(wallClock: 0)
    dates.beginPeriod(at: .zero, lostBefore: .seconds(60))
    #expect(dates.stamp(from: .zero, duration: .seconds(6)) == 0, "the wall clock knows what was lost before: \(when)")
    if let filledUntil { dates.resume(datedUntil: filledUntil) }
    dates.beginPeriod(at: .seconds(6), lostBefore: .seconds(60) + lost)
    if let upstream { dates.record(upstream, at: .seconds(6)) }
    #expect(dates.stamp(from: .seconds(6), duration: .seconds(6)) == published, "\(when)")
    dates.beginPeriod(at: .seconds(12), lostBefore: .seconds(60) + lost)
    #expect(dates.stamp(from: .seconds(12), duration: .seconds(6)) == published + 6_000, "\(when)")
}

@Test func datesContinueAfterAnEarlierProcess() {
    var dates = ProgramDateTimeClock(wallClock: 5_000, end: 9_000)
    dates.beginPeriod(at: Ticks(18_000))
    #expect(
        dates.stamp(from: Ticks(18_000), duration: Ticks(90_000)) == 9_000, "the timeline ran ahead of the wall clock")
    var later = ProgramDateTimeClock(wallClock: 60_000, end: 9_000)
    later.beginPeriod(at: Ticks(18_000))
    #expect(later.stamp(from: Ticks(18_000), duration: Ticks(90_000)) == 60_000, "the outage appears in the dates")
}
