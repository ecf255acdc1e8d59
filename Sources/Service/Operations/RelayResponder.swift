package import HTTP
package import Observability

/// Answers the requests of a process of one channel.
package struct RelayResponder: Responder {
    private let channel: ChannelResponder
    private let tokens: ServerTokens
    private let metrics: MetricsResponder?
    private let clients: ClientEvents

    /// - Parameter metrics: nil: there are none.
    package init(
        channel: ChannelResponder, tokens: ServerTokens = ServerTokens(), metrics: MetricsResponder? = nil,
        clients: ClientEvents = ClientEvents()
    ) {
        self.channel = channel
        self.tokens = tokens
        self.metrics = metrics
        self.clients = clients
    }

    package var paths: Route.Paths { .channel }

    package var access: (tokens: ServerTokens, policy: any AccessPolicy)? { (tokens, ChannelAccess()) }

    package func answer(to route: Route, _ target: RequestTarget) -> Answer {
        if case .metrics = route, let metrics { return metrics.answer(to: target) }
        guard case .channel(_, let resource) = route else { return .now(.notFound(target.path)) }
        return clients.observed(channel.answer(to: resource, target), to: target)
    }
}

/// The access policy of a process of one channel. The health and the files of the page, which are the same everywhere,
/// are open without a token.
struct ChannelAccess: AccessPolicy {
    var hasTokens: Bool { false }

    func knows(_ token: TokenDigest) -> Bool { false }

    func permits(_ route: Route, to viewer: Viewer) -> Bool {
        switch route {
        case .channel(_, .health), .channel(_, .readiness): return true
        case .channel(_, .pageFile(let path)): return PageFile(path: path) != nil
        default: return false
        }
    }
}
