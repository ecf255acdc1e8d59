import ChannelList
import Fetch
import Fleet
import HTTP
import Support

// Requests to the API of any node of a fleet.

extension ServeResponder {
    /// The answer of the node or the nodes that a request is about.
    /// - Parameter own: the answer of this node.
    func answerOfFleet(to path: Route.API?, _ field: String, _ target: RequestTarget, _ own: Answer) -> Answer {
        guard let path, let peers, let fleet = host.fleet, !target.isFromNode, !own.isRefusal else { return own }
        switch (path, own) {
        case (.channels, .later(let work)): return .later(ofAllNodes(.api, work, target))
        case (.recordings, .later(let work)): return .later(ofAllNodes(.allRecordings, work, target))
        case (.recordings, .body(let action)):
            return action.changed { [self] body in
                let request = ConfigurationNode(json: body).flatMap { try? RecordingRequest($0) }
                guard let request, case .at(let peer) = fleet.place(of: request.channel) else {
                    return await action.perform(body)
                }
                return await self.answer(to: target, body, from: peer, peers)
            }
        case (.recording, .body) where target.changes == .delete && recordings?.isPlannedByAll(field) == true:
            return own
        case (.recording, _), (.reload, .body):
            return ofEachNode(own, target, peers, fleet)
        default: return own
        }
    }

    /// Makes a request at each node, because any of them may have what it is about.
    private func ofEachNode(
        _ own: Answer, _ target: RequestTarget, _ peers: PeerClient, _ fleet: FleetMember
    ) -> Answer {
        let perform: @Sendable ([UInt8]) async -> Response = { [self] body in
            let first = if case .body(let action) = own { await action.perform(body) } else { await own.response() }
            let others = await withTaskGroup(of: Response.self) { group in
                for peer in fleet.peers { group.addTask { await self.answer(to: target, body, from: peer, peers) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            return Self.chosen(from: [first] + others)
        }
        switch own {
        case .body(let action): return action.changed(perform)
        case _ where target.changes != nil: return APIResponder.action(perform)
        default: return .later { await perform([]) }
        }
    }

    /// The answer that says most: what went wrong at a node that has what was asked for, or else what it did.
    private static func chosen(from answers: [Response]) -> Response {
        let found = answers.filter { $0.status != .notFound }
        return found.first { !(200..<300).contains($0.status.rawValue) } ?? found.first ?? answers[0]
    }

    private func answer(
        to target: RequestTarget, _ body: [UInt8], from peer: FleetPeer, _ peers: PeerClient
    ) async -> Response {
        let client = addresses.clientAddress(of: target.fields)
        switch await peers.send(target, target.changes, body, to: peer, for: client) {
        case .failure:
            return APIProblem(
                .badGateway, "A node does not answer", "\(peer.name) does not answer. Look first, then ask again."
            ).response()
        case let outcome: return Response(passing: outcome)
        }
    }
}

extension RequestTarget {
    /// The method of a request that may change something; nil for others.
    fileprivate var changes: RequestContent.Method? {
        if case .other(let name) = method { RequestContent.Method(rawValue: name) } else { nil }
    }
}

extension BodyAction {
    fileprivate func changed(_ perform: @escaping @Sendable ([UInt8]) async -> Response) -> Answer {
        .body(BodyAction(limit: limit, tooLarge: tooLarge, place: place, perform: perform))
    }
}

extension Answer {
    /// Whether no node has to be asked: the request itself is wrong.
    fileprivate var isRefusal: Bool {
        guard case .now(let response) = self else { return false }
        return response.status.rawValue >= 400 && response.status != .notFound || response.status == .noContent
    }
}
