extension ServeService {
    /// Starts the server of the channels, of what is known about all of them, and of the API.
    func startServer(
        of host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?, _ delivery: EventDelivery,
        _ credentials: ServerCredentials
    ) async throws(RelayError) -> HTTPServer {
        let connections = clients.connections(addresses)
        let traffic = HTTPTraffic()
        let api = APIResponder(token: apiToken, host: host, updater: updater)
        let responder = ServeResponder(
            host, addresses: addresses, tuner: tuner, guide: guide, api: api, clients: { connections.counts })
        let operations = OperationsResponder(
            metrics: MetricsResponder { [bus] in MetricsSnapshot(host, traffic, .init(bus, delivery), connections) },
            events: EventResponder(bus, refusal: { api.refusal(of: $0) }),
            clients: ClientRegistry(bus, addresses: addresses),
            responder: { responder.response(to: $0) }, deferredResponder: { responder.deferredResponse(to: $0) })
        let guarded = AccessResponder(
            access: credentials.viewers, policy: ServeAccess(host: host), responder: { operations.response(to: $0) },
            deferredResponder: { operations.deferredResponse(to: $0) })
        do {
            return try await HTTPServer.start(
                on: address, connections: connections, traffic: traffic, security: credentials.security,
                responder: { guarded.response(to: $0) },
                deferredResponder: { guarded.deferredResponse(to: $0) },
                actionResponder: { responder.action(for: $0) })
        } catch { throw RelayError(error) }
    }
}
