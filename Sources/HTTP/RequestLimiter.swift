import Synchronization

/// Limits the requests of each client of a server, over all of its connections.
package final class RequestLimiter: Sendable {
    private let addresses: ForwardedAddresses
    private let rate: Mutex<RequestRate>
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - perSecond: requests of one address, averaged over ten seconds.
    ///   - addresses: determines the addresses of clients behind trusted proxies.
    package init(perSecond: Int, addresses: ForwardedAddresses = ForwardedAddresses()) {
        self.addresses = addresses
        rate = Mutex(RequestRate(perSecond: perSecond))
    }

    package var refused: Int { rate.withLock { $0.refused } }

    /// The answer to a request too many; nil if the request is admitted.
    func refusal(of request: ReceivedRequest) -> Response? {
        let (network, now) = (ClientNetwork(addresses.clientAddress(of: request.fields)), ContinuousClock.now - start)
        guard let wait = rate.withLock({ $0.admit(network, at: now) }) else { return nil }
        let seconds = max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
        return .refusal(
            .tooManyRequests, of: request.route.kind, reason: "Too many requests: try again in \(seconds) s.",
            retryAfter: seconds)
    }
}

extension Response {
    /// The answer to a request for which no place is free.
    package static func busy(_ kind: Route.Kind) -> Response {
        refusal(
            .serviceUnavailable, of: kind, reason: "Too many requests are waiting: try again in 1 s.", retryAfter: 1)
    }

    /// The answer to a request whose response was not ready within the idle time of a connection.
    package static func late(_ kind: Route.Kind) -> Response {
        refusal(
            .serviceUnavailable, of: kind, reason: "The answer takes longer than a connection is kept: ask again.",
            retryAfter: 5)
    }

    /// A refusal that does not depend on the requested resource. For a stream it has no body, because some clients
    /// would play the body.
    /// - Parameter retryAfter: seconds.
    package static func refusal(
        _ status: HTTPStatus, of kind: Route.Kind, reason: String, retryAfter: Int64
    ) -> Response {
        var response = kind == .stream ? Response.refusedStream(status, reason: reason) : .text(status, reason)
        response.extraHeaders.append(.retryAfter(seconds: retryAfter))
        return response
    }
}

/// Limits the requests of an address: a number per second, and ten seconds' worth at once.
///
/// For each address, the time is stored at which its allowance is full again (the generic cell rate algorithm).
struct RequestRate: Sendable {
    /// The seconds' worth of requests that may arrive at once.
    static let burst = 10
    /// The most addresses that are remembered.
    static let addressLimit = 65_536

    let interval: Duration
    private let depth: Duration
    private(set) var refused = 0
    private var fullAt: [ClientNetwork: Duration] = [:]
    /// The number of addresses at which addresses with a full allowance are forgotten.
    private var sweepCount = 1024

    /// - Parameter perSecond: at least 1.
    init(perSecond: Int) {
        interval = .seconds(1) / max(1, perSecond)
        depth = interval * (max(1, perSecond) * Self.burst)
    }

    /// The number of addresses whose allowance is known.
    var addressCount: Int { fullAt.count }

    /// Decides about a request, and counts it if it is admitted.
    /// - Returns: nil if the request is admitted; otherwise the time until the next one would be.
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
        // Only an attacker sends from that many addresses at once, and gains little from a full allowance.
        if fullAt.count >= Self.addressLimit { fullAt = [:] }
        sweepCount = max(1024, 2 * fullAt.count)
    }
}
