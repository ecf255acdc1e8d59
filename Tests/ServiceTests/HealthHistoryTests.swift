import Testing

@testable import Service

/// What the strips of the page show.
@Suite struct HealthHistoryTests {
    private static func text(_ records: [(seconds: Int, health: ChannelHealth)], at seconds: Int) -> String {
        var history = HealthHistory()
        for record in records { history.record(["a": record.health], at: .seconds(record.seconds)) }
        return history.texts(at: .seconds(seconds)) { _ in true }["a"] ?? ""
    }

    private static let rows: [(when: String, records: [(Int, ChannelHealth)], at: Int, end: String)] = [
        ("it began to run", [(0, .live)], 0, "01"),
        ("the worst of five minutes counts", [(0, .live), (100, .outage), (200, .late)], 299, "03"),
        ("the next five minutes begin anew", [(0, .outage), (300, .live)], 300, "031"),
        ("it did not run in between", [(0, .live), (900, .failed)], 900, "01004"),
        ("it has stopped", [(0, .live)], 900, "01000"),
        ("a day later nothing is left", [(0, .live)], 288 * 300, "000"),
        ("the last five minutes of the day", [(0, .live)], 287 * 300, "000"),
        ("old cells are used again", [(0, .failed), (288 * 300, .live)], 288 * 300, "0001"),
    ]

    @Test(arguments: rows.indices) func strip(index: Int) {
        let row = Self.rows[index]
        let text = Self.text(row.records.map { (seconds: $0.0, health: $0.1) }, at: row.at)
        #expect(text.count == HealthHistory.cellCount || text.isEmpty, "\(row.when)")
        #expect(text.isEmpty || text.hasSuffix(row.end), "\(row.when): \(text.suffix(8))")
    }

    @Test func channelsAreThoseOfTheList() {
        var history = HealthHistory()
        history.record(["a": .live, "b": .live], at: .zero)
        #expect(history.texts(at: .zero) { $0 == "b" }.keys.sorted() == ["b"])
        history.record(["a": .live], at: .seconds(289 * 300))
        #expect(history.texts(at: .seconds(289 * 300)) { _ in true }.keys.sorted() == ["a"], "a day without a run")
    }
}
