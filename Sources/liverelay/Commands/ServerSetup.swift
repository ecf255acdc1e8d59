import ArgumentParser
import HTTP
import Logging
import Observability
import Support
import WebServer

/// What the HTTP server of a process needs beside its channels: tokens, clients, and the events of the process.
struct ServerSetup: Sendable {
    let credentials: ServerCredentials
    let addresses: ForwardedAddresses
    let connections: OpenConnections
    let traffic = HTTPTraffic()
    let bus = EventBus()
    let delivery: EventDelivery
    /// Reports the clients of streams as events.
    let streamClients: ClientEvents

    /// Reads the token and certificate files, and starts delivering events.
    init(
        _ options: ServingOptions, _ addresses: ForwardedAddresses, logger: Logger
    ) throws(RelayError) {
        self.addresses = addresses
        credentials = try options.access.credentials()
        connections = options.clients.connections(addresses)
        streamClients = ClientEvents(bus, addresses: addresses)
        delivery = try EventDelivery(
            bus, webhooks: options.events.webhooks, commands: options.events.commands, logger: logger)
    }

    func start(
        on address: ListenAddress, listening: Int32?, idleTime: Duration, _ responder: some Responder
    ) async throws(RelayError) -> HTTPServer {
        do {
            return try await HTTPServer.start(
                on: address, listening: listening, limits: .init(idleTime: idleTime), connections: connections,
                traffic: traffic,
                security: credentials.security, responder: responder)
        } catch { throw RelayError(error) }
    }
}

/// Options for events that are sent to other programs.
struct EventOptions: ParsableArguments {
    @Option(
        name: .customLong("event-webhook"),
        help: ArgumentHelp(
            "URL that gets each event as a POST with JSON; repeatable.",
            discussion: """
                Events are sent one after the other. One that is not accepted is sent again after 1, 2, 4, … s, 8 times \
                at most. See docs/events.md.
                """, valueName: "url"))
    var webhooks: [String] = []

    @Option(
        name: .customLong("event-command"),
        help: ArgumentHelp(
            "Command of the shell that is run for each event; repeatable.",
            discussion: """
                It reads the event as JSON; LIVERELAY_EVENT and LIVERELAY_CHANNEL have its type and channel. At most 4 \
                run at once, for 10 s each.
                """, valueName: "command"))
    var commands: [String] = []
}

struct LogOptions: ParsableArguments {
    @Option(help: "Lowest level of log lines.")
    var logLevel = LogLevel.info

    @Option(
        help: ArgumentHelp(
            "text, or json: one object in each line.",
            discussion: """
                Its members are time, level, message and, where they apply, channel, source, sequence and url. \
                URLs are redacted as in the text.
                """))
    var logFormat = LogFormat.text

    /// Sets the line format of a console, and returns a logger that writes to it.
    func logger(of console: Console) -> Logger {
        console.setFormat(logFormat)
        return Logger(console: console, level: logLevel)
    }
}

extension LogLevel: ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
