/// A request whose head was received.
package struct ReceivedRequest: Sendable {
    package let fields: RequestTarget.Fields
    /// nil: the address of the request is malformed.
    package let target: RequestTarget?
    /// The resource that the request is for, however it is answered.
    package let route: Route
    /// Whether a request of HTTP/1.1 has exactly one Host field (RFC 9112 §3.2).
    let hasOneHost: Bool

    package init(
        _ method: RequestTarget.Method, _ uri: String, _ fields: RequestTarget.Fields, hasOneHost: Bool,
        in paths: Route.Paths
    ) {
        self.fields = fields
        target = try? RequestTarget(method: method, uri: uri, fields: fields)
        route = target.map { Route($0, in: paths) } ?? .notFound
        self.hasOneHost = hasOneHost
    }

    private init(_ request: ReceivedRequest, from client: String?) {
        var fields = request.fields
        (fields.peer, fields.forwarding) = (client, RequestTarget.Forwarding())
        self.fields = fields
        target = request.target.map { $0.asked(with: fields) }
        (route, hasOneHost) = (request.route, request.hasOneHost)
    }

    /// The request of a node, for the client at an address.
    func asked(by client: String?) -> ReceivedRequest { ReceivedRequest(self, from: client) }
}

/// The sender of a request, as far as its fields say.
package enum RequestSender: Equatable, Sendable {
    case client
    /// A node of the same fleet asks, for the client at that address; nil: for itself.
    case node(for: String?)
    /// The request claims to be a node's, and does not prove it.
    case unproven
}

/// Answers the requests of a server. Event loops call it concurrently: no call may block or take 1 ms.
package protocol Responder: Sendable {
    var paths: Route.Paths { get }
    /// The tokens of the server, and the resources that they and the channels' tokens open now; nil: the server is open
    /// to everybody.
    var access: (tokens: ServerTokens, policy: any AccessPolicy)? { get }
    /// The sender of a request. A responder of no fleet knows no nodes.
    func sender(of target: RequestTarget) -> RequestSender
    /// Answers a request that was admitted: a GET or HEAD, or any method below `/api`.
    func answer(to route: Route, _ target: RequestTarget) -> Answer
    /// The document for people in answer to a request without a token that opens the route; nil: the answer is a line of text.
    func tokenDocument(for route: Route, _ target: RequestTarget) -> Response?
}

extension Responder {
    package var paths: Route.Paths { .list }
    package var access: (tokens: ServerTokens, policy: any AccessPolicy)? { nil }
    package func tokenDocument(for route: Route, _ target: RequestTarget) -> Response? { nil }
    package func sender(of target: RequestTarget) -> RequestSender { .client }

    /// Decides about a request from its head alone, in this order: admission, token, answer; each step happens once.
    ///
    /// The server adds the limits on bodies and on concurrent work (`RequestWork`). Every refusal is sent before the
    /// body is read, except for a form, whose body contains the token.
    package func answer(to request: ReceivedRequest, limiter: RequestLimiter?) -> Answer {
        var request = request
        if let target = request.target, target.fields.node != nil {
            switch sender(of: target) {
            case .client: break
            case .node(let client): request = request.asked(by: client)
            case .unproven: return .now(.text(.forbidden, "This request does not prove that it is a node's."))
            }
        }
        if let refusal = limiter?.refusal(of: request) { return .now(refusal) }
        guard let target = request.target else {
            return .now(.text(.badRequest, "The address of this request is malformed."))
        }
        // RFC 9112 §3.2: without Host, or with two, a request of HTTP/1.1 is malformed.
        guard request.hasOneHost else { return .now(.text(.badRequest, "A request needs one Host field.")) }
        guard paths == .list, XtreamRequest.takesForm(target) else { return answer(to: target, by: request.route) }
        return .body(
            BodyAction(
                limit: XtreamRequest.longestForm, tooLarge: .text(.contentTooLarge, "The form is too large."),
                place: .form
            ) {
                await answer(to: target.reading(form: $0)).response()
            })
    }

    /// Answers a request that was admitted.
    func answer(to target: RequestTarget) -> Answer { answer(to: target, by: Route(target, in: paths)) }

    private func answer(to target: RequestTarget, by route: Route) -> Answer {
        if let refusal = route.refusal(of: target) { return .now(refusal) }
        guard let (tokens, policy) = access else { return answer(to: route, target) }
        var target = target
        target.viewer = tokens.viewer(of: target, for: route, policy)
        guard target.viewer.reach == .everything || policy.permits(route, to: target.viewer) else {
            return .now(.unauthorized(route, tokenDocument(for: route, target)))
        }
        return answer(to: route, target).map { [viewer = target.viewer] in $0.kept(for: viewer) }
    }
}

extension Route {
    /// Paths that accept POST: television servers start a scan this way, and stop after an error.
    private static let postPaths: Set = ["/lineup.post"]

    /// The answer to a method that no path supports, and to OPTIONS. The API has methods of its own.
    fileprivate func refusal(of target: RequestTarget) -> Response? {
        if case .api = self { return nil }
        switch target.method {
        case .get, .head: return nil
        case .options: return CrossOrigin.preflight
        case .other("POST") where Self.postPaths.contains(target.path): return nil
        case .other: return CrossOrigin.methodNotAllowed
        }
    }

    /// Whether clients read from the answer whether the user name and the password are correct.
    fileprivate var isXtreamAccount: Bool {
        guard case .xtream(let request) = self else { return false }
        return switch request.resource {
        case .account, .categories, .streams, .nothing, .shortGuide, .guideTable, .panel: true
        case .list, .guide, .stream, .archive: false
        }
    }
}

extension Response {
    /// The answer to a request without a token that opens the resource. It does not reveal whether the resource exists.
    /// For a stream it has no body, because some clients would play the body.
    static func unauthorized(_ route: Route, _ document: Response? = nil) -> Response {
        let reason = "A token is needed here: as Authorization: Bearer TOKEN, or ?token=TOKEN in the address."
        var response = Response.text(.unauthorized, reason)
        let fields = document?.extraHeaders ?? []
        if let document { (response.contentType, response.body) = (document.contentType, document.body) }
        if route.kind == .stream { (response.contentType, response.body) = (nil, .empty) }
        if route.isXtreamAccount {
            (response.contentType, response.body) = (.json, .bytes(Array(#"{"user_info":{"auth":0}}"#.utf8), gzip: nil))
        }
        response.extraHeaders = [HeaderField(name: "WWW-Authenticate", value: "Bearer")] + fields
        return response
    }

    /// Keeps a response out of caches that would serve it to other viewers.
    ///
    /// A file under a URL with a token is the same for everybody and contains no token, so a cache may store it.
    fileprivate func kept(for viewer: Viewer) -> Response {
        var response = self
        switch viewer.credential {
        case .none: break
        case .field: response.isPrivate = true
        case .query: response.isPrivate = cacheControl != .immutable
        }
        return response
    }
}

/// Answers every target by a closure, without access control.
package struct TargetResponder: Responder {
    package var paths = Route.Paths.channel
    let respond: @Sendable (RequestTarget) -> Answer

    package init(paths: Route.Paths = Route.Paths.channel, respond: @escaping @Sendable (RequestTarget) -> Answer) {
        self.paths = paths
        self.respond = respond
    }

    package func answer(to route: Route, _ target: RequestTarget) -> Answer { respond(target) }
}
