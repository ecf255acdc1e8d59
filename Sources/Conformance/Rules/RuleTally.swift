import Support

/// How often rules were broken while a channel runs, in all and within the last hour. Its size has a bound: a row for each
/// rule.
package struct RuleTally: Equatable, Sendable {
    /// A rule that was broken.
    package struct Entry: Equatable, Sendable {
        package let rule: Rule
        /// The newest observation, for people: `a splice without a tag`.
        package let text: String
        package let count: Int
        /// Occurrences within the last hour, to the minute.
        package let lastHour: Int
        /// Time since the newest occurrence.
        package let age: Duration
    }

    fileprivate struct Row: Equatable, Sendable {
        var text: String
        var count = 0
        var last = Duration.zero
        var reportedAt: Duration?
        /// Occurrences by minute, modulo an hour.
        var minutes = [Int](repeating: 0, count: RuleTally.minutes)
        /// The newest minute in `minutes`.
        var minute: Int64 = 0
    }

    private static let minutes = 60
    /// A rule that goes on being broken is reported again after that long.
    private static let reportInterval = Duration.seconds(3600)

    private var rows: [Rule: Row] = [:]

    package init() {}

    /// - Returns: the entry, if it is to be reported: the first one of the rule, and the first after an hour.
    package mutating func record(_ rule: Rule, _ text: String, count: Int = 1, at now: Duration) -> Entry? {
        var row = rows[rule] ?? Row(text: text)
        row.text = text
        row.count += count
        row.last = now
        row.advance(to: now)
        row.minutes[Int(row.minute % Int64(Self.minutes))] += count
        let isDue = row.reportedAt.map { now - $0 >= Self.reportInterval } ?? true
        if isDue { row.reportedAt = now }
        rows[rule] = row
        return isDue ? Entry(rule, row, at: now) : nil
    }

    /// In the order of rules.
    package func entries(at now: Duration) -> [Entry] {
        rows.sorted { $0.key < $1.key }.map { Entry($0.key, $0.value, at: now) }
    }
}

extension RuleTally.Row {
    /// Forgets what is older than an hour.
    fileprivate mutating func advance(to now: Duration) {
        let newest = max(minute, now.components.seconds / 60)
        for passed in 0..<min(Int64(minutes.count), newest - minute) {
            minutes[Int((newest - passed) % Int64(minutes.count))] = 0
        }
        minute = newest
    }
}

extension RuleTally.Entry {
    fileprivate init(_ rule: Rule, _ row: RuleTally.Row, at now: Duration) {
        var row = row
        row.advance(to: now)
        self.init(
            rule: rule, text: row.text, count: row.count, lastHour: row.minutes.reduce(0, +), age: now - row.last)
    }
}
