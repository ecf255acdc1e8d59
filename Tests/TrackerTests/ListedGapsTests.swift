import Testing

@testable import Tracker

private struct GapsRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Seconds of gaps that were listed, and of silence.
    let gaps: Int
    let silence: Int
    /// Segments of 2 s that the upstream lists then.
    let listed: Int
    /// How many of them are late.
    let late: Int
}

/// ListedGaps, with a target duration of 2 s.
private let gapsRows = [
    GapsRow(testDescription: "no gap was listed", gaps: 0, silence: 4, listed: 2, late: 0),
    GapsRow(
        testDescription: "a list that stood still lists all of the silence", gaps: 6, silence: 12, listed: 6, late: 3),
    GapsRow(testDescription: "it lists one segment less", gaps: 6, silence: 12, listed: 5, late: 3),
    GapsRow(testDescription: "an encoder that paused lists one segment", gaps: 6, silence: 12, listed: 1, late: 0),
    GapsRow(
        testDescription: "two gaps, all of the silence: players still play", gaps: 4, silence: 10, listed: 5, late: 0),
    GapsRow(testDescription: "three gaps, and an encoder that paused", gaps: 6, silence: 10, listed: 1, late: 0),
]

@Test(arguments: gapsRows) private func segmentsWhoseTimeWasListedAreLate(row: GapsRow) {
    var gaps = ListedGaps()
    gaps.recordDelivery(at: .seconds(100))
    if row.gaps > 0 { gaps.recordGap(.seconds(row.gaps)) }
    var (late, listed) = (0, row.listed)
    while listed > 0,
        gaps.isLate(
            .seconds(2), listed: .seconds(2 * listed), targetDuration: .seconds(2), at: .seconds(100 + row.silence))
    {
        gaps.recordLoss(.seconds(2))
        (late, listed) = (late + 1, listed - 1)
    }
    #expect(late == row.late)
}

@Test func segmentsThatLeftTheListCountAsItsTime() {
    var gaps = ListedGaps()
    gaps.recordDelivery(at: .zero)
    gaps.recordGap(.seconds(6))
    gaps.recordLoss(.seconds(4))
    #expect(gaps.isLate(.seconds(2), listed: .seconds(8), targetDuration: .seconds(2), at: .seconds(12)))
    gaps.recordLoss(.seconds(2))
    #expect(!gaps.isLate(.seconds(2), listed: .seconds(6), targetDuration: .seconds(2), at: .seconds(12)))
}

@Test(arguments: [(0, true), (5, true), (6, false), (-3, false), (200, true)])
func datesTellWhichSegmentsAreLate(offset: Int, isLate: Bool) {
    var gaps = ListedGaps()
    gaps.recordDelivery(at: .zero)
    gaps.recordGap(.seconds(6))
    let isFound = gaps.isLate(
        .seconds(2), offset: .seconds(offset), listed: .seconds(offset < 0 ? 2 : 12), targetDuration: .seconds(2),
        at: .seconds(12))
    #expect(isFound == isLate, "dates of another clock, 200 s apart, do not count")
}

@Test func nothingIsLateBeforeTheFirstDelivery() {
    var gaps = ListedGaps()
    gaps.recordGap(.seconds(6))
    #expect(!gaps.isLate(.seconds(2), listed: .seconds(8), targetDuration: .seconds(2), at: .seconds(8)))
}
