package import Fetch
package import Fleet
import HTTP
import Support
import Synchronization

/// Asks other nodes of a fleet, for viewers of this node or for this node itself.
package final class PeerClient: Sendable {
    /// Answers to viewers that are passed at once. Further viewers are redirected.
    private static let passedAtOnce = 48
    /// The largest answer that is passed, unless it is a stream. Viewers of larger ones are redirected.
    private static let longestBody = 16 << 20
    /// Longer than a node holds a request for a channel that starts.
    private static let timeLimit = Duration.seconds(60)
    /// The most nodes whose connections are kept.
    private static let peerLimit = 64

    private struct State {
        var fetchers: [String: CurlFetcher] = [:]
        var passed = 0
    }

    private let key: FleetKey
    /// Whether viewers are answered by this node. Otherwise they are redirected.
    private let passes: Bool
    private let configuration: CurlConfiguration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - passes: whether viewers are answered by this node. Otherwise they are redirected.
    ///   - requests: the certificate authorities of requests between nodes.
    package init(_ key: FleetKey, passes: Bool = true, requests: CurlConfiguration = CurlConfiguration()) {
        (self.key, self.passes) = (key, passes)
        var configuration = CurlConfiguration()
        configuration.certificateAuthorities = requests.certificateAuthorities
        // Nodes reach each other without the proxy of the upstreams.
        configuration.noProxy = "*"
        configuration.connectLimit = .seconds(2)
        configuration.segmentLimits = .init(
            bodyBytes: Self.longestBody, idle: .seconds(8), total: Self.timeLimit)
        configuration.keyLimits = .init(bodyBytes: Self.longestBody, idle: .seconds(12), total: .seconds(15))
        self.configuration = configuration
    }

    /// Answers a viewer as another node does.
    /// - Parameters:
    ///   - client: the IP address of the viewer.
    ///   - isStream: whether the answer is a transport stream without an end.
    /// - Returns: nil if the viewer has to be redirected.
    func pass(_ target: RequestTarget, to peer: FleetPeer, for client: String?, isStream: Bool) async -> Response? {
        let isAdmitted = state.withLock { state in
            guard passes, state.passed < Self.passedAtOnce else { return false }
            state.passed += 1
            return true
        }
        guard isAdmitted else { return nil }
        let leave: @Sendable () -> Void = { [self] in state.withLock { $0.passed -= 1 } }
        guard isStream else {
            defer { leave() }
            let outcome = await answer(target, from: peer, for: client)
            if case .failure(let error) = outcome, error.reason == .tooLarge { return nil }
            return Response(passing: outcome)
        }
        return await PassedStream.response { [self] receive in
            defer { leave() }
            return await answer(target, from: peer, for: client, receive)
        }
    }

    /// The longest time for which a node waits for another node's document.
    private static let patience = Duration.seconds(2)

    /// The document at a path of another node, for this node; nil: the node does not answer in time.
    func document(_ path: String, of peer: FleetPeer) async -> [UInt8]? {
        guard let target = try? RequestTarget(method: .get, uri: path) else { return nil }
        let transfer = Task { await answer(target, from: peer, for: nil) }
        let deadline = Task {
            if (try? await Task.sleep(for: Self.patience)) != nil { transfer.cancel() }
        }
        defer { deadline.cancel() }
        guard case .success(let answer) = await transfer.value, answer.isSuccess else { return nil }
        return answer.body
    }

    /// Sends a request that may change something, for a client.
    /// - Parameter method: nil: the body of the request is empty, and it changes nothing.
    func send(
        _ target: RequestTarget, _ method: RequestContent.Method?, _ body: [UInt8], to peer: FleetPeer,
        for client: String?
    ) async -> FetchOutcome {
        guard let method else { return await answer(target, from: peer, for: client) }
        do throws(FetchError) {
            let fields = try fields(of: target, method.rawValue, to: peer, for: client)
            let content = RequestContent(
                method, type: target.fields.contentType ?? "application/json", bytes: body, fields: fields)
            return try await fetcher(of: peer).send(content, to: peer.address + target.encoded)
        } catch { return .failure(error) }
    }

    private func answer(
        _ target: RequestTarget, from peer: FleetPeer, for client: String?,
        _ receive: (@Sendable (StreamPart) async -> Void)? = nil
    ) async -> FetchOutcome {
        var request = FetchRequest(.segment, url: peer.address + target.encoded)
        request.acceptsStream = receive != nil
        do throws(FetchError) {
            let fields = try fields(of: target, "GET", to: peer, for: client)
            return try await fetcher(of: peer).get(request, fields: fields, receive: receive ?? { _ in })
        } catch {
            return .failure(error)
        }
    }

    /// The proof of a request, and the client's fields that the answer depends on.
    private func fields(
        of target: RequestTarget, _ method: String, to peer: FleetPeer, for client: String?
    ) throws(FetchError) -> [FetchAnswer.Header] {
        let proven = ProvenRequest(
            method, target.path, query: target.query.map { ($0.name, $0.value) }, client: client)
        guard let proof = key.proof(of: proven, to: peer) else {
            throw FetchError(.other, url: peer.address, message: "no proof can be made")
        }
        var fields = [FetchAnswer.Header(name: FleetKey.fieldName, value: proof.value)]
        let known = [
            ("Authorization", target.fields.authorization), ("User-Agent", target.fields.userAgent),
            ("Last-Event-ID", target.fields.lastEventID),
        ]
        for case (let name, let value?) in known { fields.append(.init(name: name, value: value)) }
        return fields
    }

    private func fetcher(of peer: FleetPeer) throws(FetchError) -> CurlFetcher {
        if let known = state.withLock({ $0.fetchers[peer.address] }) { return known }
        let fetcher = try CurlFetcher(upstream: peer.address, configuration: configuration)
        state.withLock { state in
            if state.fetchers.count >= Self.peerLimit { state.fetchers = [:] }
            state.fetchers[peer.address] = fetcher
        }
        return fetcher
    }
}
