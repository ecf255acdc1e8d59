import Support

/// Limits the requests to each host, as the operator configured and as the host itself asks.
///
/// A host that answers 429 (RFC 6585 §4) or 509 gets no request for as long as it asks. After that it gets one request
/// at a time, until a minute has passed without another such answer. Hosts are distinguished by name. A request counts
/// for the host in its URL and for the host to which that host redirected its last request.
package struct HostLimiter: Sendable {
    package enum Change: Equatable, Sendable {
        /// A host asked for fewer requests, and gets no request for `pause`.
        case limited(host: String, status: Int, pause: Duration)
        /// The limit of a host ended after `answers` that asked for it.
        case ended(host: String, answers: Int)
    }

    /// The longest pause that a host may ask for. A longer pause would exceed the live window.
    package static let longestPause = Duration.seconds(30)
    /// The time without another refusal after which a host's limit ends.
    package static let rateLimitDuration = Duration.seconds(60)
    /// The number of hosts remembered, because an upstream may name any number of them.
    package static let maxRememberedHosts = 64

    /// Requests per host at once; nil: no limit.
    package let maxConnections: Int?
    /// Whether all hosts count as one, as those of an account do.
    private let countsAllHosts: Bool
    private var inFlight: [FetchID: [String]] = [:]
    /// For each redirecting host, the host that answered last.
    private var redirections: [String: String] = [:]
    private var rateLimits: [String: RateLimit] = [:]
    /// Answers of all hosts that asked for fewer requests.
    package private(set) var rateLimitedAnswers = 0

    package init(maxConnections: Int?, countsAllHosts: Bool = false) {
        self.maxConnections = maxConnections
        self.countsAllHosts = countsAllHosts
    }

    /// Whether a request may have to wait for the end of another one.
    package var isLimiting: Bool { maxConnections != nil || !rateLimits.isEmpty }

    package func admits(_ url: String, at now: Duration) -> Bool {
        guard isLimiting else { return true }
        if countsAllHosts, let maxConnections, inFlight.count >= maxConnections { return false }
        return hosts(of: url).allSatisfy { host in
            let rateLimit = rateLimits[host]
            if let rateLimit, now < rateLimit.pauseEnd { return false }
            guard let limit = rateLimit == nil ? maxConnections : 1 else { return true }
            return inFlight.values.count { $0.contains(host) } < limit
        }
    }

    package mutating func began(_ id: FetchID, _ url: String) { inFlight[id] = hosts(of: url) }

    package mutating func canceled(_ id: FetchID) { inFlight[id] = nil }

    /// Records the end of a request. Returns the limit of the host that answered, if that limit is new.
    package mutating func ended(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) -> Change? {
        guard let requested = inFlight.removeValue(forKey: id)?.first, case .success(let answer) = outcome else {
            return nil
        }
        let host = Self.host(of: answer.finalURL)
        recordRedirect(from: requested, to: host)
        guard answer.status.isRateLimitStatus else { return nil }
        rateLimitedAnswers += 1
        let isNew = rateLimits[host] == nil
        if isNew, rateLimits.count >= Self.maxRememberedHosts { removeOldest() }
        var rateLimit = rateLimits[host] ?? RateLimit(pauseEnd: now, lastAt: now)
        rateLimit.recordRefusal(retryAfter: answer.retryAfter, at: now)
        rateLimits[host] = rateLimit
        return isNew ? .limited(host: host, status: answer.status, pause: rateLimit.pauseEnd - now) : nil
    }

    /// Ends the limits that have expired by `now`, in the order of the hosts' names.
    package mutating func endExpiredLimits(at now: Duration) -> [Change] {
        let expired = rateLimits.filter { now >= $0.value.endsAt }.sorted { $0.key < $1.key }
        for (host, _) in expired { rateLimits[host] = nil }
        return expired.map { .ended(host: $0.key, answers: $0.value.answers) }
    }

    /// The next time at which a pause or a limit ends.
    package func nextDeadline(after now: Duration) -> Duration? {
        rateLimits.values.map { $0.pauseEnd > now ? $0.pauseEnd : $0.endsAt }.min()
    }

    private func hosts(of url: String) -> [String] {
        let requested = Self.host(of: url)
        return [requested] + [redirections[requested]].compactMap { $0 }
    }

    private mutating func recordRedirect(from requested: String, to host: String) {
        if redirections.count >= Self.maxRememberedHosts { redirections = [:] }
        redirections[requested] = host == requested ? nil : host
    }

    private mutating func removeOldest() {
        guard let oldest = rateLimits.min(by: { ($0.value.lastAt, $0.key) < ($1.value.lastAt, $1.key) }) else { return }
        rateLimits[oldest.key] = nil
    }

    /// Returns the host of a URL. A URL without a host is refused before any connection is made.
    private static func host(of url: String) -> String { URIReference.host(of: url) ?? "" }

    private struct RateLimit: Sendable {
        /// The host gets no request before this time.
        var pauseEnd: Duration
        var lastAt: Duration
        var answers = 0
        var backoff = Backoff()

        var endsAt: Duration { lastAt + HostLimiter.rateLimitDuration }

        /// Extends the pause, unless the refused request was made before the current pause began.
        mutating func recordRefusal(retryAfter pause: Duration?, at now: Duration) {
            answers += 1
            lastAt = now
            guard now >= pauseEnd else { return }
            pauseEnd = now + max(min(pause ?? .zero, HostLimiter.longestPause), backoff.next())
        }
    }

    /// The hosts that are limited now, in the order of their names.
    package var limitedHosts: [RateLimitedHost] {
        rateLimits.sorted { $0.key < $1.key }.map { host, rateLimit in
            RateLimitedHost(name: host, answers: rateLimit.answers, pauseEnd: rateLimit.pauseEnd)
        }
    }
}

/// A host that asked for fewer requests.
package struct RateLimitedHost: Equatable, Sendable {
    package var name: String
    package var answers: Int
    /// The host gets no request before this session time.
    package var pauseEnd: Duration
}

extension Int {
    /// Whether the HTTP status asks for fewer requests, whatever the resource.
    ///
    /// 429 is Too Many Requests. File hosters answer 509 when the bandwidth that was paid for is used up.
    package var isRateLimitStatus: Bool { self == 429 || self == 509 }
}
