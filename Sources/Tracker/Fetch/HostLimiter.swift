import Playlist

/// How many requests each host is asked at once, and when: as the operator allows, and as the host itself does.
///
/// A host that answers 429 (RFC 6585 §4) or 509 is not dead, it counts: it is left alone for as long as it says, then
/// asked one thing at a time, until a minute has passed without another such answer. Hosts are told apart by name. A
/// request is one to the host asked and to the one that host redirected the last request to.
struct HostLimiter: Sendable {
    private struct RateLimit: Sendable {
        /// Asked for nothing before.
        var pauseEnd: Duration
        var lastAt: Duration
        /// That said so.
        var answers = 0
        var backoff = Backoff()

        /// When it is metered no longer.
        var endsAt: Duration { lastAt + HostLimiter.rateLimitDuration }

        /// Those that were asked for before the pause began are no reason for a longer one.
        mutating func recordRefusal(retryAfter pause: Duration?, at now: Duration) {
            answers += 1
            lastAt = now
            guard now >= pauseEnd else { return }
            pauseEnd = now + max(min(pause ?? .zero, HostLimiter.longestPause), backoff.next())
        }
    }

    /// Of what a host asks for itself; beyond, a live window would be gone.
    static let longestPause = Duration.seconds(30)
    /// Without another refusal, a host is metered no longer.
    static let rateLimitDuration = Duration.seconds(60)
    /// An upstream may name any number of hosts.
    static let maxRememberedHosts = 64

    /// Requests per host at once; nil: as many as the session has.
    let maxConnections: Int?
    /// The hosts of every request in flight.
    private var inFlight: [FetchID: [String]] = [:]
    /// Who answered last for a host that redirects.
    private var redirections: [String: String] = [:]
    private var rateLimits: [String: RateLimit] = [:]
    /// Answers that asked for less, of all hosts.
    private(set) var rateLimitedAnswers = 0

    init(maxConnections: Int?) { self.maxConnections = maxConnections }

    /// Somebody may have to wait for another's request to end.
    var isLimiting: Bool { maxConnections != nil || !rateLimits.isEmpty }

    /// Whether one more request may be made now.
    func admits(_ url: String, at now: Duration) -> Bool {
        hosts(of: url).allSatisfy { host in
            let metering = rateLimits[host]
            if let metering, now < metering.pauseEnd { return false }
            guard let limit = metering == nil ? maxConnections : 1 else { return true }
            return requests(to: host) < limit
        }
    }

    mutating func began(_ id: FetchID, _ url: String) { inFlight[id] = hosts(of: url) }

    mutating func cancelled(_ id: FetchID) { inFlight[id] = nil }

    /// - Returns: the host's being metered, when that is new.
    mutating func ended(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) -> UpstreamEvent? {
        guard let asked = inFlight.removeValue(forKey: id)?.first, case .success(let answer) = outcome else {
            return nil
        }
        let host = Self.host(of: answer.finalURL)
        recordRedirect(from: asked, to: host)
        guard answer.status.isRateLimitStatus else { return nil }
        rateLimitedAnswers += 1
        let isNew = rateLimits[host] == nil
        if isNew, rateLimits.count >= Self.maxRememberedHosts { forgetOldest() }
        var metering = rateLimits[host] ?? RateLimit(pauseEnd: now, lastAt: now)
        metering.recordRefusal(retryAfter: answer.retryAfter, at: now)
        rateLimits[host] = metering
        return isNew ? .hostLimited(host: host, status: answer.status, pause: metering.pauseEnd - now) : nil
    }

    /// Hosts that were metered until now.
    mutating func endExpiredLimits(at now: Duration) -> [UpstreamEvent] {
        let calm = rateLimits.filter { now >= $0.value.endsAt }.sorted { $0.key < $1.key }
        for (host, _) in calm { rateLimits[host] = nil }
        return calm.map { UpstreamEvent.hostLimitEnded(host: $0.key, answers: $0.value.answers) }
    }

    /// When something may be asked for that may not now, or a host is released.
    func nextDeadline(after now: Duration) -> Duration? {
        rateLimits.values.map { $0.pauseEnd > now ? $0.pauseEnd : $0.endsAt }.min()
    }

    private func requests(to host: String) -> Int { inFlight.values.count { $0.contains(host) } }

    private func hosts(of url: String) -> [String] {
        let asked = Self.host(of: url)
        return [asked] + [redirections[asked]].compactMap { $0 }
    }

    private mutating func recordRedirect(from asked: String, to host: String) {
        if redirections.count >= Self.maxRememberedHosts { redirections = [:] }
        redirections[asked] = host == asked ? nil : host
    }

    private mutating func forgetOldest() {
        guard let oldest = rateLimits.min(by: { ($0.value.lastAt, $0.key) < ($1.value.lastAt, $1.key) }) else { return }
        rateLimits[oldest.key] = nil
    }

    /// What has none is refused before anything is connected.
    private static func host(of url: String) -> String { URIReference.host(of: url) ?? "" }
}

extension Int {
    /// A status that asks for fewer requests, whatever the resource: Too Many Requests, and what hosters answer when
    /// the bandwidth bought is used up.
    var isRateLimitStatus: Bool { self == 429 || self == 509 }
}

extension HostLimiter {
    /// By name; only those that are metered.
    var status: [UpstreamStatus.RateLimitedHost] {
        rateLimits.sorted { $0.key < $1.key }.map { host, metering in
            UpstreamStatus.RateLimitedHost(name: host, answers: metering.answers, pauseEnd: metering.pauseEnd)
        }
    }
}
