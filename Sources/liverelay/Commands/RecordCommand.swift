import ArgumentParser
import Capture
import Foundation
import Logging
import Observability
import Tracker

/// `liverelay record <upstream.m3u8> DIR`
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Store what a channel's upstream answers, to replay it later.",
        discussion: """
            Requests all that the relay would request from the upstream (playlists, segments, keys, maps, companion audio, \
            subtitles) and stores each answer with its status, headers, time and errors in a directory: a capture. It can \
            be read at any moment, even if the process is killed. liverelay replay republishes it, byte for byte.

            A capture never contains what was sent to the upstream (headers, cookies, passwords). It contains whole URLs \
            unless they are stripped, here or later by liverelay excerpt; a token that is part of a path stays.

            liverelay record https://example.com/channel/master.m3u8 evening --for 10m --strip-query
            """)

    @Argument(help: "URL of the channel's master or media playlist (http or https).")
    var upstream: String

    @Argument(help: ArgumentHelp("Directory for the capture; empty or not existing yet.", valueName: "capture"))
    var capture: String

    @Option(name: .customLong("for"), help: "How long to record: 90, 15m, 2h; until interrupted by default.")
    var length: TimeSpan?

    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp("URL of a backup for an upstream that is stalled; repeatable.", valueName: "url"))
    var backups: [String] = []

    @OptionGroup(title: "Redaction") var strip: StripOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions

    @Option(help: "Lowest level of log lines.")
    var logLevel = LogLevel.notice

    func validate() throws {
        if let complaint = OptionChecks.backups(backups) { throw ValidationError(complaint) }
    }

    func run() async throws {
        let console = Console.standardError
        var session = UpstreamSession.Policy(variant: intake.variant)
        session.giveUp = intake.giveUpTime
        session.maxConnections = intake.maxConnections
        session.patience = intake.patience?.duration
        session.program = intake.program
        session.ladder = intake.variants
        session.loopsFiles = intake.loop
        session.polling = intake.polling(isRecorded: true)
        var policy = ChannelSession.Policy(session: session)
        policy.backups = backups.map(FirstWord.sourceURL)
        try await CaptureRun(
            upstream: FirstWord.sourceURL(upstream), directory: URL(filePath: capture, directoryHint: .isDirectory),
            policy: policy, requests: intake.requests, redaction: strip.options, length: length?.duration,
            console: console,
            logger: Logger(console: console, level: logLevel)
        ).run()
    }
}

/// Options that remove secrets from a capture.
struct StripOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Remove the queries of all URLs, in the playlists too.",
            discussion: "Where only the query distinguishes two resources, it becomes ?2, ?3 and so on."))
    var stripQuery = false

    @Flag(help: "Remove all response headers except Content-Type and Retry-After.")
    var stripHeaders = false

    @Flag(help: "Rename the hosts to host-1.example, host-2.example and so on.")
    var stripHosts = false

    var options: CaptureRedactor.Options {
        CaptureRedactor.Options(queries: stripQuery, headers: stripHeaders, hosts: stripHosts)
    }
}
