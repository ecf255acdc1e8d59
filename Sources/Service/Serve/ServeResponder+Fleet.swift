import Fleet
package import HTTP
import Observability
import Support

// Channels that other nodes of a fleet run.

extension ServeResponder {
    package func sender(of target: RequestTarget) -> RequestSender {
        guard let fleet = host.fleet, let proof = target.fields.node else { return .client }
        let request = ProvenRequest(
            target.method.text, target.path, query: target.query.map { ($0.name, $0.value) }, client: nil)
        return fleet.request(request, provenBy: proof).map { .node(for: $0.client) } ?? .unproven
    }

    /// Whether a load balancer should use this process.
    var readiness: Response {
        if let fleet = host.fleet, !fleet.isReady {
            return .text(.serviceUnavailable, "not ready: this node may not publish now, or ends")
        }
        return .text(.ok, "ready: \(host.directory.channels.count) channels are listed")
    }

    /// The answer for a channel that another node runs; nil if none is known to run it.
    func answerElsewhere(_ name: String, _ resource: Route.Resource, to target: RequestTarget) -> Answer? {
        guard resource != .page, let fleet = host.fleet, case .at(let peer) = fleet.place(of: name) else { return nil }
        if target.isFromNode { return .now(Self.misdirected) }
        if case .watch = resource.traits.use, target.method == .head { return nil }
        guard let peers, resource.isPassed else { return .now(Self.redirect(target, to: peer)) }
        return .later { [self] in await answer(of: name, resource, to: target, from: peer, peers, fleet) }
    }

    /// The answer to a node for a channel that this node does not run. The records of both nodes differ for a moment.
    static let misdirected = Response.text(.misdirectedRequest, "Another node runs the channel.")

    private static func redirect(_ target: RequestTarget, to peer: FleetPeer) -> Response {
        .redirect(.temporaryRedirect, to: peer.address + target.encoded, query: nil)
    }

    /// How long a request is held until a node that runs the channel answers.
    private static let patience = Duration.seconds(15)

    /// The answer of the node that runs the channel. If it does not answer, or no longer runs it, of the next one.
    private func answer(
        of name: String, _ resource: Route.Resource, to target: RequestTarget, from first: FleetPeer,
        _ peers: PeerClient, _ fleet: FleetMember
    ) async -> Response {
        let client = addresses.clientAddress(of: target.fields)
        let deadline = ContinuousClock.now + Self.patience
        var peer = first
        while !Task.isCancelled {
            let response = await whileRunning(name, at: peer, fleet) { [peer] in
                await peers.pass(target, to: peer, for: client, isStream: resource.isTransportStream)
                    ?? Self.redirect(target, to: peer)
            }
            guard response.status == .misdirectedRequest else { return response }
            guard .now < deadline else { break }
            await fleet.waitForChange(of: name)
            if fleet.place(of: name) == .nowhere { await fleet.awaitOwner(of: name) }
            switch fleet.place(of: name) {
            case .at(let next): peer = next
            case .here: return await answer(of: name, resource, to: target).response()
            case .nowhere: return .unavailable("No node runs the channel now.")
            }
        }
        return .unavailable("The channel is being moved.")
    }

    /// The answer of a node, unless it no longer runs the channel before it answers.
    private func whileRunning(
        _ name: String, at peer: FleetPeer, _ fleet: FleetMember, _ pass: @escaping @Sendable () async -> Response
    ) async -> Response {
        await withTaskGroup(of: Response.self) { group in
            group.addTask(operation: pass)
            group.addTask {
                while !Task.isCancelled, case .at(let found) = fleet.place(of: name), found.node == peer.node {
                    await fleet.waitForChange(of: name)
                }
                return Self.misdirected
            }
            defer { group.cancelAll() }
            return await group.next() ?? Self.misdirected
        }
    }
}

// MARK: - Documents about all channels

extension ServeResponder {
    /// The document of all nodes, made of this node's own one.
    func ofAllNodes(
        _ kind: FleetDocuments.Kind, _ own: @escaping Work, _ target: RequestTarget
    ) -> Work {
        // Another node merges what this one answers.
        guard let fleetDocuments, !target.isFromNode else { return own }
        return { [host] in
            let response = await own()
            guard response.status == .ok, case .bytes(let text, _) = response.body else { return response }
            let directory = host.directory
            let merged = await fleetDocuments.merged(text, kind) {
                kind == .allRecordings || directory.isOpen($0, to: target.viewer)
            }
            return Response(
                contentType: .json, cacheControl: .noStore, body: .bytes(merged, gzip: LazyGzip(merged)))
        }
    }
}

extension MetricsSnapshot.Fleet {
    init(_ member: FleetMember) {
        let nodes = (member.view?.nodes ?? [:]).values.compactMap { $0 }
        let names = Dictionary(nodes.map { ($0.node, String($0.node.prefix { $0 != "." })) }) { first, _ in first }
        let loads = nodes.map { (names[$0.node] ?? "", max(0, $0.load) * 1000) }
        var owners: [String: (node: String, epoch: UInt64)] = [:]
        for (subject, owner) in member.view?.owners ?? [:] where !subject.hasPrefix("@") {
            if let record = owner.record, let name = names[record.node] { owners[subject] = (name, owner.epoch) }
        }
        self.init(
            loads: Dictionary(loads, uniquingKeysWith: +), owners: owners, holdsLease: member.holdsLease)
    }
}

extension RequestTarget.Method {
    fileprivate var text: String {
        switch self {
        case .get, .head: "GET"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}

extension Route.Resource {
    /// Whether another node's answer is passed on. A clip may be too large for that.
    fileprivate var isPassed: Bool { if case .clip = self { false } else { true } }

    fileprivate var isTransportStream: Bool {
        switch self {
        case .endlessStream, .transportClip: true
        default: false
        }
    }
}
