import HTTPSyntax

/// The resources for operators, and the events of clients, before the responder of a server's channels.
struct OperationsResponder: Sendable {
    let metrics: MetricsResponder
    /// nil: there is no `/api/events`.
    let events: EventResponder?
    let clients: ClientRegistry
    let responder: Responder
    let deferredResponder: DeferredResponder

    func response(to target: RequestTarget) -> Response {
        events?.response(to: target) ?? clients.observed(responder(target), to: target)
    }

    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        if let work = metrics.deferredResponse(to: target) { return work }
        guard let work = deferredResponder(target) else { return nil }
        return { clients.observed(await work(), to: target) }
    }
}
