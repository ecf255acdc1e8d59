package import Observability
import WebServer

/// The resources for operators, and the events of clients, of a server.
package struct OperationsResponder: Sendable {
    package let metrics: MetricsResponder
    /// nil: there is no `/api/events`.
    package let events: EventResponder?
    package let clients: ClientRegistry

    package init(metrics: MetricsResponder, events: EventResponder?, clients: ClientRegistry) {
        self.metrics = metrics
        self.events = events
        self.clients = clients
    }

    /// Answers a request for the metrics or the events; nil for any other.
    func answer(to route: Route, _ target: RequestTarget) -> Answer? {
        switch (route, target.method) {
        case (.metrics, _): metrics.answer(to: target)
        case (.api(.events), .get), (.api(.events), .head): events.map { .now($0.response(to: target)) }
        default: nil
        }
    }
}
