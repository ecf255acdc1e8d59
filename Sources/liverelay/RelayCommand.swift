import ArgumentParser
import Channel
import Foundation
import LiveRing
import Logging
import Playlist
import Splice
import Tracker
import Transcode

/// `liverelay <upstream.m3u8>`
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Republish one channel (the default).",
        discussion: """
            Serves /live.m3u8 (a sliding window), /dvr.m3u8 (all of the rewind; ?last=600, ?start=…&end=… in ISO 8601 or \
            seconds since 1970), /master.m3u8 (with the subtitles; /dvr-master.m3u8 for the rewind), /status.json, /healthz \
            and /readyz.

            Ends with a status of its own for each kind of trouble; see README.md.
            """)

    @Argument(help: "Address of the channel's master or media playlist (http or https).")
    var upstream: String

    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp(
            "Address that stands in when the upstream is silent, or nothing of it can be used; may be repeated.",
            discussion: """
                Tried in their order once the upstream has listed nothing new for three and a half target durations, or \
                nothing of what it lists could be published. The upstream is taken back when it was healthy for a minute.
                """, valueName: "address"))
    var backups: [String] = []

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions
    @OptionGroup(title: "Sound") var audio: AudioOptions

    func run() async throws {
        try await serving.run(upstream: upstream, backups: backups, intake: intake, sound: audio) { base in
            ["Watch \(base)live.m3u8   rewind \(base)dvr.m3u8   status \(base)status.json"]
        }
    }
}

/// How the channel is served and kept.
struct ServingOptions: ParsableArguments {
    @Option(help: "Address to listen at; 0.0.0.0 for every interface.")
    var listen = "127.0.0.1"

    @Option(help: "Port to listen at; 0 lets the system choose.")
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Directory for the rewind. A channel started again on it goes on where it stopped.",
            discussion: "Without it a temporary directory is used and removed at the end.", valueName: "directory"))
    var spool: String?

    @Option(help: "Rewind to keep: 90, 15m, 2h.")
    var dvr = TimeSpan(seconds: 7200)

    @Option(help: "Length of live.m3u8; it has six segments at least.")
    var window = TimeSpan(seconds: 30)

    @Option(
        help: ArgumentHelp(
            "Directory for a capture: every answer of the upstream, as long as the channel runs.",
            discussion: "It has to be empty or not there yet; see liverelay help record.", valueName: "directory"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "MP4 file that is shown while nothing comes from any upstream.",
            discussion: """
                From one and a half target durations of silence on, 3 s at least, over and over, until the upstream is back. A \
                file that is replaced or written over is shown as it is now from the next piece on; as long as it is half \
                there, gaps are listed. Without a slate such time is listed as gaps (EXT-X-GAP), from three and a half on, \
                and 8 s at least.
                """, valueName: "file"))
    var slate: String?

    @Option(help: "How much is logged.")
    var logLevel = LogLevel.info

    @Flag(
        help: """
            End with status 0 when the upstream has ended, instead of serving on. A live channel that ends is first asked \
            for 3.5 target durations whether it begins again.
            """)
    var exitAtEnd = false

    func run(
        upstream: String, backups: [String] = [], intake: UpstreamOptions, sound: AudioOptions,
        greeting: @escaping @Sendable (String) -> [String]
    ) async throws {
        let slate = try SlateSource.open(slate)
        let directory = try SpoolLocation(spool)
        defer { directory.removeIfTemporary() }
        let console = Console.standardError
        var logger = Logger(label: "liverelay") { _ in ConsoleLogHandler(console: console) }
        logger.logLevel = logLevel.level
        if directory.removedLeftovers > 0 {
            logger.info("Removed \(directory.removedLeftovers) temporary spools of processes that were killed")
        }
        if let slate, slate.movie.audioTrackUse != .copied {
            logger.warning("The slate \(slate.path) is shown without its sound: \(slate.movie.audioTrackUse.words)")
        }
        try await RelayService(
            configuration: RelayConfiguration(
                upstream: upstream, backups: backups, variant: intake.variant,
                giveUp: intake.giveUp.seconds == 0 ? nil : intake.giveUp.duration, spool: directory.path,
                retention: RetentionPolicy(rewind: dvr.duration, liveWindow: window.duration),
                requests: intake.requests, maxConnections: intake.maxConnections, audio: sound.configuration,
                slate: slate),
            capture: record.map { URL(filePath: $0, directoryHint: .isDirectory) },
            address: ListenAddress(host: listen, port: Int(port)), exitsAtEnd: exitAtEnd, console: console,
            logger: logger, startupLines: greeting
        ).run()
    }
}

/// How the upstream is asked.
struct UpstreamOptions: ParsableArguments {
    @Option(help: "Variant of a master playlist: max, min, a height (720) or a bandwidth in bit/s.")
    var variant = VariantChoice.highest

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Header for every request, as 'Name: value'; may be repeated.",
            discussion: """
                Authorization, X-Api-Key and what is called like these is shown to the upstream's own origin alone; so is a \
                password in its address.
                """, valueName: "header"))
    var headers: [HeaderArgument] = []

    @Option(help: "User-Agent of every request.")
    var userAgent = "liverelay"

    @Option(help: "Cookie for the upstream's own host, as 'name=value; name=value'.")
    var cookie: String?

    @Option(help: "HTTP or SOCKS proxy.")
    var proxy: String?

    @Option(
        help:
            "Requests to one host at once, for origins that allow few connections; without it four segments and the lists."
    )
    var maxConnections: Int?

    @Option(help: "Largest segment that is taken: 64MiB, 1GiB.")
    var maxSegment = ByteCount(256 << 20)

    @Option(help: "Largest playlist that is taken, decompressed.")
    var maxPlaylist = ByteCount(16 << 20)

    @Flag(
        help: ArgumentHelp(
            "Connect to public addresses only, whatever name or redirect leads elsewhere.",
            discussion: """
                For a service that takes upstreams from others: loopback, private, link-local, multicast and other \
                special addresses are refused after the name is resolved. No proxy is used.
                """))
    var denyPrivate = false

    @Option(
        name: .customLong("allow-address"),
        help: ArgumentHelp(
            "IP address that --deny-private lets through; may be repeated.", valueName: "address"))
    var allowedAddresses: [IPAddress] = []

    @Option(help: "End when nothing of the upstream could be published for so long; 0 never does.")
    var giveUp = TimeSpan(seconds: 60)

    var requests: CurlConfiguration {
        var configuration = CurlConfiguration(
            headers: headers.map { FetchAnswer.Header(name: $0.name, value: $0.value) }, userAgent: userAgent,
            cookie: cookie, proxy: proxy, deniesPrivate: denyPrivate, permittedIPAddresses: Set(allowedAddresses))
        configuration.segmentLimits.bodyBytes = maxSegment.bytes
        configuration.playlistLimits.bodyBytes = maxPlaylist.bytes
        return configuration
    }

    func validate() throws {
        if let maxConnections, maxConnections < 1 { throw ValidationError("--max-connections is 1 at least.") }
        if denyPrivate, proxy != nil {
            throw ValidationError("--deny-private cannot hold behind --proxy: the proxy looks up names itself.")
        }
    }
}

/// What becomes of the sound.
struct AudioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "copy, bridge, uniform or drop.",
            discussion: """
                copy: what players take in fragmented MP4 is copied, the rest (MP2, PCM, DTS) is encoded again as AAC. \
                bridge: all of it is encoded again as AAC. uniform: what differs from the channel's first sound is encoded \
                again like it, for players that read one init section only. drop: no sound.
                """, valueName: "mode"))
    var audio = AudioPolicy.copy

    @Flag(
        inversion: .prefixedNo,
        help: "Encoded silence where an advertisement has no sound, or a hole is longer than a frame.")
    var fillSilence = true

    var configuration: AudioSettings { AudioSettings(policy: audio, fillsSilence: fillSilence) }
}

extension AudioPolicy: ExpressibleByArgument {}

extension IPAddress: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension VariantChoice: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { "max" }
}
