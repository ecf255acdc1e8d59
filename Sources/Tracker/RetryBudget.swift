/// How often and for how long one segment, key or map is tried.
package struct RetryBudget: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case retry(at: Duration)
        case exhausted
    }

    /// What a failed try lets one expect of the next.
    package enum Prospect: Equatable, Sendable {
        /// It may go well by itself.
        case open
        /// The address is what is refused: the next try waits for a newer list, which may have another one.
        case freshAddress
        /// The host wants to be asked less: no failure of the resource.
        case metered
        /// Asked again, it would not go otherwise.
        case none
    }

    package static let tries = 3
    /// A live window of a few minutes has passed by then.
    static let meteredTries = 20
    /// Before the second and before the third try.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1)]
    /// The same, where a newer list ends them early.
    static let addressPauses: [Duration] = [.seconds(1), .seconds(4)]

    private let span: Duration
    private var deadline: Duration
    package private(set) var failures = 0
    private var meterings = 0

    /// - Parameter now: when the first try starts.
    package init(targetDuration: Duration, at now: Duration) {
        span = Self.span(targetDuration)
        deadline = now + span
    }

    /// How long a resource is tried, and a Retry-After honoured: a live window is not much longer.
    static func span(_ targetDuration: Duration) -> Duration { max(.seconds(10), targetDuration * 2) }

    /// A try failed. What has left its playlist is not asked for again: the origin may remove it (RFC 8216 §6.2.2).
    ///
    /// - Parameter retryAfter: as the answer says; where it is later than the budget's end, the last try is made then.
    package mutating func failed(
        _ prospect: Prospect = .open, retryAfter: Duration? = nil, isListed: Bool, at now: Duration
    ) -> Verdict {
        guard isListed, prospect != .none else {
            failures += 1
            return .exhausted
        }
        if prospect == .metered { return metered(at: now) }
        failures += 1
        guard failures < Self.tries else { return .exhausted }
        let pauses = prospect == .freshAddress ? Self.addressPauses : Self.pauses
        let next = now + pauses[failures - 1]
        guard next <= deadline else { return .exhausted }
        guard let retryAfter, now + retryAfter > next else { return .retry(at: next) }
        return .retry(at: min(now + retryAfter, deadline))
    }

    /// The host's pause (`HostGate`) decides when it is asked again, and the budget's time begins then.
    private mutating func metered(at now: Duration) -> Verdict {
        meterings += 1
        guard meterings < Self.meteredTries else {
            failures += 1
            return .exhausted
        }
        deadline = max(deadline, now + span + HostGate.longestPause)
        return .retry(at: now)
    }
}
