import ArgumentParser
import Foundation
import HTTP
import Service
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
            "URL at which viewers reach this node. (default: --public-url, else the address that it listens on)",
            valueName: "url"))
    var fleetAddress: String?

    @Option(help: ArgumentHelp("Mbit/s of channels that this node can carry.", valueName: "number"))
    var fleetCapacity = 1000

    private static func engine(_ text: String) throws -> FleetSettings.Engine {
        guard let engine = FleetSettings.engine(text) else {
            throw ValidationError("\(text) is neither etcd://HOST,…/PREFIX nor s3://BUCKET/PREFIX.")
        }
        return engine
    }

    /// nil: this process runs each channel alone.
    func settings(_ address: ListenAddress, publicURL: String?) -> FleetSettings? {
        guard let fleet else { return nil }
        let machine = ProcessInfo.processInfo.hostName
        let name = fleetName ?? "\(machine)-\(address.port)"
        let url = fleetAddress ?? publicURL ?? "http://\(address.host):\(address.port)"
        return FleetSettings(
            engine: fleet, name: name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") },
            address: url.hasSuffix("/") ? String(url.dropLast()) : url, capacity: fleetCapacity * 1000)
    }
}
