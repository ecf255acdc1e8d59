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
        case newURL
        /// The host wants to be asked less: no failure of the resource.
        case hostLimited
        /// Asked again, it would not go otherwise.
        case none
    }

    package static let tries = 3
    /// A live window of a few minutes has passed by then.
    static let hostLimitedTries = 20
    /// Before the second and before the third try.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1)]
    /// The same, where a newer list ends them early.
    static let newURLPauses: [Duration] = [.seconds(1), .seconds(4)]

    private let duration: Duration
    private var deadline: Duration
    package private(set) var failures = 0
    private var hostLimitings = 0

    /// - Parameter now: when the first try starts.
    package init(targetDuration: Duration, at now: Duration) {
        duration = Self.span(targetDuration)
        deadline = now + duration
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
        if prospect == .hostLimited { return hostLimited(at: now) }
        failures += 1
        guard failures < Self.tries else { return .exhausted }
        let pauses = prospect == .newURL ? Self.newURLPauses : Self.pauses
        let next = now + pauses[failures - 1]
        guard next <= deadline else { return .exhausted }
        guard let retryAfter, now + retryAfter > next else { return .retry(at: next) }
        return .retry(at: min(now + retryAfter, deadline))
    }

    /// The host's pause (`HostLimiter`) decides when it is asked again, and the budget's time begins then.
    private mutating func hostLimited(at now: Duration) -> Verdict {
        hostLimitings += 1
        guard hostLimitings < Self.hostLimitedTries else {
            failures += 1
            return .exhausted
        }
        deadline = max(deadline, now + duration + HostLimiter.longestPause)
        return .retry(at: now)
    }
}
