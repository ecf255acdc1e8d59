import ArgumentParser
import Channel
import ChannelList
import Guide
import HTTP
import Logging
import Observability
import Service
import Support
import WebServer

/// `liverelay serve LIST`
struct ServeCommand: AsyncParsableCommand, ChannelCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Republish the channels of an M3U list or a channels.yaml, each while somebody watches it.",
        discussion: """
            Each channel has its own path: /<channel>/live.m3u8, dvr.m3u8, master.m3u8, live.ts and status.json, and \
            /<channel>.ts. /playlist.m3u is the list with these URLs (?format=ts for live.ts), and / shows it as text.

            The first request for a channel starts it and is held until the channel publishes. A channel that nobody \
            watches ends. Any number of viewers share one reader of the upstream.

            liverelay serve channels.m3u --listen 0.0.0.0
            liverelay serve channels.yaml --check
            """)

    @Argument(
        help: ArgumentHelp(
            "File or URL of an M3U list of channels, or of a channels.yaml; docs/lists.md has its keys.",
            valueName: "list"), completion: .file(extensions: ["m3u", "m3u8", "yaml", "yml"]))
    var list: String

    @Flag(help: "Judge the list: print its channels and what is wrong, and end with status 0 or 25.")
    var check = false

    @Flag(help: "With --check: status 25 also if a line of a list is not understood.")
    var strict = false

    @Option(
        help: ArgumentHelp(
            "Token of the API at /api, which does not exist without it: at least 16 characters, or @FILE that has it.",
            discussion: "Whoever has it can add, change and remove channels.", valueName: "token"),
        transform: AccessOptions.apiToken)
    var apiToken: AccessToken?

    @Option(
        help: ArgumentHelp(
            "How long the first request for a channel is held until the channel publishes.",
            discussion: "Then it gets the status 503 with the reason. Players give up at 20 s.", valueName: "time"))
    var startTimeout = TimeSpan(seconds: 15)

    @Option(
        help: ArgumentHelp(
            "Channels that run at once.",
            discussion: """
                For one more, the channel whose viewer left first ends; if all are being watched, the request gets the \
                status 503. By default as many as the limit on open files permits.
                """, valueName: "number"))
    var maxRunning: Int?

    @Option(help: "Channels without viewers that go on running: those watched last.")
    var keepWarm = 0

    @Option(help: "Read the list again that often; 0 for never. SIGHUP reads it at once.")
    var refresh = TimeSpan(seconds: 3600)

    @Option(
        help: ArgumentHelp(
            "Path of the recordings that the API is asked for: DIR/{channel}/{title}_{start:%Y-%m-%d_%H-%M}.mkv.",
            discussion: "Fields and forms are those of record-to; {title} is the name of the recording.",
            valueName: "path"))
    var recordings: RecordingPattern?

    @Flag(
        help: ArgumentHelp(
            "Relay no channel, and answer for the past alone, from the stores that the list names.",
            discussion: "Any number of processes may do so at once. They keep nothing but copies of what was read."))
    var archiveOnly = false

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup(title: "Addresses") var addresses: AddressOptions
    @OptionGroup(title: "Guide") var guide: GuideOptions
    @OptionGroup(title: "Fleet") var fleet: FleetOptions
    @OptionGroup(title: "HDHomeRun") var tuner: TunerOptions
    @OptionGroup(title: "Channel") var output: KeyOptions<OutputSection>
    @OptionGroup(title: "Recordings") var recording: KeyOptions<RecordingSection>
    @OptionGroup(title: "Upstream") var upstreams: KeyOptions<UpstreamSection>
    @OptionGroup(title: "Upstream") var requests: RequestArguments
    @OptionGroup(title: "Audio") var audio: KeyOptions<AudioSection>
    @OptionGroup(title: "Channel") var running: KeyOptions<RunningSection>

    /// Bounds of --start-timeout in seconds. The server closes connections that are silent for a minute.
    private static let startLimits: ClosedRange<Int64> = 1...50

    func validate() throws {
        guard Self.startLimits.contains(startTimeout.seconds) else {
            throw ValidationError("--start-timeout has to be between 1s and 50s.")
        }
        if let maxRunning, maxRunning < 1 { throw ValidationError("--max-running has to be at least 1.") }
        if recordings != nil, apiToken == nil { throw ValidationError("--recordings needs --api-token.") }
        if strict, !check { throw ValidationError("--strict needs --check.") }
        try requests.check(defaults)
        if keepWarm < 0 { throw ValidationError("--keep-warm cannot be negative.") }
    }

    func run() async throws {
        if check { return try await source.check(isStrict: strict) }
        try await RelayService(self).run()
    }

    /// The options of channels that do not say otherwise.
    var defaults: ChannelOptions { channelOptions.filled(from: running.options) }

    var source: CatalogSource {
        CatalogSource(
            location: list, requests: requests.configuration(defaults).requests, defaults: defaults)
    }

    var policy: ChannelSupervisor.Policy {
        let descriptors = DescriptorLimit.raise()
        let limit = DescriptorLimit.channels(
            of: descriptors, clients: serving.clients.limits(descriptors: descriptors).total,
            eventLoops: HTTPServer.threadCount)
        return ChannelSupervisor.Policy(
            startLimit: startTimeout.duration, maxRunning: maxRunning, descriptorLimit: limit, keepWarm: keepWarm)
    }

    /// nil: no guide is read.
    var guideSettings: GuideService.Settings? {
        guide.settings(defaultRewind: defaults.rewind ?? ConfigurationKey.listRewind)
    }
}

struct GuideOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "XMLTV guide to read besides those of the list, as URL or file; repeatable.",
            discussion: "Of two guides that know a channel, the first counts, and these come before the list's.",
            valueName: "guide"))
    var epg: [String] = []

    @Option(help: "Ask for the guides again that often; 0 for never.")
    var epgRefresh = TimeSpan(seconds: 12 * 3600)

    @Flag(name: .customLong("no-epg"), help: "Read no guide.")
    var isOff = false

    /// nil: no guide is read.
    /// - Parameter defaultRewind: the rewind of channels without a setting of their own.
    func settings(defaultRewind: Duration) -> GuideService.Settings? {
        if isOff { return nil }
        return GuideService.Settings(
            guides: epg, refresh: epgRefresh.seconds == 0 ? nil : epgRefresh.duration, defaultRewind: defaultRewind)
    }

    func validate() throws {
        if epgRefresh.seconds != 0, epgRefresh.seconds < 60 {
            throw ValidationError("--epg-refresh has to be 0 or at least 60s.")
        }
    }
}

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

    /// The UDP port for discovery; nil: discovery is off.
    var udpPort: Int? { answersDiscovery ? Int(discoveryPort) : nil }

    /// The tuner that clients see.
    /// - Parameters: `list`: the location of the list. Its query may change, and is ignored.
    func device(publicURL: PublicURL?, list: String, port: UInt16, tunerCount: Int) -> TunerDevice {
        let seed = publicURL?.text ?? "\(URIReference.withoutQuery(list)) \(port)"
        return TunerDevice(
            name: tunerName, deviceID: deviceID ?? TunerDevice.deviceID(seed: seed), tunerCount: tunerCount)
    }
}
