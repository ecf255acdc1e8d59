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
        after range: Range<ProgramDateTime>, at now: ProgramDateTime, by clock: LocalClock = .own
    ) -> Range<ProgramDateTime>? {
        let days: Int64
        switch rule {
        case .daily: days = 1
        case .weekly: days = 7
        case .title: return nil
        }
        let length = range.upperBound.milliseconds(since: range.lowerBound)
        var count = max(1, now.milliseconds(since: range.upperBound) / (days * 86_400_000))
        // A day of a clock that is set has 23 or 25 hours, so the first guess may be too early.
        while true {
            let start = clock.sameTime(as: range.lowerBound, daysLater: count * days)
            let end = start.advanced(byMilliseconds: length)
            if end > now { return start..<end }
            count += 1
        }
    }
}
