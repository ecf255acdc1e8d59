import Playlist
import Support
import Testing

@testable import LiveRing

/// The date range of a time in which no process published.
@Suite struct AbsenceTests {
    private static let rows: [(when: String, seconds: Int64, isNamed: Bool)] = [
        ("a restart", 59, false), ("the clock was set back", -600, false), ("a minute", 60, true),
    ]

    @Test(arguments: rows.indices) func range(index: Int) {
        let (when, seconds, isNamed) = Self.rows[index]
        let start = ProgramDateTime(millisecondsSince1970: 1_767_268_800_000)
        let range = DateRange(absenceFrom: start, to: start.advanced(by: .seconds(seconds)))
        #expect((range != nil) == isNamed, "\(when)")
        guard let range else { return }
        #expect(range.id == "absence-1767268800000" && range.className == "liverelay.absence")
        #expect(range.startDate == start && range.endDate == start.advanced(by: .seconds(seconds)))
        #expect(!range.isAdBreak && !range.isFoundBreak, "ads are not looked for in it")
    }
}
