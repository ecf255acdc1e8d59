import Observability
package import WebServer

/// Answers the requests of a process of one channel.
package struct RelayResponder: Responder {
    package let channel: ChannelResponder
    package var access = ViewerAccess()
    /// nil: there are no metrics, and no events.
    package var operations: OperationsResponder?

    package init(
        channel: ChannelResponder, access: ViewerAccess = ViewerAccess(), operations: OperationsResponder? = nil
    ) {
        self.channel = channel
        self.access = access
        self.operations = operations
    }

    package var paths: Route.Paths { .channel }

    package func viewer(of target: RequestTarget, for route: Route) -> Viewer {
        access.viewer(of: target, for: route, ChannelAccess())
    }

    package func permits(_ route: Route, to viewer: Viewer) -> Bool { ChannelAccess().permits(route, to: viewer) }

    package func answer(to route: Route, _ target: RequestTarget) -> Answer {
        if let answer = operations?.answer(to: route, target) { return answer }
        guard case .channel(_, _, let resource) = route else { return .now(.notFound(target.path)) }
        let answer = channel.answer(to: resource, target)
        return operations?.clients.observed(answer, to: target) ?? answer
    }
}

/// The access to a process of one channel. Open without a token are its health and the files of the page, which are
/// the same everywhere.
struct ChannelAccess: AccessPolicy {
    var hasTokens: Bool { false }

    func knows(_ token: TokenDigest) -> Bool { false }

    func permits(_ route: Route, to viewer: Viewer) -> Bool {
        if viewer.reach == .everything { return true }
        switch route {
        case .channel(_, _, .health), .channel(_, _, .readiness): return true
        case .channel(_, _, .pageFile(let path)): return PageFile(path: path) != nil
        default: return false
        }
    }
}
