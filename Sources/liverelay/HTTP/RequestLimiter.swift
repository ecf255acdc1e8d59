import HTTPSyntax
import Synchronization

/// Limits the requests of each client of a server, whatever connections they come over.
final class RequestLimiter: Sendable {
    private let addresses: ServerAddresses
    private let rate: Mutex<RequestRate>
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - perSecond: requests of one address, on average over ten seconds.
    ///   - addresses: whose clients have addresses of their own.
    init(perSecond: Int, addresses: ServerAddresses = ServerAddresses()) {
        self.addresses = addresses
        rate = Mutex(RequestRate(perSecond: perSecond))
    }

    /// Requests that were refused.
    var refused: Int { rate.withLock { $0.refused } }

    /// The answer to a request too many; nil if the request is admitted.
    func refusal(of request: HTTPRequestReader) -> Response? {
        let (network, now) = (ClientNetwork(request.clientAddress(addresses)), ContinuousClock.now - start)
        guard let wait = rate.withLock({ $0.admit(network, at: now) }) else { return nil }
        let seconds = max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
        let reason = "Too many requests: try again in \(seconds) s."
        var response =
            request.route == .stream
            ? Response.refusedStream(.tooManyRequests, reason: reason) : .text(.tooManyRequests, reason)
        response.extraHeaders.append(HeaderField(name: "Retry-After", value: "\(seconds)"))
        return response
    }
}
