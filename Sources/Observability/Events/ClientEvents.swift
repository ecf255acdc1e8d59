package import HTTP
import Support
import Synchronization

/// Reports the clients of endless streams as events: each connection, from its first byte to its end. Clients that are
/// connected can be listed, and their streams ended.
package final class ClientEvents: Sendable {
    /// A client whose stream is open.
    package struct Connected: Sendable {
        package let client: EventContent.Client
        package let channel: String?
        package let since: ContinuousClock.Instant
        fileprivate var isEnded = false
    }

    /// nil: no events are published.
    private let bus: EventBus?
    /// The trusted proxies, which determine the addresses of clients.
    private let addresses: ForwardedAddresses
    private let count = Atomic<UInt64>(0)
    private let open = Mutex<[UInt64: Connected]>([:])

    package init(_ bus: EventBus? = nil, addresses: ForwardedAddresses = ForwardedAddresses()) {
        self.bus = bus
        self.addresses = addresses
    }

    /// The clients whose streams are open, in the order in which they came.
    package var connected: [Connected] {
        open.withLock { $0.values.filter { !$0.isEnded } }.sorted { $0.client.number < $1.client.number }
    }

    /// Ends the stream of a client before its next bytes.
    /// - Returns: whether it was open.
    package func end(_ number: UInt64) -> Bool {
        open.withLock { open in
            guard open[number]?.isEnded == false else { return false }
            open[number]?.isEnded = true
            return true
        }
    }

    /// Returns an answer whose stream reports its client.
    package func observed(_ answer: Answer, to target: RequestTarget) -> Answer {
        guard let bus else { return answer }
        return answer.map { [self] response in
            guard !response.isPassed, response.status == .ok, response.contentType == .transportStream,
                case .stream(let stream) = response.body
            else { return response }
            let client = EventContent.Client(
                number: count.wrappingAdd(1, ordering: .relaxed).newValue, path: target.path,
                address: addresses.clientAddress(of: target.fields), userAgent: target.fields.userAgent)
            let channel = response.sentBytes?.channel
            var response = response
            response.body = .stream(
                ByteStream { [self] in
                    let isEnded = open.withLock { $0[client.number]?.isEnded } ?? false
                    return isEnded ? nil : await stream.next()
                }.observed { [self] in
                    open.withLock { $0[client.number] = Connected(client: client, channel: channel, since: .now) }
                    bus.publish(.clientConnect(client), channel: channel)
                } closed: { [self] byteCount, duration in
                    open.withLock { _ = $0.removeValue(forKey: client.number) }
                    bus.publish(
                        .clientDisconnect(client, seconds: duration.inSeconds, sentBytes: byteCount), channel: channel)
                })
            return response
        }
    }
}
