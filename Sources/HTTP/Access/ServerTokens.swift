import Support
import Synchronization

/// The resources that are open to everybody or to the tokens of channels, at one moment.
package protocol AccessPolicy: Sendable {
    /// Whether any channel has a token of its own.
    var hasTokens: Bool { get }
    /// Whether the token opens a channel.
    func knows(_ token: TokenDigest) -> Bool
    /// Whether a viewer with restricted access may read the resource of a route, whether the resource exists or not.
    func permits(_ route: Route, to viewer: Viewer) -> Bool
}

/// The tokens that open the whole server. Event loops call it concurrently.
package final class ServerTokens: Sendable {
    static let queryName = "token"

    private let tokens: Mutex<Set<TokenDigest>>

    /// - Parameter tokens: empty: the server is open, except for channels with tokens of their own.
    package init(_ tokens: [AccessToken] = []) { self.tokens = Mutex(Set(tokens.map(\.digest))) }

    /// Replaces the tokens. Responses under way continue.
    package func replace(_ tokens: [AccessToken]) { self.tokens.withLock { $0 = Set(tokens.map(\.digest)) } }

    /// The viewer of a request. A token in the Authorization field takes precedence over a token in the query, which
    /// may be a password in some routes.
    func viewer(of target: RequestTarget, for route: Route, _ policy: some AccessPolicy) -> Viewer {
        let tokens = tokens.withLock { $0 }
        guard !tokens.isEmpty || policy.hasTokens else { return .unrestricted }
        let field = AuthorizationField.bearerToken(target.fields.authorization)
        let password: Secret? = if case .xtream(let request) = route { request.password } else { nil }
        let query =
            password.flatMap { $0.value.isEmpty ? nil : $0 }
            ?? target.query.value(of: Self.queryName).map { Secret($0) }
        // The node has seen the viewer's token, or asks for itself.
        if target.isFromNode, field == nil, query == nil { return .unrestricted }
        let digest = (field ?? query).flatMap { TokenDigest(of: $0.value) }
        let isServerToken = digest.map(tokens.contains) ?? false
        let isKnown = digest.map(policy.knows) ?? false || isServerToken
        let reach: Viewer.Reach =
            isServerToken ? .everything : tokens.isEmpty ? .openChannels(and: digest) : .channels(of: digest)
        return Viewer(reach: reach, credential: isKnown ? Self.credential(field, query) : .none)
    }

    private static func credential(_ field: Secret?, _ query: Secret?) -> Viewer.Credential {
        if field != nil { return .field }
        return query.map { .query(Secret("\(queryName)=\(PercentEncoding.encode($0.value))")) } ?? .none
    }
}
