import Guide
import Observability
import Service
import Support
import WebServer

extension ServeService {
    /// Starts the server of the channels, of what is known about all of them, and of the API.
    func startServer(
        of host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?, _ delivery: EventDelivery,
        _ credentials: ServerCredentials
    ) async throws(RelayError) -> HTTPServer {
        let connections = clients.connections(addresses)
        let traffic = HTTPTraffic()
        let api = APIResponder(token: apiToken, host: host, updater: updater)
        let operations = OperationsResponder(
            metrics: MetricsResponder { MetricsSnapshot(host, traffic, delivery, connections) },
            events: EventResponder(bus, refusal: { api.refusal(of: .events, $0) }),
            clients: ClientRegistry(bus, addresses: addresses))
        let responder = ServeResponder(
            host, addresses: addresses, tuner: tuner, guide: guide, api: api, access: credentials.viewers,
            operations: operations, clients: { connections.counts })
        do {
            return try await HTTPServer.start(
                on: address, connections: connections, traffic: traffic, security: credentials.security,
                responder: responder)
        } catch { throw RelayError(error) }
    }
}
