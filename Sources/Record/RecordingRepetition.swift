package import Foundation
package import Support

/// How a recording is repeated.
package struct RecordingRepetition: Codable, Equatable, Sendable {
    package enum Rule: String, Codable, Sendable {
        /// At the same time of the next day, or a week later, by the clock of the server.
        case daily, weekly
        /// The next program of the channel with the same title.
        case title
    }

    package let rule: Rule
    /// The title of the program; nil if the recording is no program's.
    package private(set) var title: String?
    private var beforeSeconds: Int64 = 0
    private var afterSeconds: Int64 = 0

    package init(_ rule: Rule) { self.rule = rule }

    /// Records how programs of this title are recorded.
    package mutating func follow(_ title: String, before: Duration, after: Duration) {
        self.title = title
        (beforeSeconds, afterSeconds) = (before.components.seconds, after.components.seconds)
    }

    /// The time recorded before each program.
    package var before: Duration { .seconds(beforeSeconds) }
    /// The time recorded after each program.
    package var after: Duration { .seconds(afterSeconds) }

    /// The first later range that ends after `now`; nil for a title, whose programs the guide knows.
    package func next(
        after range: Range<ProgramDateTime>, at now: ProgramDateTime, in calendar: Calendar = .current
    ) -> Range<ProgramDateTime>? {
        let step: Calendar.Component
        switch rule {
        case .daily: step = .day
        case .weekly: step = .weekOfYear
        case .title: return nil
        }
        let first = Date(timeIntervalSince1970: Double(range.lowerBound.millisecondsSince1970) / 1000)
        let length = range.upperBound.milliseconds(since: range.lowerBound)
        let passed = now.milliseconds(since: range.upperBound) / (rule == .daily ? 86_400_000 : 604_800_000)
        // A day of a clock that is set has 23 or 25 hours, so the first guess may be too early.
        for count in Int(max(1, passed))...Int(max(1, passed)) + 2 {
            guard let date = calendar.date(byAdding: step, value: count, to: first) else { return nil }
            let start = ProgramDateTime(millisecondsSince1970: Int64((date.timeIntervalSince1970 * 1000).rounded()))
            let end = start.advanced(byMilliseconds: length)
            if end > now { return start..<end }
        }
        return nil
    }
}
