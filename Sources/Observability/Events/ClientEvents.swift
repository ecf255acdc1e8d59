package import HTTP
import Support
import Synchronization

/// Reports the clients of endless streams as events: each connection, from its first byte to its end.
package final class ClientEvents: Sendable {
    /// nil: no events are published.
    private let bus: EventBus?
    /// The trusted proxies, which determine the addresses of clients.
    private let addresses: ForwardedAddresses
    private let count = Atomic<UInt64>(0)

    package init(_ bus: EventBus? = nil, addresses: ForwardedAddresses = ForwardedAddresses()) {
        self.bus = bus
        self.addresses = addresses
    }

    /// Returns an answer whose stream reports its client.
    package func observed(_ answer: Answer, to target: RequestTarget) -> Answer {
        guard let bus else { return answer }
        return answer.map { [self] response in
            guard response.status == .ok, response.contentType == .transportStream,
                case .stream(let stream) = response.body
            else { return response }
            let client = EventContent.Client(
                number: count.wrappingAdd(1, ordering: .relaxed).newValue, path: target.path,
                address: addresses.clientAddress(of: target.fields), userAgent: target.fields.userAgent)
            let channel = response.sentBytes?.channel
            var response = response
            response.body = .stream(
                stream.observed {
                    bus.publish(.clientConnect(client), channel: channel)
                } closed: { byteCount, duration in
                    bus.publish(
                        .clientDisconnect(client, seconds: duration.inSeconds, sentBytes: byteCount), channel: channel)
                })
            return response
        }
    }
}
