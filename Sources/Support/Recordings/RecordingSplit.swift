/// When a recording without an end continues in another file.
package enum RecordingSplit: Hashable, Sendable {
    case never
    /// At whole multiples of `seconds` in UTC; more than 0.
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
    package func boundary(after date: ProgramDateTime) -> ProgramDateTime? {
        guard case .every(let seconds) = self else { return nil }
        let length = seconds * 1000
        let past = date.millisecondsSince1970 % length
        return date.advanced(byMilliseconds: length - (past < 0 ? past + length : past))
    }
}
