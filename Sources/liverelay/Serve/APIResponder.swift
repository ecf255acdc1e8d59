import ChannelList
import HTTPSyntax

/// Answers requests to `/api`: what is listed, and changes of it.
final class APIResponder: Sendable {
    /// The largest body of a request, in bytes.
    static let bodyLimit = 256 << 10

    private enum Path {
        case document, channels, reload
        case channel(String)
        case unknown

        init(_ path: String) {
            switch path {
            case "/api/openapi.json": self = .document
            case "/api/channels": self = .channels
            case "/api/reload": self = .reload
            case let path where path.hasPrefix("/api/channels/"):
                self = .channel(String(path.dropFirst("/api/channels/".count)))
            default: self = .unknown
            }
        }

        /// nil: the path does not exist.
        var methods: String? {
            switch self {
            case .document, .channels: "GET, HEAD, OPTIONS"
            case .channel: "GET, HEAD, PUT, DELETE, OPTIONS"
            case .reload: "POST, OPTIONS"
            case .unknown: nil
            }
        }
    }

    private let token: AccessToken?
    private let parts: (host: ChannelHost, updater: CatalogUpdater)?

    /// An API that does not exist.
    init() { (token, parts) = (nil, nil) }

    /// - Parameter token: nil: the API does not exist.
    init(token: AccessToken?, host: ChannelHost, updater: CatalogUpdater) {
        self.token = token
        parts = (host, updater)
    }

    /// Why a request is not for the API; nil if it may be answered.
    ///
    /// The document is for everyone: it is part of the project.
    func refusal(of target: RequestTarget) -> Response? {
        guard let token else { return APIProblem.switchedOff.response() }
        if case .document = Path(target.path) { return nil }
        guard !token.isCarried(by: target.fields.authorization) else { return nil }
        return APIProblem.unauthorized.response([HeaderField(name: "WWW-Authenticate", value: "Bearer")])
    }

    /// Answers a GET or HEAD.
    func response(to target: RequestTarget) -> Response {
        if let refusal = refusal(of: target) { return refusal }
        guard let host = parts?.host else { return APIProblem.switchedOff.response() }
        let path = Path(target.path)
        switch path {
        case .document:
            return Response(
                contentType: .json, cacheControl: .maxAge(seconds: 3600),
                body: .bytes(PackageResources.openapi_json, gzip: nil))
        case .channels: return Self.json(ChannelDocument.List(host.overview))
        case .channel(let name):
            guard let document = host.listing(of: name).map(ChannelDocument.init) else {
                return APIProblem.unknownChannel(name).response()
            }
            return Self.json(document)
        case .reload: return APIProblem.wrongMethod(allowed: path.methods ?? "")
        case .unknown: return APIProblem.unknownPath(target.path).response()
        }
    }

    /// What a request with another method does.
    func action(for target: RequestTarget) -> RequestAction {
        RequestAction(bodyLimit: Self.bodyLimit, refusal: APIProblem.largeBody.response()) { [self] body in
            await response(to: target, body)
        }
    }

    private func response(to target: RequestTarget, _ body: [UInt8]) async -> Response {
        if target.method == .options, token != nil { return Self.options(of: target.path) }
        if let refusal = refusal(of: target) { return refusal }
        guard let (host, updater) = parts else { return APIProblem.switchedOff.response() }
        let path = Path(target.path)
        switch (path, target.method) {
        case (.channel(let name), .other("PUT")):
            return await put(name, body, contentType: target.fields.contentType, host, updater)
        case (.channel(let name), .other("DELETE")):
            guard await updater.delete(name) else { return APIProblem.unknownChannel(name).response() }
            return Response(status: .noContent, cacheControl: .noStore, body: .empty)
        case (.reload, .other("POST")): return Self.response(to: await updater.reload())
        default:
            guard let methods = path.methods else { return APIProblem.unknownPath(target.path).response() }
            return APIProblem.wrongMethod(allowed: methods)
        }
    }

    /// What may be asked of a path, for which no token is needed.
    private static func options(of path: String) -> Response {
        guard let methods = Path(path).methods else { return APIProblem.unknownPath(path).response() }
        return Response(
            status: .noContent, cacheControl: .noStore, body: .empty,
            extraHeaders: [HeaderField(name: "Allow", value: methods)])
    }

    private func put(
        _ name: String, _ body: [UInt8], contentType: String?, _ host: ChannelHost, _ updater: CatalogUpdater
    ) async -> Response {
        let type = contentType?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else { return APIProblem.wrongType.response() }
        guard let node = ConfigurationNode(json: body) else { return APIProblem.malformedBody.response() }
        do throws(ConfigurationError) {
            let isNew = try await updater.put(name, node)
            guard let document = host.listing(of: name).map(ChannelDocument.init) else {
                return APIProblem.unknownChannel(name).response()
            }
            return Self.json(document, isNew ? .created : .ok)
        } catch {
            return APIProblem(error, status: .unprocessableContent, title: "The channel has mistakes").response()
        }
    }

    private static func response(to reload: Result<CatalogUpdater.Outcome, CatalogError>) -> Response {
        switch reload {
        case .success(let outcome): json(ReloadDocument(outcome))
        case .failure(.configuration(let error, _)):
            APIProblem(error, status: .conflict, title: "The configuration has mistakes; nothing changed").response()
        case .failure(.other(let error)):
            APIProblem(.badGateway, "A list cannot be read; nothing changed", error.line).response()
        }
    }

    private static func json(_ value: some Encodable, _ status: HTTPStatus = .ok) -> Response {
        Response(
            status: status, contentType: .json, cacheControl: .noStore,
            body: .bytes(StatusDocument.json(of: value), gzip: nil))
    }
}

/// The answer to `POST /api/reload`: names in paths.
private struct ReloadDocument: Encodable {
    let added: [String]
    let removed: [String]
    /// Relayed differently, or only called so.
    let changed: [String]
    let unchanged: Int
    /// Channels that ran, and end.
    let ended: Int
    /// Why lists stay as they were.
    let staleLists: [String]

    init(_ outcome: CatalogUpdater.Outcome) {
        added = outcome.difference.added.map(\.slug)
        removed = outcome.difference.removed.map(\.slug)
        changed = outcome.difference.changed.map(\.after.slug)
        unchanged = outcome.difference.unchanged.count
        ended = outcome.endedCount
        staleLists = outcome.staleLists.map(\.line)
    }
}
