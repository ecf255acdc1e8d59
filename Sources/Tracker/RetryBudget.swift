/// How often and for how long one segment, key or map is tried.
package struct RetryBudget: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case retry(at: Duration)
        case exhausted
    }

    package static let tries = 3
    /// Before the second and before the third try.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1)]

    private let deadline: Duration
    package private(set) var failures = 0

    /// - Parameter now: when the first try starts.
    package init(targetDuration: Duration, at now: Duration) {
        deadline = now + max(.seconds(10), targetDuration * 2)
    }

    /// A try failed. What has left its playlist is not asked for again: the origin may remove it (RFC 8216 §6.2.2).
    package mutating func failed(isListed: Bool, at now: Duration) -> Verdict {
        failures += 1
        guard failures < Self.tries, isListed else { return .exhausted }
        let next = now + Self.pauses[failures - 1]
        return next <= deadline ? .retry(at: next) : .exhausted
    }
}
