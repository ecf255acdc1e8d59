import Testing

@testable import Fleet

@Suite("A node whose process ends") struct LeavingTests {
    /// A node alone with an engine that answers at once.
    private struct Scene {
        var node = FleetNode(NodeRecord(node: "a.1", address: "", capacity: 10_000_000))
        var owners: [String: Ownership] = [:]
        var now = Duration.zero

        /// - Returns: all actions of the input, and of what follows from it.
        mutating func send(_ input: FleetNode.Input) -> [FleetNode.Action] {
            let actions = node.handle(input, at: now)
            return actions
                + actions.flatMap { action -> [FleetNode.Action] in
                    switch action {
                    case .create(let record):
                        owners[record.subject] = Ownership(epoch: record.epoch, record: record)
                        return send(.created(record, isOwn: true))
                    case .beat(let record):
                        return send(
                            .viewed(
                                FleetView(
                                    counter: record.counter, sentAt: now, nodes: [record.node: record], owners: owners))
                        )
                    default: return []
                    }
                }
        }
    }

    @Test(
        "Channels are handed over in eight parts, of four channels at least", arguments: [(3, 3), (20, 4), (200, 25)])
    func parts(channels: Int, atOnce: Int) {
        var scene = Scene()
        let demands = (0..<channels).map { ("c\($0)", FleetNode.Demand(isAlways: true)) }
        _ = scene.send(.listed(Dictionary(uniqueKeysWithValues: demands), hash: ""))
        for _ in 0..<40 {
            scene.now += .seconds(1)
            _ = scene.send(.wake)
        }
        #expect(scene.node.held.count == channels)
        let stopped = scene.send(.leaving).filter { if case .stop = $0 { true } else { false } }
        #expect(stopped.count == atOnce)
    }
}
