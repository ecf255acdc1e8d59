import Support
import Testing

@testable import Conformance

/// Breaches of rules while a channel runs.
@Suite struct RuleTallyTests {
    @Test func firstBreachIsReportedAndThenOneAnHour() {
        var tally = RuleTally()
        var reported: [Int] = []
        for minute in 0..<200 {
            let entry = tally.record(.untaggedSplice, "a splice without a tag", at: .seconds(60 * minute))
            if let entry { reported.append(entry.count) }
        }
        #expect(reported == [1, 61, 121, 181])
        #expect(tally.record(.keys, "a key", at: .seconds(12_000))?.rule == .keys)
    }

    private static let rows: [(when: String, seconds: [Int], now: Int, lastHour: Int)] = [
        ("within an hour", [0, 60, 3500], 3500, 3),
        ("the first is older than an hour", [0, 60, 3500], 3605, 2),
        ("all are", [0, 60, 3500], 9000, 0),
        ("a day of silence", [0], 86_400, 0),
        ("a minute that comes round again", [30, 3630], 3630, 1),
    ]

    @Test(arguments: rows.indices) func lastHourIsCounted(_ index: Int) throws {
        let row = Self.rows[index]
        var tally = RuleTally()
        for second in row.seconds { _ = tally.record(.untaggedSplice, "", at: .seconds(second)) }
        let entry = try #require(tally.entries(at: .seconds(row.now)).first)
        #expect(entry.lastHour == row.lastHour && entry.count == row.seconds.count, "\(row.when)")
        #expect(entry.age == .seconds(row.now - (row.seconds.last ?? 0)))
    }

    @Test func entriesAreInTheOrderOfRules() {
        var tally = RuleTally()
        for rule in [Rule.keys, .playlistHeader, .transfers] { _ = tally.record(rule, "", count: 2, at: .zero) }
        #expect(tally.entries(at: .zero).map(\.rule) == [.playlistHeader, .keys, .transfers])
        #expect(tally.entries(at: .zero).allSatisfy { $0.count == 2 })
    }
}
