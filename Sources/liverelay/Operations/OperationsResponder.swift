import HTTPSyntax

/// The resources for operators, and the events of clients, of a server.
struct OperationsResponder: Sendable {
    let metrics: MetricsResponder
    /// nil: there is no `/api/events`.
    let events: EventResponder?
    let clients: ClientRegistry

    /// Answers a request for the metrics or the events; nil for any other.
    func answer(to route: Route, _ target: RequestTarget) -> Answer? {
        switch (route, target.method) {
        case (.metrics, _): metrics.answer(to: target)
        case (.api(.events), .get), (.api(.events), .head): events.map { .now($0.response(to: target)) }
        default: nil
        }
    }
}
