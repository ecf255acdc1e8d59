import ArgumentParser
import ChannelList
import Service
import Support
import WebServer

/// Options for clients that take this server for an HDHomeRun.
struct TunerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Name of the tuner, as clients show it.", valueName: "name"))
    var tunerName = TunerDevice.usualName

    @Option(
        help: ArgumentHelp(
            "Device ID of the tuner: eight hexadecimal digits.",
            discussion: """
                By default it is made of --public-url, else of the list's location and the port, and so is the same after \
                a restart. Clients know the tuner by it.
                """, valueName: "id"))
    var deviceID: String?

    @Flag(
        name: .customLong("hdhomerun-discovery"),
        help: ArgumentHelp(
            "Answer clients that look for tuners in the local network.",
            discussion: "They send to the UDP port 65001."))
    var answersDiscovery = false

    @Option(name: .customLong("hdhomerun-port"), help: .hidden)
    var discoveryPort = UInt16(DiscoveryServer.standardPort)

    func validate() throws {
        guard let deviceID, !TunerDevice.isValid(deviceID: deviceID) else { return }
        guard let corrected = TunerDevice.corrected(deviceID: deviceID) else {
            throw ValidationError("--device-id has to be eight hexadecimal digits.")
        }
        throw ValidationError("The last digit of --device-id is a check digit: \(corrected) would be right.")
    }

    /// The UDP port to listen at; nil: discovery is not asked for.
    var udpPort: Int? { answersDiscovery ? Int(discoveryPort) : nil }

    /// The tuner that clients see.
    /// - Parameters: `list`: location of the list; its query may change, and counts for nothing.
    func device(publicURL: PublicURL?, list: String, port: UInt16, tunerCount: Int) -> TunerDevice {
        let seed = publicURL?.text ?? "\(URIReference.withoutQuery(list)) \(port)"
        return TunerDevice(
            name: tunerName, deviceID: deviceID ?? TunerDevice.deviceID(seed: seed), tunerCount: tunerCount)
    }
}
