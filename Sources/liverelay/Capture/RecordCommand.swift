import ArgumentParser
import Capture
import Foundation
import Logging
import Tracker

/// `liverelay record <upstream.m3u8> DIR`
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Store what a channel's upstream answers, to replay it later.",
        discussion: """
            Asks the upstream for all that the relay would ask it for (playlists, segments, keys, maps, companion audio, \
            subtitles) and stores each answer with its status, headers, time and errors in a directory: a capture. It can \
            be read at any moment, even if the process is killed. liverelay replay plays it again, byte for byte.

            What was sent to the upstream (headers, cookies, passwords) is never stored. Addresses are stored whole unless \
            they are stripped, here or later by liverelay excerpt; a token that is part of a path stays.

            liverelay record https://example.com/channel/master.m3u8 evening --for 10m --strip-query
            """)

    @Argument(help: "Address of the channel's master or media playlist (http or https).")
    var upstream: String

    @Argument(help: ArgumentHelp("Directory for the capture; empty or not there yet.", valueName: "capture"))
    var capture: String

    @Option(name: .customLong("for"), help: "How long to record: 90, 15m, 2h. Until it is interrupted, unless given.")
    var length: TimeSpan?

    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp(
            "Address that stands in when the upstream is silent; may be repeated.", valueName: "address"))
    var backups: [String] = []

    @OptionGroup(title: "What is left out") var strip: StripOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions

    @Option(help: "How much is logged.")
    var logLevel = LogLevel.notice

    func run() async throws {
        let console = Console.standardError
        var logger = Logger(label: "liverelay") { _ in ConsoleLogHandler(console: console) }
        logger.logLevel = logLevel.level
        try await Recording(
            upstream: upstream, directory: URL(filePath: capture, directoryHint: .isDirectory),
            policy: ChannelSession.Policy(
                session: UpstreamSession.Policy(
                    variant: intake.variant, giveUp: intake.giveUp.seconds == 0 ? nil : intake.giveUp.duration,
                    maxConnections: intake.maxConnections),
                backups: backups),
            requests: intake.requests, redaction: strip.options, length: length?.duration, console: console,
            logger: logger
        ).run()
    }
}

/// What a capture does not tell to whom it is shown.
struct StripOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Leave out the queries of all addresses, in the playlists too.",
            discussion: "Where only its query tells a resource from another it becomes ?2, ?3 and so on."))
    var stripQuery = false

    @Flag(help: "Leave out all headers of the answers but Content-Type and Retry-After.")
    var stripHeaders = false

    @Flag(help: "Call the hosts host-1.example, host-2.example and so on.")
    var stripHosts = false

    var options: CaptureRedactor.Options {
        CaptureRedactor.Options(queries: stripQuery, headers: stripHeaders, hosts: stripHosts)
    }
}
