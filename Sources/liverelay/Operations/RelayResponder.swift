import HTTPSyntax

/// Answers the requests of a process of one channel.
struct RelayResponder: Responder {
    let channel: ChannelResponder
    var access = ViewerAccess()
    /// nil: there are no metrics, and no events.
    var operations: OperationsResponder?

    var paths: Route.Paths { .channel }

    func viewer(of target: RequestTarget) -> Viewer { access.viewer(of: target, ChannelAccess()) }

    func permits(_ route: Route, to viewer: Viewer) -> Bool { ChannelAccess().permits(route, to: viewer) }

    func answer(to route: Route, _ target: RequestTarget) -> Answer {
        if let answer = operations?.answer(to: route, target) { return answer }
        guard case .channel(_, _, let resource) = route else { return .now(.notFound(target.path)) }
        let answer = channel.answer(to: resource, target)
        return operations?.clients.observed(answer, to: target) ?? answer
    }
}
