import Synchronization

/// Limits the requests of each client of a server, whatever connections they come over.
package final class RequestLimiter: Sendable {
    private let addresses: ForwardedAddresses
    private let rate: Mutex<RequestRate>
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - perSecond: requests of one address, on average over ten seconds.
    ///   - addresses: whose clients have addresses of their own.
    package init(perSecond: Int, addresses: ForwardedAddresses = ForwardedAddresses()) {
        self.addresses = addresses
        rate = Mutex(RequestRate(perSecond: perSecond))
    }

    /// Requests that were refused.
    var refused: Int { rate.withLock { $0.refused } }

    /// The answer to a request too many; nil if the request is admitted.
    func refusal(of request: HTTPExchange) -> Response? {
        let (network, now) = (ClientNetwork(addresses.clientAddress(of: request.fields)), ContinuousClock.now - start)
        guard let wait = rate.withLock({ $0.admit(network, at: now) }) else { return nil }
        let seconds = max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
        return .refusal(
            .tooManyRequests, of: request.kind, reason: "Too many requests: try again in \(seconds) s.",
            retryAfter: seconds)
    }
}

extension Response {
    /// The answer to a request for which there is no place.
    static func busy(_ kind: Route.Kind) -> Response {
        refusal(
            .serviceUnavailable, of: kind, reason: "Too many requests are waiting: try again in 1 s.", retryAfter: 1)
    }

    /// A refusal that does not depend on what is asked for. That of a stream has no body, because some clients would
    /// play it.
    /// - Parameter retryAfter: seconds.
    package static func refusal(
        _ status: HTTPStatus, of kind: Route.Kind, reason: String, retryAfter: Int64
    ) -> Response {
        var response = kind == .stream ? Response.refusedStream(status, reason: reason) : .text(status, reason)
        response.extraHeaders.append(.retryAfter(seconds: retryAfter))
        return response
    }
}
