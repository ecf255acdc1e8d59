import Synchronization
package import WebServer

/// Tells the events of the clients of endless streams: a connection, from its first byte until it is over.
package final class ClientEvents: Sendable {
    /// nil: nobody is told.
    private let bus: EventBus?
    /// Which proxies are believed about the addresses of their clients.
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
            let presence = ClientPresence(client, response.sentBytes?.channel, bus)
            var response = response
            response.body = .stream(
                ByteStream {
                    presence.open()
                    let bytes = await stream.next()
                    presence.add(bytes?.count ?? 0)
                    return bytes
                })
            return response
        }
    }
}

private final class ClientPresence: Sendable {
    private struct State {
        var start: ContinuousClock.Instant?
        var sentBytes: UInt64 = 0
    }

    private let client: EventContent.Client
    private let channel: String?
    private let bus: EventBus
    private let state = Mutex(State())

    init(_ client: EventContent.Client, _ channel: String?, _ bus: EventBus) {
        self.client = client
        self.channel = channel
        self.bus = bus
    }

    deinit {
        let (start, sentBytes) = state.withLock { ($0.start, $0.sentBytes) }
        guard let start else { return }
        bus.publish(
            .clientDisconnect(client, seconds: (ContinuousClock.now - start).metricSeconds, sentBytes: sentBytes),
            channel: channel)
    }

    func open() {
        let isFirst = state.withLock { state in
            defer { state.start = state.start ?? .now }
            return state.start == nil
        }
        if isFirst { bus.publish(.clientConnect(client), channel: channel) }
    }

    func add(_ byteCount: Int) { state.withLock { $0.sentBytes += UInt64(byteCount) } }
}
