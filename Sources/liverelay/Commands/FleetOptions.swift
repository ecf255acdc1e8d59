import ArgumentParser
import Fleet
import Foundation
import HTTP
import Service
import Support
import WebServer

/// Options for several machines that share the channels of a list.
struct FleetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share the channels of the list with other nodes, by the records in an engine.",
            discussion: """
                etcd://[USER:PASSWORD@]HOST[:PORT],…/PREFIX, etcds:// for TLS, or an object store: \
                s3://BUCKET/PREFIX?endpoint=…, with its key in the environment.
                """, valueName: "url"), transform: Self.engine)
    var fleet: FleetSettings.Engine?

    @Option(help: ArgumentHelp("Name of this node. (default: the name of the machine and the port)", valueName: "name"))
    var fleetName: String?

    @Option(
        help: ArgumentHelp(
            "File with the key that all nodes have, which not everybody may read.",
            discussion: "With it, nodes prove their requests to each other. --fleet needs it.", valueName: "file"),
        completion: .file())
    var fleetKey: String?

    @Option(
        help: ArgumentHelp(
            "URL at which other nodes reach this node. (default: --public-url, else the address that it listens on)",
            discussion: "With --fleet-redirect, viewers need to reach it too.", valueName: "url"))
    var fleetAddress: String?

    @Flag(help: "Redirect viewers (307) to the node that runs their channel, instead of answering for it.")
    var fleetRedirect = false

    @Option(help: ArgumentHelp("Mbit/s of channels that this node can carry.", valueName: "number"))
    var fleetCapacity = 1000

    private static func engine(_ text: String) throws -> FleetSettings.Engine {
        guard let engine = FleetSettings.engine(text) else {
            throw ValidationError("\(text) is neither etcd://HOST,…/PREFIX nor s3://BUCKET/PREFIX.")
        }
        return engine
    }

    func validate() throws {
        guard fleet != nil else { return }
        guard let fleetKey, !fleetKey.isEmpty else {
            throw ValidationError("--fleet needs --fleet-key FILE: openssl rand -hex 32 makes a key.")
        }
        guard (1...10_000_000).contains(fleetCapacity) else {
            throw ValidationError("--fleet-capacity has to be between 1 and 10000000.")
        }
    }

    /// nil: this process runs each channel alone.
    func settings(_ address: ListenAddress, publicURL: String?) throws(RelayError) -> FleetSettings? {
        guard let fleet, let fleetKey else { return nil }
        let machine = ProcessInfo.processInfo.hostName
        let name = (fleetName ?? "\(machine)-\(address.port)")
            .filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        let url = fleetAddress ?? publicURL ?? "http://\(address.host):\(address.port)"
        return FleetSettings(
            engine: fleet, key: try Self.key(fileAt: fleetKey), name: name,
            address: url.hasSuffix("/") ? String(url.dropLast()) : url, capacity: fleetCapacity * 1000)
    }

    private static func key(fileAt path: String) throws(RelayError) -> FleetKey {
        let file = SecretFile(path, of: "key")
        let words = try file.words()
        guard words.count == 1, let key = FleetKey(words[0].word) else {
            throw file.error("has no key", advice: "Write one key of \(FleetKey.description) into it")
        }
        return key
    }
}
