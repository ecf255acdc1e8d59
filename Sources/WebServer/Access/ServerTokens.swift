import Support
import Synchronization

/// Resources that are open to everybody or to the tokens of channels, at one moment.
package protocol AccessPolicy: Sendable {
    /// Whether a channel has a token of its own.
    var hasTokens: Bool { get }
    /// Whether the token opens a channel.
    func knows(_ token: TokenDigest) -> Bool
    /// Whether a viewer who may not see everything may have what the route names, whether that exists or not.
    func permits(_ route: Route, to viewer: Viewer) -> Bool
}

/// The tokens that open the whole server. Event loops ask concurrently.
package final class ServerTokens: Sendable {
    static let queryName = "token"

    private let tokens: Mutex<Set<TokenDigest>>

    /// - Parameter tokens: none: the server is open, but for channels with tokens of their own.
    package init(_ tokens: [AccessToken] = []) { self.tokens = Mutex(Set(tokens.map(\.digest))) }

    /// Replaces the tokens. What is being sent goes on.
    func replace(_ tokens: [AccessToken]) { self.tokens.withLock { $0 = Set(tokens.map(\.digest)) } }

    /// The viewer of a request. A token in the Authorization field counts before one in the query, in whose place a route
    /// may have a password.
    func viewer(of target: RequestTarget, for route: Route, _ policy: some AccessPolicy) -> Viewer {
        let tokens = tokens.withLock { $0 }
        guard !tokens.isEmpty || policy.hasTokens else { return .unrestricted }
        let field = AuthorizationField.bearerToken(target.fields.authorization)
        let password: Secret? = if case .xtream(let request) = route { request.password } else { nil }
        let query =
            password.flatMap { $0.value.isEmpty ? nil : $0 }
            ?? target.query.value(of: Self.queryName).map { Secret($0) }
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
