/// When a recording without an end continues in another file.
package enum RecordingSplit: Hashable, Sendable {
    case never
    /// At whole multiples of `seconds`, which are more than 0, of the recording's clock.
    case every(seconds: Int64)
    /// Where a program of the guide ends.
    case program

    package static let day = RecordingSplit.every(seconds: 86_400)

    /// - Parameter word: `never`, `day` or `programme`.
    package init?(word: String) {
        switch word {
        case "never": self = .never
        case "day": self = .day
        case "programme": self = .program
        default: return nil
        }
    }

    /// The first moment after `date` at which another file begins; nil for `never`, and for `program`, which depends on
    /// the guide.
    package func boundary(after date: ProgramDateTime, by clock: LocalClock = .utc) -> ProgramDateTime? {
        guard case .every(let seconds) = self else { return nil }
        return clock.multiple(of: seconds, after: date)
    }
}
