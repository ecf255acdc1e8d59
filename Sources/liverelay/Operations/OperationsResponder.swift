import HTTPSyntax

/// The resources for operators, and the events of clients, before the responder of a server's channels.
struct OperationsResponder: Sendable {
    let metrics: MetricsResponder
    /// nil: there is no `/api/events`.
    let events: EventResponder?
    let clients: ClientRegistry
    /// The channel that a path with an endless stream is of; nil in a process of one channel.
    let channel: @Sendable (RequestTarget) -> String?
    let responder: Responder
    let deferredResponder: DeferredResponder

    func response(to target: RequestTarget) -> Response {
        events?.response(to: target) ?? observed(responder(target), to: target)
    }

    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        if let work = metrics.deferredResponse(to: target) { return work }
        guard let work = deferredResponder(target) else { return nil }
        return { observed(await work(), to: target) }
    }

    private func observed(_ response: Response, to target: RequestTarget) -> Response {
        guard case .stream = response.body else { return response }
        return clients.observed(response, to: target, channel: channel(target))
    }
}
