package import Fetch

/// Decides when a segment, key or map is requested again after failed attempts.
///
/// There is no last attempt. `SegmentPatience` decides when a segment is lost.
package struct RetrySchedule: Equatable, Sendable {
    package enum Prospect: Equatable, Sendable {
        case open
        /// The URL was refused. A newer playlist may have another URL, which ends the pause.
        case newURL
        /// The host asks for fewer requests, which is no failure of the resource. `HostLimiter` knows the pause.
        case hostLimited
        /// The next attempt would fail the same way.
        case none
    }

    /// The pause after the first failure. Each further pause is twice as long, up to the longest.
    static let firstPause = Duration.milliseconds(200)
    static let longestPause = Duration.seconds(1)
    /// The longest Retry-After that is honored. After a longer one the live window would be gone.
    static let longestRetryAfter = Duration.seconds(30)
    /// The range of the random factor of a pause, in percent, so that relays of one origin do not retry in step.
    private static let jitter: Range<UInt64> = 85..<116

    /// Failed attempts so far, without those that a rate limit refused.
    package private(set) var failures = 0
    private(set) var firstFailureAt: Duration?
    private(set) var lastFailure: FetchFailure?
    /// Requests in a row that were silent for too long.
    private(set) var timeouts = 0
    /// The pause that the last failed answer asked for, even if it is longer than what is honored.
    private(set) var retryAfter = Duration.zero
    /// The time before which the host asks not to be requested; zero if it did not ask.
    private(set) var retryAfterEnd = Duration.zero
    private var random: UInt64

    package init(seed: UInt64) { random = seed }

    /// Whether the last answer says that the resource is not there for this client.
    var isRefused: Bool {
        guard case .refused(let status) = lastFailure else { return false }
        return [401, 403, 404, 410].contains(status)
    }

    /// Records a failed attempt. Returns when the next one starts; nil if it would fail the same way.
    package mutating func failed(
        _ failure: FetchFailure, retryAfter: Duration? = nil, at now: Duration
    ) -> Duration? {
        lastFailure = failure
        firstFailureAt = firstFailureAt ?? now
        if failure.prospect == .hostLimited { return now }
        failures += 1
        timeouts = failure == .unreachable(.timedOut) ? timeouts + 1 : 0
        self.retryAfter = retryAfter ?? .zero
        retryAfterEnd = now + min(self.retryAfter, Self.longestRetryAfter)
        return failure.prospect == .none ? nil : max(now + nextPause(), retryAfterEnd)
    }

    private mutating func nextPause() -> Duration {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407  // Knuth, MMIX
        let percent = Self.jitter.lowerBound + (random >> 33) % UInt64(Self.jitter.count)
        let pause = failures > 8 ? Self.longestPause : Self.firstPause * (1 << (failures - 1))
        return min(pause, Self.longestPause) * Int(percent) / 100
    }
}

struct FailedAttempt: Equatable, Sendable {
    let failure: FetchFailure
    /// Failed attempts so far, including this one.
    let failures: Int
    /// Whether no further attempt follows.
    let isLast: Bool
}

// MARK: - Consequences of a failed attempt

extension FetchFailure {
    var prospect: RetrySchedule.Prospect {
        switch self {
        case .refused(let status) where status.isRateLimitStatus: .hostLimited
        case .refused(status: 401), .refused(status: 403), .refused(status: 410): .newURL
        case .unreachable(let reason, _) where reason.isFinal: .none
        case .refused, .unreachable, .notMedia, .empty, .shortRange, .wrongRange, .truncated, .tooShort: .open
        }
    }

    /// The reason for which the segment is lost if no attempt follows.
    var lossReason: SegmentLoss.Reason {
        switch self {
        case .notMedia, .empty: .notMedia
        case .refused, .unreachable, .shortRange, .wrongRange, .truncated, .tooShort: .unavailable(self)
        }
    }
}

extension FetchRequest {
    /// The reason for which a segment is lost that needs this key or map.
    func lossReason(_ failure: FetchFailure?) -> SegmentLoss.Reason {
        purpose == .key ? .keyUnavailable(url: url, failure) : .unavailable(failure)
    }
}
