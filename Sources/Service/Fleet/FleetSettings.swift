package import ArchiveStore
package import Fleet
import Foundation
package import Logging
import Support

/// The engine of a fleet, and this node's place in it.
package struct FleetSettings: Sendable {
    package enum Engine: Sendable, Equatable {
        case etcd(EtcdEngine.Location)
        case store(StoreURL)
    }

    package let engine: Engine
    /// Common to all nodes.
    package let key: FleetKey
    /// The name of the node, which other nodes and logs show.
    package let name: String
    /// The URL at which other nodes reach this node, without a slash at its end.
    package let address: String
    /// kbit/s.
    package let capacity: Int

    package init(engine: Engine, key: FleetKey, name: String, address: String, capacity: Int) {
        (self.engine, self.key, self.name, self.address, self.capacity) = (engine, key, name, address, capacity)
    }

    /// Reads `etcd://…` or `s3://…`.
    package static func engine(_ text: String) -> Engine? {
        if let location = EtcdEngine.Location(parsing: text) { return .etcd(location) }
        return (try? StoreURL(parsing: text)).map(Engine.store)
    }

    private static let storeLimit = Duration.seconds(4)

    /// Connects to the engine and probes it.
    package func join(_ logger: Logger) async throws(EngineError) -> FleetMember {
        let engine = try makeEngine()
        let run = WriterName.random
        try await EngineProbe.run(engine, name: run)
        let record = NodeRecord(
            node: "\(name).\(run)", address: address, program: ProgramVersion.text, capacity: capacity)
        return FleetMember(record, engine: engine, key: key) { report in
            switch report {
            case .failing(let error): logger.error("Fleet: \(error.message)")
            case .recovered(let time): logger.info("Fleet: the engine answers again after \(time.secondsText)")
            case .started(let channel, let epoch, let base):
                logger.info("Fleet: this node runs channel=\(channel) epoch=\(epoch) base=\(base)")
            case .stopping(let channel): logger.info("Fleet: this node ends channel=\(channel)")
            }
        }
    }

    private func makeEngine() throws(EngineError) -> any FleetEngine {
        switch engine {
        case .etcd(let location): return try EtcdEngine(location, key: key)
        case .store(let url):
            guard let credentials = StoreCredentials(environment: ProcessInfo.processInfo.environment) else {
                throw EngineError(.refused(status: 0, words: "there is no AWS_ACCESS_KEY_ID"))
            }
            do {
                return StoreEngine(
                    try ObjectStore(url, credentials: credentials, timeLimit: Self.storeLimit) {
                        WallClock.milliseconds
                    }, key: key)
            } catch { throw EngineError(.unreachable("\(error)")) }
        }
    }
}
