import Logging
import Observability
import Support
import WebServer

/// The parts that the HTTP servers of `relay` and `serve` have alike: tokens, clients, and the events of the process.
struct ServerSetup: Sendable {
    let credentials: ServerCredentials
    let addresses: ForwardedAddresses
    let connections: OpenConnections
    let traffic = HTTPTraffic()
    let bus = EventBus()
    let delivery: EventDelivery
    /// The clients of streams, which are told as events.
    let streamClients: ClientEvents

    /// Reads what is in files, and starts the deliveries of events.
    init(
        _ access: AccessOptions, _ clients: ClientOptions, _ events: EventOptions, _ addresses: ForwardedAddresses,
        logger: Logger
    ) throws(RelayError) {
        self.addresses = addresses
        credentials = try access.credentials()
        connections = clients.connections(addresses)
        streamClients = ClientEvents(bus, addresses: addresses)
        delivery = try EventDelivery(bus, webhooks: events.webhooks, commands: events.commands, logger: logger)
    }

    func start(
        on address: ListenAddress, limits: HTTPServer.Limits = HTTPServer.Limits(), _ responder: some Responder
    ) async throws(RelayError) -> HTTPServer {
        do {
            return try await HTTPServer.start(
                on: address, limits: limits, connections: connections, traffic: traffic,
                security: credentials.security, responder: responder)
        } catch { throw RelayError(error) }
    }
}
