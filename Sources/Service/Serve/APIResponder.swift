import ChannelList
import Foundation
package import Guide
package import HTTP
package import Observability
import Support

/// Answers requests to `/api`: the listed channels, and changes to them.
package final class APIResponder: Sendable {
    /// The largest body of a request, in bytes.
    static let bodyLimit = 256 << 10

    private let token: AccessToken
    private let host: ChannelHost
    private let updater: CatalogUpdater
    private let bus: EventBus
    private let recordings: RecordingResponder

    /// - Parameters:
    ///   - recordings: nil: the server makes no recordings.
    ///   - guide: the guide with the programs that can be recorded.
    package init(
        token: AccessToken, host: ChannelHost, updater: CatalogUpdater, events bus: EventBus = EventBus(),
        recordings: RecordingService? = nil, guide: GuideService? = nil
    ) {
        self.token = token
        self.host = host
        self.updater = updater
        self.bus = bus
        self.recordings = RecordingResponder(recordings, host.continuousRecordings, guide: guide)
    }

    /// Answers a request by any method. A refusal is sent before the body has arrived.
    /// - Parameters:
    ///   - documents: documents of the moment; the list of all channels is such a document.
    ///   - status: the status of the process.
    func answer(
        to route: Route.API, _ target: RequestTarget, documents: DocumentCache,
        status: @escaping @Sendable () -> ServeStatus
    ) -> Answer {
        if target.method == .options { return .now(Self.options(of: route, target.path)) }
        // The document is open to everybody, because it is part of the project.
        guard route == .document || token.isCarried(by: target.fields.authorization) else {
            return .now(APIProblem.unauthorized.response([HeaderField(name: "WWW-Authenticate", value: "Bearer")]))
        }
        switch (route, target.method) {
        case (.document, .get), (.document, .head):
            return .now(
                Response(
                    contentType: .json, cacheControl: .maxAge(seconds: 3600),
                    body: .bytes(APIDocument.json, gzip: nil)))
        case (.channels, .get), (.channels, .head):
            return .later { [host] in
                await documents.perform { .json(of: ChannelDocument.List(host.overview), for: .operators) }
            }
        case (.status, .get), (.status, .head):
            return .later { await documents.perform { .json(of: status(), for: .operators) } }
        case (.events, .get), (.events, .head):
            return .now(bus.response(to: target))
        case (.channel(let name), .get), (.channel(let name), .head):
            return .now(document(of: name, .ok))
        case (.channel(let name), .other("PUT")):
            return Self.action(json: target) { [self] in await put(name, $0) }
        case (.channel(let name), .other("DELETE")):
            return Self.action { [updater] _ in
                guard await updater.delete(name) else { return APIProblem.unknownChannel(name).response() }
                return Response(status: .noContent, cacheControl: .noStore, body: .empty)
            }
        case (.recordings, _) where route.permits(target.method), (.recording, _) where route.permits(target.method):
            return recordings.answer(to: route, target, documents: documents)
        case (.reload, .other("POST")): return Self.action { [updater] _ in Self.response(to: await updater.reload()) }
        default:
            guard let methods = route.methods else { return .now(APIProblem.unknownPath(target.path).response()) }
            return .now(APIProblem.wrongMethod(allowed: methods))
        }
    }

    static func action(_ perform: @escaping @Sendable ([UInt8]) async -> Response) -> Answer {
        .body(BodyAction(limit: bodyLimit, tooLarge: APIProblem.largeBody.response(), perform: perform))
    }

    /// - Parameter target: a request whose body must be a JSON object.
    static func action(
        json target: RequestTarget, _ perform: @escaping @Sendable (ConfigurationNode) async -> Response
    ) -> Answer {
        let type = target.fields.contentType?.prefix { $0 != ";" && $0 != " " }.lowercased()
        return action { body in
            guard type == "application/json" else { return APIProblem.wrongType.response() }
            guard let node = ConfigurationNode(json: body) else { return APIProblem.malformedBody.response() }
            return await perform(node)
        }
    }

    /// The methods of a path. No token is needed to learn them.
    private static func options(of route: Route.API, _ path: String) -> Response {
        guard let methods = route.methods else { return APIProblem.unknownPath(path).response() }
        return Response(
            status: .noContent, cacheControl: .noStore, body: .empty,
            extraHeaders: [HeaderField(name: "Allow", value: methods)])
    }

    private func document(of name: String, _ status: HTTPStatus) -> Response {
        host.listing(of: name).map { .json(of: ChannelDocument($0.channel, $0.entry), for: .operators, status: status) }
            ?? APIProblem.unknownChannel(name).response()
    }

    private func put(_ name: String, _ node: ConfigurationNode) async -> Response {
        do throws(ConfigurationError) {
            let isNew = try await updater.put(name, node)
            return document(of: name, isNew ? .created : .ok)
        } catch {
            // The document permits any account name: whether the account exists depends on the configuration.
            let status: HTTPStatus = error.isUnknownAccount ? .conflict : .unprocessableContent
            return APIProblem(error, status: status, title: "The channel has mistakes").response()
        }
    }

    private static func response(to reload: Result<CatalogUpdater.Outcome, CatalogError>) -> Response {
        switch reload {
        case .success(let outcome): .json(of: ReloadDocument(outcome), for: .operators)
        case .failure(.configuration(let error, _)):
            APIProblem(error, status: .conflict, title: "The configuration has mistakes; nothing changed").response()
        case .failure(.other(let error)):
            APIProblem(.badGateway, "A list cannot be read; nothing changed", error.line).response()
        }
    }
}

extension Route.API {
    /// The methods that the path answers; nil: the path does not exist.
    fileprivate var methods: String? {
        switch self {
        case .document, .channels, .status: "GET, HEAD, OPTIONS"
        case .channel: "GET, HEAD, PUT, DELETE, OPTIONS"
        case .recordings: "GET, HEAD, POST, OPTIONS"
        case .recording: "GET, HEAD, PATCH, DELETE, OPTIONS"
        case .reload: "POST, OPTIONS"
        case .events, .unknown: nil
        }
    }

    fileprivate func permits(_ method: RequestTarget.Method) -> Bool {
        let name =
            switch method {
            case .get: "GET"
            case .head: "HEAD"
            case .options: "OPTIONS"
            case .other(let name): name
            }
        return methods?.components(separatedBy: ", ").contains(name) ?? false
    }
}

/// The answer to `POST /api/reload`, with slugs.
private struct ReloadDocument: Encodable {
    let added: [String]
    let removed: [String]
    /// Channels that are relayed differently, or whose description changed.
    let changed: [String]
    let unchanged: Int
    /// The number of running channels that end.
    let ended: Int
    /// The reasons why lists keep their previous content.
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

extension ConfigurationNode {
    /// Reads a JSON object; nil for anything else.
    init?(json: [UInt8]) {
        guard let node = try? JSONDecoder().decode(ConfigurationNode.self, from: Data(json)), case .map = node.content
        else { return nil }
        self = node
    }
}
