import ArgumentParser
import Channel
import Foundation
import LiveRing
import Logging
import Media
import Observability
import Service
import Splice
import Tracker
import WebServer

/// Options for the server and the spool.
struct ServingOptions: ParsableArguments {
    @Option(help: "Address to listen on; 0.0.0.0 for every interface.")
    var listen = "127.0.0.1"

    @Option(help: "Port to listen on; 0 lets the system choose. (default: 8080, and no server with --output)")
    var port: UInt16?

    static let defaultPort: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Directory for the rewind. A restarted channel resumes where it stopped.",
            discussion: "By default a temporary directory, which is removed at the end.", valueName: "directory"))
    var spool: String?

    @Option(help: "Rewind to keep: 90, 15m, 2h. (default: 2h, and one minute if nothing but --output reads it)")
    var dvr: TimeSpan?

    static let defaultRewind = TimeSpan(seconds: 7200)
    /// What a slow reader of --output may be late before it is moved forward, and more.
    static let streamingRewind = TimeSpan(seconds: 60)

    @Option(help: "Length of live.m3u8, which has at least six segments.")
    var window = TimeSpan(seconds: 30)

    @Option(
        help: ArgumentHelp(
            "Close connections that read nothing, or ask nothing, for so long.",
            discussion: "Clients of /live.ts that read too slowly are moved forward before that."))
    var clientTimeout = TimeSpan(seconds: 60)

    @OptionGroup var clients: ClientOptions
    @OptionGroup var access: AccessOptions

    @Option(
        help: ArgumentHelp(
            "Directory for a capture of every upstream answer, as long as the channel runs.",
            discussion: "The directory must be empty or not existing yet; see liverelay help record.",
            valueName: "directory"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "MP4 file to publish while no upstream delivers.",
            discussion: """
                The slate starts after one and a half target durations of silence, at least 3 s, and repeats until the \
                upstream is back. A replaced or overwritten file takes effect with the next segment; while it is \
                incomplete, gaps are listed. Without a slate such time is listed as gaps (EXT-X-GAP) after three and a \
                half target durations, at least 8 s.
                """, valueName: "file"))
    var slate: String?

    @Option(
        help: ArgumentHelp(
            "Media that the channel must have: video.",
            discussion: "Segments that would be published as audio alone count as unusable (status 15).",
            valueName: "media"))
    var require: RequiredMedia?

    @OptionGroup var log: LogOptions
    @OptionGroup var events: EventOptions

    @Flag(
        help: """
            End with status 0 when the upstream has ended, instead of continuing to serve. A live channel that ends is \
            polled for 3.5 target durations first, in case it starts again.
            """)
    var exitAtEnd = false

    func validate() throws {
        for (option, path) in [("--spool", spool), ("--record", record), ("--slate", slate)] where path == "" {
            throw ValidationError("\(option) has to name a \(option == "--slate" ? "file" : "directory").")
        }
    }

    func run(
        upstream: String, backups: [String] = [], intake: UpstreamOptions, audio: AudioOptions,
        streaming: StreamingOptions? = nil, startupLines: @escaping @Sendable (String) -> [String]
    ) async throws {
        try streaming?.destination?.check()
        let hasServer = streaming?.destination == nil || port != nil
        let slate = try SlateSource.open(slate)
        let directory = try SpoolLocation(spool)
        defer { directory.removeIfTemporary() }
        // A start that fails must not truncate an earlier recording.
        let output = try streaming?.destination?.open()
        let console = Console.standardError
        let logger = log.logger(of: console)
        if directory.removedCount > 0 {
            logger.info("Removed \(directory.removedCount) temporary spools of killed processes")
        }
        if let slate, slate.movie.audioTrackUse != .copied {
            let reason = slate.movie.audioTrackUse.message
            logger.warning("The slate \(slate.path) is published without its audio: \(reason)")
        }
        var configuration = RelayConfiguration(
            upstream: upstream, backups: backups, variant: intake.variant,
            giveUp: intake.giveUpTime, spool: directory.path,
            retention: RetentionPolicy(
                rewind: (dvr ?? (hasServer || spool != nil ? Self.defaultRewind : Self.streamingRewind)).duration,
                liveWindow: window.duration),
            requests: intake.requests, maxConnections: intake.maxConnections,
            patience: intake.patience?.duration, retrySeed: .random(in: .min ... .max),
            audio: audio.configuration, slate: slate, polling: intake.polling(isRecorded: record != nil),
            memory: intake.memory)
        configuration.requiresVideo = require == .video
        configuration.program = intake.program
        configuration.hold = intake.hold.duration
        try await RelayService(
            configuration: configuration,
            capture: record.map { URL(filePath: $0, directoryHint: .isDirectory) },
            address: hasServer ? ListenAddress(host: listen, port: Int(port ?? Self.defaultPort)) : nil,
            clientBurst: streaming.map { .seconds($0.burst.seconds) } ?? EndlessStream.Policy().burst,
            clientTimeout: clientTimeout.duration, clients: clients,
            access: access,
            stream: output.flatMap { descriptor in
                streaming.map {
                    StreamWriter(descriptor: descriptor, policy: $0.policy(for: descriptor.kind), logger: logger)
                }
            },
            exitsAtEnd: exitAtEnd, console: console, logger: logger, events: events, startupLines: startupLines
        ).run()
    }
}

/// Media that a channel must have.
enum RequiredMedia: String, ExpressibleByArgument, CaseIterable {
    case video
}
