import HTTPSyntax

/// Lets through the requests that may see what they ask for; the others get 401.
///
/// The refusal does not depend on whether there is anything to see.
struct AccessResponder: Sendable {
    let access: ViewerAccess
    let policy: any AccessPolicy
    let responder: Responder
    let deferredResponder: DeferredResponder

    func response(to target: RequestTarget) -> Response {
        guard let target = admitted(target) else { return .unauthorized(target.path) }
        return responder(target).kept(for: target.viewer)
    }

    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        guard let target = admitted(target), let work = deferredResponder(target) else { return nil }
        return { await work().kept(for: target.viewer) }
    }

    /// The request with its viewer; nil if it is refused.
    private func admitted(_ target: RequestTarget) -> RequestTarget? {
        var target = target
        target.viewer = access.viewer(of: target, policy)
        return policy.permits(target) ? target : nil
    }
}

/// What is open without a token in a process of one channel: nothing but its health, and the files of the page, which
/// are the same everywhere.
struct ChannelAccess: AccessPolicy {
    var hasTokens: Bool { false }

    func knows(_ token: TokenDigest) -> Bool { false }

    func permits(_ target: RequestTarget) -> Bool {
        if target.viewer.reach == .everything { return true }
        return ["/healthz", "/readyz"].contains(target.path) || PageFile(path: target.path) != nil
    }
}

extension Response {
    /// The answer to a request without a token that opens what it asks for. That for a stream has no body, because some
    /// clients would play it.
    static func unauthorized(_ path: String) -> Response {
        let reason = "A token is needed here: as Authorization: Bearer TOKEN, or ?token=TOKEN in the address."
        var response = Response.text(.unauthorized, reason)
        if HTTPRoute(uri: path) == .stream { (response.contentType, response.body) = (nil, .empty) }
        response.extraHeaders = [HeaderField(name: "WWW-Authenticate", value: "Bearer")]
        return response
    }

    /// Keeps a response out of caches that would give it to other viewers.
    ///
    /// A file under a URL with a token is the same for everybody and names no token, so a cache may store it.
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
