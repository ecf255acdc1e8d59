import ArgumentParser
import Channel
import ChannelList
import Fetch
import LiveRing
import Playlist
import Support
import Tracker

struct UpstreamOptions: ParsableArguments {
    @Option(help: ArgumentHelp(.variant))
    var variant = VariantChoice.highest

    @Option(
        help: ArgumentHelp(
            .variants,
            discussion: """
                The one of --variant leads: of those that are named, the best by default. /live.ts, recordings and clips are \
                of that one. The others are in /master.m3u8, at most eight.
                """, valueName: "which"))
    var variants = LadderChoice.one

    @Option(help: ArgumentHelp(.program, valueName: "number"))
    var program: UInt16?

    @Option(
        help: ArgumentHelp(
            .hold,
            discussion: """
                Viewers do not notice a reconnection that is shorter, and the channel starts that much later. Without it, \
                viewers that joined in the last seconds may notice one.
                """, valueName: "time"))
    var hold = TimeSpan(seconds: 0)

    @Flag(
        help: ArgumentHelp(
            .loop, discussion: "Otherwise a file is republished once, as a recording that has ended."))
    var loop = false

    @Option(help: ArgumentHelp(.multicastInterface, valueName: "name"))
    var multicastInterface: String?

    @Option(
        name: [.customLong("header"), .customLong("http-header")],
        help: ArgumentHelp(
            "Header for every request, as 'Name: value' or Name=value; repeatable.",
            discussion: """
                Authorization, X-Api-Key and similar headers are sent to the upstream's own origin only, and so is a \
                password in its URL.
                """, valueName: "header"))
    var headers: [HeaderArgument] = []

    @Option(help: ArgumentHelp(.userAgent))
    var userAgent = "liverelay"

    @Option(help: ArgumentHelp(.cookie))
    var cookie: String?

    @Option(help: ArgumentHelp(.proxy))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "File of certificate authorities (PEM) to trust besides the system's.",
            discussion: "By default the file that SSL_CERT_FILE names, if it is set.", valueName: "file"))
    var caFile: String?

    @Option(help: ArgumentHelp(.maxConnections))
    var maxConnections: Int?

    @Flag(
        help: ArgumentHelp(
            .polite,
            discussion: """
                Otherwise liverelay learns when the upstream lists new segments and loads just after, with up to 15 % more \
                requests, and uses blocking reloads where they are offered.
                """))
    var polite = false

    @Option(
        help: ArgumentHelp(
            .memoryLimit, default: "256MiB, or what the two options below need",
            discussion: """
                It bounds segments, playlists, subtitles and everything else that is held of the upstream. What does not \
                fit is dropped: a segment becomes a gap. docs/limits.md has the shares.
                """, valueName: "bytes"))
    var memoryLimit: ByteCount?

    @Option(help: ArgumentHelp(.maxSegment, default: "32MiB, or more with more memory"))
    var maxSegment: ByteCount?

    @Option(help: ArgumentHelp(.maxPlaylist, default: "16MiB, or more with more memory"))
    var maxPlaylist: ByteCount?

    @Flag(
        help: ArgumentHelp(
            .denyPrivate,
            discussion: """
                For a service whose users choose the upstreams: loopback, private, link-local, multicast and other \
                special addresses are refused after the name is resolved. No proxy is used.
                """))
    var denyPrivate = false

    @Option(
        name: .customLong("allow-address"),
        help: ArgumentHelp(.allowAddress, valueName: "address"))
    var permittedAddresses: [IPAddress] = []

    @Option(help: ArgumentHelp(.giveUp, default: "60s; never in demo"))
    var giveUp: TimeSpan?

    static let usualGiveUp = TimeSpan(seconds: 60)

    @Option(
        help: ArgumentHelp(
            .patience,
            discussion: """
                The published edge falls behind by no more for one segment. The default is three target durations, \
                at least 5 s, and twice what a Retry-After asks for, or what the upstream's playlist lists, if that is \
                less. It ends when the first gap \
                would be listed. While nothing else could be published, a missing segment is waited for as long as it \
                can be had.
                """, valueName: "time"))
    var patience: TimeSpan?

    /// How long the upstream may be stalled before the channel ends; nil for no limit.
    var giveUpTime: Duration? {
        let time = giveUp ?? Self.usualGiveUp
        return time.seconds == 0 ? nil : time.duration
    }

    /// A recording makes no blocking reloads, because their URLs differ from those that a replay requests.
    func polling(isRecorded: Bool) -> PollingMode {
        if polite { return .standard }
        return isRecorded ? .edge : .blocking
    }

    var requests: CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.headers = headers.map { RequestHeader(name: $0.name, value: $0.value) }
        configuration.userAgent = userAgent
        configuration.cookie = cookie.map { Secret($0) }
        configuration.proxy = proxy.map { Secret($0) }
        configuration.certificateAuthorities = caFile
        configuration.deniesPrivate = denyPrivate
        configuration.permittedIPAddresses = Set(permittedAddresses)
        configuration.apply(memory)
        configuration.multicastInterface = multicastInterface
        return configuration
    }

    var memory: MemoryBudget {
        MemoryBudget(limit: memoryLimit?.bytes, segment: maxSegment?.bytes, playlist: maxPlaylist?.bytes)
    }

    /// The configuration of a channel, without its upstreams and its spool.
    func configuration(
        _ audio: AudioOptions, rewind: TimeSpan, window: TimeSpan, isRecorded: Bool
    ) -> RelayConfiguration {
        var configuration = RelayConfiguration(
            upstream: "", variant: variant, giveUp: giveUpTime, spool: "",
            retention: RetentionPolicy(rewind: rewind.duration, liveWindow: window.duration), requests: requests,
            maxConnections: maxConnections, patience: patience?.duration, audio: audio.configuration,
            polling: polling(isRecorded: isRecorded), memory: memory)
        configuration.ladder = variants
        configuration.program = program
        configuration.hold = hold.duration
        configuration.loopsFiles = loop
        return configuration
    }

    func validate() throws {
        if let maxConnections, maxConnections < 1 { throw ValidationError("--max-connections has to be at least 1.") }
        if hold.seconds > 30 { throw ValidationError("--hold is at most 30s.") }
        let complaints = [
            OptionChecks.headerValue(userAgent, of: "--user-agent"), cookie.flatMap { OptionChecks.cookie($0) },
            proxy.flatMap { OptionChecks.proxy($0) },
            caFile.flatMap { OptionChecks.certificates($0) },
            OptionChecks.memory(limit: memoryLimit, segment: maxSegment, playlist: maxPlaylist),
        ]
        if let complaint = complaints.compactMap(\.self).first { throw ValidationError(complaint) }
        if denyPrivate, proxy != nil {
            throw ValidationError("--deny-private has no effect with --proxy: the proxy resolves names itself.")
        }
    }
}

extension IPAddress: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension VariantChoice: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { "max" }
}

extension LadderChoice: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { text }
}

extension ArgumentHelp {
    /// The help of a channel's key, with additions that apply only to the command line.
    init(_ key: ConfigurationKey, default: String? = nil, discussion: String = "", valueName: String? = nil) {
        let suffix = `default`.map { " (default: \($0))" } ?? ""
        self.init(key.row.help + suffix, discussion: discussion, valueName: valueName)
    }
}
