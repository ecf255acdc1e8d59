import ChannelList
package import Observability
import Support
package import WebServer

/// Answers requests to `/api`: what is listed, and changes of it.
package final class APIResponder: Sendable {
    /// The largest body of a request, in bytes.
    static let bodyLimit = 256 << 10

    private let token: AccessToken?
    private let parts: (host: ChannelHost, updater: CatalogUpdater)?
    private let events: EventResponder?

    /// An API that does not exist.
    package init() { (token, parts, events) = (nil, nil, nil) }

    /// - Parameters:
    ///   - token: nil: the API does not exist.
    ///   - events: nil: there is no `/api/events`.
    package init(token: AccessToken?, host: ChannelHost, updater: CatalogUpdater, events: EventResponder? = nil) {
        self.token = token
        self.events = events
        parts = (host, updater)
    }

    /// Why a request is not for the API; nil if it may be answered.
    ///
    /// The document is for everyone: it is part of the project.
    private func refusal(of route: Route.API, _ target: RequestTarget) -> Response? {
        guard let token else { return APIProblem.switchedOff.response() }
        if case .document = route { return nil }
        guard !token.isCarried(by: target.fields.authorization) else { return nil }
        return APIProblem.unauthorized.response([HeaderField(name: "WWW-Authenticate", value: "Bearer")])
    }

    /// Answers a request by any method. What is refused is refused before its body has arrived.
    /// - Parameter documents: of the moment, one of which all channels together are.
    func answer(to route: Route.API, _ target: RequestTarget, documents: DocumentCache) -> Answer {
        if target.method == .options, token != nil { return .now(Self.options(of: route, target.path)) }
        if let refusal = refusal(of: route, target) { return .now(refusal) }
        guard let (host, updater) = parts else { return .now(APIProblem.switchedOff.response()) }
        switch (route, target.method) {
        case (.document, .get), (.document, .head):
            return .now(
                Response(
                    contentType: .json, cacheControl: .maxAge(seconds: 3600),
                    body: .bytes(APIDocument.json, gzip: nil)))
        case (.channels, .get), (.channels, .head):
            return .later { await documents.perform { Self.json(ChannelDocument.List(host.overview)) } }
        case (.events, .get), (.events, .head):
            return .now(events?.response(to: target) ?? APIProblem.unknownPath(target.path).response())
        case (.channel(let name), .get), (.channel(let name), .head):
            return .now(Self.document(of: name, host, .ok))
        case (.channel(let name), .other("PUT")):
            let isJSON = Self.isJSON(target.fields.contentType)
            return Self.action {
                isJSON ? await Self.put(name, $0, host, updater) : APIProblem.wrongType.response()
            }
        case (.channel(let name), .other("DELETE")):
            return Self.action { _ in
                guard await updater.delete(name) else { return APIProblem.unknownChannel(name).response() }
                return Response(status: .noContent, cacheControl: .noStore, body: .empty)
            }
        case (.reload, .other("POST")): return Self.action { _ in Self.response(to: await updater.reload()) }
        default:
            guard let methods = route.methods else { return .now(APIProblem.unknownPath(target.path).response()) }
            return .now(APIProblem.wrongMethod(allowed: methods))
        }
    }

    private static func action(_ perform: @escaping @Sendable ([UInt8]) async -> Response) -> Answer {
        .body(BodyAction(limit: bodyLimit, tooLarge: APIProblem.largeBody.response(), perform: perform))
    }

    /// The methods of a path, for which no token is needed.
    private static func options(of route: Route.API, _ path: String) -> Response {
        guard let methods = route.methods else { return APIProblem.unknownPath(path).response() }
        return Response(
            status: .noContent, cacheControl: .noStore, body: .empty,
            extraHeaders: [HeaderField(name: "Allow", value: methods)])
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        contentType?.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }

    private static func document(of name: String, _ host: ChannelHost, _ status: HTTPStatus) -> Response {
        host.listing(of: name).map { json(ChannelDocument($0), status) } ?? APIProblem.unknownChannel(name).response()
    }

    private static func put(
        _ name: String, _ body: [UInt8], _ host: ChannelHost, _ updater: CatalogUpdater
    ) async -> Response {
        guard let node = ConfigurationNode(json: body) else { return APIProblem.malformedBody.response() }
        do throws(ConfigurationError) {
            let isNew = try await updater.put(name, node)
            return document(of: name, host, isNew ? .created : .ok)
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

extension Route.API {
    /// The methods that the path answers; nil: the path does not exist.
    fileprivate var methods: String? {
        switch self {
        case .document, .channels: "GET, HEAD, OPTIONS"
        case .channel: "GET, HEAD, PUT, DELETE, OPTIONS"
        case .reload: "POST, OPTIONS"
        case .events, .unknown: nil
        }
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
