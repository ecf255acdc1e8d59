import ArgumentParser
import HTTP
import Support
import WebServer

/// Options for the server and the console of a process that runs channels.
struct ServingOptions: ParsableArguments {
    @Option(help: "Address to listen on; 0.0.0.0 for every interface.")
    var listen = "127.0.0.1"

    @Option(help: "Port to listen on; 0 lets the system choose. (default: 8080, and no server with --output)")
    var port: UInt16?

    private static let defaultPort: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Close connections that read nothing, or ask nothing, for so long.",
            discussion: "Clients of /live.ts that read too slowly are moved forward before that."))
    var clientTimeout = TimeSpan(seconds: 60)

    @Option(
        help: ArgumentHelp(
            "After an upgrade, end the old process after so long, whatever its clients still read.",
            discussion: "SIGUSR2 upgrades: see docs/install.md."))
    var upgradeLimit = TimeSpan(seconds: 300)

    @OptionGroup(title: "Clients") var clients: ClientOptions
    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Events") var events: EventOptions

    var address: ListenAddress { ListenAddress(host: listen, port: Int(port ?? Self.defaultPort)) }
}
