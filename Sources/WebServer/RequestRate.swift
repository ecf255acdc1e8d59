/// How many requests an address may send: so many in a second, and ten seconds' worth at once.
///
/// Each address has an allowance, which is a time: when it is full again (the generic cell rate algorithm).
struct RequestRate: Sendable {
    /// Seconds' worth of requests that may come at once.
    static let burst = 10
    /// Addresses that are remembered.
    static let addressLimit = 65_536

    let interval: Duration
    private let depth: Duration
    /// Requests that were refused.
    private(set) var refused = 0
    private var fullAt: [ClientNetwork: Duration] = [:]
    /// The number of addresses at which those with a full allowance are forgotten.
    private var sweepCount = 1024

    /// - Parameter perSecond: at least 1.
    init(perSecond: Int) {
        interval = .seconds(1) / max(1, perSecond)
        depth = interval * (max(1, perSecond) * Self.burst)
    }

    /// The number of addresses whose allowance is known.
    var addressCount: Int { fullAt.count }

    /// Decides about a request, and counts it if it is admitted.
    /// - Returns: nil if it is; else the time until the next one is.
    mutating func admit(_ address: ClientNetwork, at now: Duration) -> Duration? {
        let full = max(fullAt[address] ?? now, now) + interval
        guard full - now <= depth else {
            refused += 1
            return full - now - depth
        }
        fullAt[address] = full
        if fullAt.count >= sweepCount { sweep(now) }
        return nil
    }

    private mutating func sweep(_ now: Duration) {
        fullAt = fullAt.filter { $0.value > now }
        // Nobody sends from so many addresses at once but an attacker, who gains little from a full allowance.
        if fullAt.count >= Self.addressLimit { fullAt = [:] }
        sweepCount = max(1024, 2 * fullAt.count)
    }
}
