/// Limits the number of attempts for one segment, key or map, and their total duration.
package struct RetryBudget: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case retry(at: Duration)
        case exhausted
    }

    /// The prospect of the next attempt after a failed one.
    package enum Prospect: Equatable, Sendable {
        /// The next attempt may succeed.
        case open
        /// The URL was refused. The next attempt waits for a newer playlist, which may have another URL.
        case newURL
        /// The host asks for fewer requests, which is no failure of the resource.
        case hostLimited
        /// The next attempt would fail the same way.
        case none
    }

    package static let tries = 3
    /// After this many attempts a live window of a few minutes has passed.
    static let hostLimitedTries = 20
    /// Pauses before the second and the third attempt.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1)]
    /// The same pauses if a newer playlist may end them early.
    static let newURLPauses: [Duration] = [.seconds(1), .seconds(4)]

    private let duration: Duration
    private var deadline: Duration
    package private(set) var failures = 0
    private var hostLimitings = 0

    /// - Parameter now: when the first attempt starts.
    package init(targetDuration: Duration, at now: Duration) {
        duration = Self.duration(for: targetDuration)
        deadline = now + duration
    }

    /// Returns how long a resource is tried and a Retry-After honored. A live window is not much longer.
    static func duration(for targetDuration: Duration) -> Duration { max(.seconds(10), targetDuration * 2) }

    /// Records a failed attempt and returns whether another one follows.
    ///
    /// A segment that has left its playlist is not requested again, because the origin may remove it (RFC 8216 §6.2.2).
    ///
    /// - Parameter retryAfter: the delay that the answer asks for. If it exceeds the budget, the last attempt is at the
    ///   budget's end.
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

    /// Restarts the budget. `HostLimiter` decides when the host gets the next request.
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
