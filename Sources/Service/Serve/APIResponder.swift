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
    let bus: EventBus
    let recordings: RecordingResponder
    private let streams: ClientEvents

    /// - Parameters:
    ///   - recordings: nil: the server makes no recordings.
    ///   - guide: the guide with the programs that can be recorded.
    package init(
        token: AccessToken, host: ChannelHost, updater: CatalogUpdater, events bus: EventBus = EventBus(),
        recordings: RecordingService? = nil, guide: GuideService? = nil, streams: ClientEvents = ClientEvents()
    ) {
        self.streams = streams
        self.token = token
        self.host = host
        self.updater = updater
        self.bus = bus
        self.recordings = RecordingResponder(recordings, host.continuousRecordings, guide: guide)
    }

    /// Answers a request by any method. A refusal is sent before the body has arrived.
    /// - Parameter path: nil for a path that the API does not have.
    func answer(to path: Route.API?, _ request: APIRequest) -> Answer {
        let operations = path.map(APIOperation.of) ?? []
        let methods = operations.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] } + ["OPTIONS"]
        let allowed = methods.joined(separator: ", ")
        let target = request.target
        // No token is needed to learn the methods.
        if target.method == .options {
            guard path != nil else { return .now(APIProblem.unknownPath(target.path).response()) }
            return .now(
                Response(
                    status: .noContent, cacheControl: .noStore, body: .empty,
                    extraHeaders: [HeaderField(name: "Allow", value: allowed)]))
        }
        let isOpen = operations.first?.needsToken == false
        // Another node asks for its own document, whose readers have the token.
        let isForNode = target.isFromNode && [.channels, .recordings].contains(path) && target.method == .get
        guard isOpen || isForNode || token.isCarried(by: target.fields.authorization) else {
            return .now(APIProblem.unauthorized.response([HeaderField(name: "WWW-Authenticate", value: "Bearer")]))
        }
        if path == nil { return .now(APIProblem.unknownPath(target.path).response()) }
        guard let operation = operations.first(where: { $0.method.answers(target.method) }) else {
            return .now(APIProblem.wrongMethod(allowed: allowed))
        }
        return operation.answer(self, request)
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

    func channels(_ request: APIRequest) -> Answer {
        .later { [host] in
            await request.documents.perform { .json(of: ChannelDocument.List(host.overview), for: .operators) }
        }
    }

    func document(of name: String, _ status: HTTPStatus) -> Response {
        host.listing(of: name).map { .json(of: ChannelDocument($0.channel, $0.entry), for: .operators, status: status) }
            ?? APIProblem.unknownChannel(name).response()
    }

    func viewers() -> Response {
        .json(of: ViewerDocument.List(viewers: streams.connected.map(ViewerDocument.init)), for: .operators)
    }

    func endStream(of id: String) -> Response {
        guard let number = UInt64(id), streams.end(number) else { return APIProblem.noSuchViewer.response() }
        return Response(status: .noContent, cacheControl: .noStore, body: .empty)
    }

    func delete(_ name: String) async -> Response {
        do throws(CatalogUpdater.Failure) {
            guard try await updater.delete(name) else { return APIProblem.unknownChannel(name).response() }
            return Response(status: .noContent, cacheControl: .noStore, body: .empty)
        } catch { return Self.problem(error).response() }
    }

    func put(_ name: String, _ node: ConfigurationNode) async -> Response {
        do throws(CatalogUpdater.Failure) {
            let isNew = try await updater.put(name, node)
            return document(of: name, isNew ? .created : .ok)
        } catch { return Self.problem(error).response() }
    }

    private static func problem(_ failure: CatalogUpdater.Failure) -> APIProblem {
        switch failure {
        case .configuration(let error):
            // The document permits any account name: whether the account exists depends on the configuration.
            APIProblem(
                error, status: error.isUnknownAccount ? .conflict : .unprocessableContent,
                title: "The channel has mistakes")
        case .fleet(let failure): APIProblem(failure)
        }
    }

    func reload() async -> Response {
        switch await updater.reload() {
        case .success(let outcome): .json(of: ReloadDocument(outcome), for: .operators)
        case .failure(.configuration(let error, _)):
            APIProblem(error, status: .conflict, title: "The configuration has mistakes; nothing changed").response()
        case .failure(.other(let error)):
            APIProblem(.badGateway, "A list cannot be read; nothing changed", error.line).response()
        }
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

/// A client of an endless stream.
private struct ViewerDocument: Encodable {
    struct List: Encodable { let viewers: [ViewerDocument] }

    let id: UInt64
    /// The channel's slug.
    let channel: String?
    let address: String?
    let userAgent: String?
    let seconds: Double

    init(_ connected: ClientEvents.Connected) {
        (id, channel) = (connected.client.number, connected.channel)
        (address, userAgent) = (connected.client.address, connected.client.userAgent)
        seconds = connected.since.duration(to: .now).inSeconds
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
