package import ArchiveStore
package import Channel
package import ChannelList
import Conformance
import Export
import Fetch
package import Fleet
import Foundation
package import Guide
import LiveRing
package import Logging
import Media
package import Observability
import Playlist
import Record
import Support
package import Tracker
import Transcode

/// Settings common to the channels of a process, to which each channel's configuration adds its own.
package struct ChannelSettings: Sendable {
    /// What a process of one channel does differently: the channel has no name in paths, labels and directories, and
    /// the process judges its end.
    package struct Single: Sendable {
        /// How long the first segments are waited for, by the time after which the channel gives up.
        let opening: @Sendable (_ giveUp: Duration?) -> OpeningPatience
        /// Adds to the status what the process knows.
        let complete: @Sendable (inout RelayStatus) -> Void
        /// Called when the run has ended, whose media stays until the process ends.
        let ended: @Sendable (_ end: ChannelRunner.End, _ isOver: Bool) -> Void
        /// Whether one endless stream is all that reads the channel's media, which then stays in memory.
        let hasOneReader: Bool

        package init(
            hasOneReader: Bool = false, opening: @escaping @Sendable (_ giveUp: Duration?) -> OpeningPatience,
            complete: @escaping @Sendable (inout RelayStatus) -> Void,
            ended: @escaping @Sendable (_ end: ChannelRunner.End, _ isOver: Bool) -> Void
        ) {
            (self.hasOneReader, self.opening, self.complete, self.ended) = (hasOneReader, opening, complete, ended)
        }
    }

    /// The configuration of each channel, without its sources, its headers and its spool.
    let configuration: RelayConfiguration
    /// Directory with a subdirectory for each run, or of the only channel's rewind.
    let spool: String
    /// nil: the channels are those of a list.
    package var single: Single?
    let logger: Logger
    /// The cache of files from archives in object stores; nil: no store is used.
    package var copies: CopyCache?
    /// The guide, by which recordings are split; nil: no guide is read.
    package var guide: GuideService?
    /// nil: this process runs each channel of the list alone.
    package var fleet: FleetMember?
    /// The list of continuous recordings.
    let recordings = ContinuousRecordings()
    var bus = EventBus()
    /// Keeps the directories of this process apart from those of its predecessor, whose runs have the same numbers.
    package var runPrefix = ""

    package init(
        configuration: RelayConfiguration, spool: String, logger: Logger, bus: EventBus = EventBus()
    ) {
        self.configuration = configuration
        self.spool = spool
        self.logger = logger
        self.bus = bus
    }

    /// - Parameter directory: the directory of a ring that the run continues; nil: the usual one.
    func runner(
        of channel: ListedChannel, run: ChannelSupervisor.Run, in directory: String? = nil
    ) -> ChannelRunner {
        let options = channel.options
        var configuration = configuration(of: channel)
        configuration.spool = directory ?? spoolPath(of: channel, run: run)
        configuration.retrySeed = .random(in: .min ... .max)
        let settings = ArchiveSettings(channel)
        if settings != nil {
            configuration.retention.keepArchive(nil, bytes: options.archiveSize)
            configuration.followsWholeLadder = true
        }
        if let single {
            configuration.opening = single.opening(configuration.giveUp)
            if single.hasOneReader, settings == nil, options.recordTo == nil {
                configuration.fileSystem = FileSystem(memory: SpoolMemory())
            }
        }
        let label = single == nil ? channel.slug : nil
        var logger = logger
        if let label { logger[metadataKey: ConsoleLogHandler.channel] = "\(label)" }
        var runner = ChannelRunner(
            configuration: configuration,
            capture: options.capture.map { captureURL(in: $0, of: channel, run: run) },
            endsWithoutCapture: single != nil,
            slate: options.slate, recording: ChannelRecorder.Settings(options, closesAtEnd: single != nil),
            recordings: recordings, programs: guide.map { $0.programs(of: channel) },
            title: label.map { _ in channel.name },
            burst: options.burst.map { Ticks.seconds($0.components.seconds) } ?? EndlessStream.Policy().burst,
            restartsAfterEnd: options.runsAlways, channel: label, logger: logger, events: RunEvents(bus, channel: label)
        )
        // Any node may read a range of a provider's archive.
        runner.fleet =
            ProviderRange(name: channel.slug) == nil ? fleet.map { FleetSeat(member: $0, channel: channel.slug) } : nil
        do throws(StoreError) { runner.archive = try archive(settings, configuration, logger) } catch {
            // A channel of a list is relayed without its archive.
            guard single != nil else {
                logger.error("Archive store: \(error.message)")
                return runner
            }
            runner.startFailure = RelayError(
                .cannotSpool, error.message, advice: "Correct --archive-store, or leave it out")
        }
        return runner
    }

    /// The configuration with the options and the sources of a channel, without its spool.
    private func configuration(of channel: ListedChannel) -> RelayConfiguration {
        var configuration = configuration
        configuration.apply(channel.options)
        configuration.upstream = channel.sources.first?.url ?? ""
        configuration.backups += channel.sources.dropFirst().map(\.url)
        let requests = channel.sources.map { [common = configuration.requests] in common.applying($0) }
        configuration.requests = requests.first ?? configuration.requests
        configuration.backupRequests = Array(requests.dropFirst())
        return configuration
    }

    /// Whether one of a channel's sources answers this process with a playlist.
    func isAnswered(by channel: ListedChannel) async -> Bool {
        let configuration = configuration(of: channel)
        guard let fetcher = try? configuration.fetcher else { return false }
        for (source, url) in ([configuration.upstream] + configuration.backups).enumerated() {
            if await fetcher.findsPlaylist(at: url, of: source) { return true }
        }
        return false
    }

    private func archive(
        _ settings: ArchiveSettings?, _ configuration: RelayConfiguration, _ logger: Logger
    ) throws(StoreError) -> ChannelArchive? {
        guard let settings, let copies else { return nil }
        return try ChannelArchive(
            settings, policy: configuration.retention, spool: configuration.spool, cache: copies, logger: logger)
    }

    private func spoolPath(of channel: ListedChannel, run: ChannelSupervisor.Run) -> String {
        if single != nil { return spool }
        guard channel.options.runsAlways else { return "\(spool)/\(channel.slug)-\(runPrefix)\(run.number)" }
        let kept = channel.options.isTemporary ? nil : channel.options.spool
        return "\(kept ?? spool + "/kept")/\(channel.slug)"
    }

    /// Whether the directory of a run is removed when the run has ended.
    /// - Parameter current: the channel as listed now; nil if it is not listed.
    func removesSpool(_ path: String, current: ListedChannel?) -> Bool {
        path.hasPrefix(spool + "/") && !(path.hasPrefix(spool + "/kept/") && current?.options.runsAlways == true)
    }

    /// `DIR/news/20261122T103000Z-4`: each run of a channel of a list has a capture of its own.
    private func captureURL(in directory: String, of channel: ListedChannel, run: ChannelSupervisor.Run) -> URL {
        if single != nil { return URL(filePath: directory, directoryHint: .isDirectory) }
        let seconds = TimeInterval(WallClock.milliseconds / 1000)
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        let time = Date(timeIntervalSince1970: seconds).formatted(style)
        return URL(filePath: directory, directoryHint: .isDirectory).appending(path: channel.slug)
            .appending(path: "\(time)-\(run.number)", directoryHint: .isDirectory)
    }
}

extension ChannelRecorder.Settings {
    /// nil if the channel is not recorded.
    fileprivate init?(_ options: ChannelOptions, closesAtEnd: Bool) {
        guard let pattern = options.recordTo else { return nil }
        self.init(
            pattern: pattern, split: options.split ?? .never, clock: options.recordingClock ?? .utc,
            includesSlate: options.recordsSlate ?? true,
            ads: options.recordingAds ?? .keep,
            retention: RecordingRetention(options), closesAtEnd: closesAtEnd)
    }
}

extension GuideService {
    fileprivate func programs(of channel: ListedChannel) -> ProgramLookup { { self.program(of: channel, at: $0) } }

    private func program(of channel: ListedChannel, at date: ProgramDateTime) -> GuideProgram? {
        let seconds = date.millisecondsSince1970 / 1000
        guard let next = listings(of: channel, from: seconds, limit: 1).first else { return nil }
        let isOn = next.start <= seconds
        return GuideProgram(
            title: isOn ? next.title : nil,
            end: ProgramDateTime(millisecondsSince1970: (isOn ? next.stop : next.start) * 1000))
    }
}

extension RecordingRetention {
    init(_ options: ChannelOptions) {
        self.init(longest: options.keep?.components.seconds, byteLimit: options.keepSize.map { UInt64($0) })
    }
}

extension RelayConfiguration {
    /// Requests each source with its own configuration.
    var fetcher: SourceFetcher {
        get throws(FetchError) {
            try SourceFetcher(
                upstream: upstream, configuration: requests, backups: backups, backupConfigurations: backupRequests)
        }
    }

    /// Applies what the configuration of a channel says.
    package mutating func apply(_ options: ChannelOptions) {
        variant = options.variant ?? variant
        ladder = options.variants.flatMap { LadderChoice($0) } ?? ladder
        maxConnections = options.maxConnections ?? maxConnections
        if options.account != nil {
            // The channel uses one of the account's connections, whichever of its sources is active.
            (maxConnections, sharesConnections) = (options.maxConnections ?? 1, true)
        }
        patience = options.patience ?? patience
        program = options.program.map { UInt16(clamping: $0) } ?? program
        hold = options.hold ?? hold
        loopsFiles = options.loop ?? loopsFiles
        // A channel that always runs fills outages of any length.
        if let limit = options.giveUp {
            giveUp = limit == .zero ? nil : limit
        } else if options.runsAlways {
            giveUp = nil
        }
        if options.isPolite == true { polling = .standard }
        // The URLs of blocking reloads differ from those that a replay requests.
        if options.capture != nil, polling == .blocking { polling = .edge }
        retention.rewind = options.rewind ?? retention.rewind
        retention.keepArchive(options.archive, bytes: options.archiveSize)
        retention.liveWindow = options.window ?? retention.liveWindow
        requiresVideo = options.requiredMedia.map { $0 == "video" } ?? requiresVideo
        audio.apply(options)
        ads = options.ads.flatMap { AdPresentation(rawValue: $0) } ?? ads
        interstitials = options.interstitials.flatMap { Interstitials(rawValue: $0) } ?? interstitials
        captionsToWebVTT = options.captionsToWebVTT ?? captionsToWebVTT
        offersStills = options.offersStills ?? offersStills
        outputCheck = options.checksOutput.map { $0 ? .boxes : nil } ?? outputCheck
        apply(requestsOf: options)
    }

    /// Applies the options about all requests.
    package mutating func apply(requestsOf options: ChannelOptions) {
        requests.apply(options)
        memory = memory.replacing(
            limit: options.memoryLimitBytes, segment: options.maxSegmentBytes, playlist: options.maxPlaylistBytes)
        requests.apply(memory)
    }
}

extension AudioSettings {
    package mutating func apply(_ options: ChannelOptions) {
        policy = options.audio.flatMap { AudioPolicy(rawValue: $0) } ?? policy
        tracks = options.audioTracks.flatMap { AudioTrackChoice($0) } ?? tracks
        fillsSilence = options.fillsSilence ?? fillsSilence
    }
}

extension CurlConfiguration {
    fileprivate mutating func apply(_ options: ChannelOptions) {
        // The option can only tighten the protection of the server's own network.
        deniesPrivate = deniesPrivate || options.deniesPrivate == true
        permittedIPAddresses.formUnion((options.permittedAddresses ?? []).compactMap { IPAddress($0) })
        if deniesPrivate { proxy = nil }
        multicastInterface = options.multicastInterface ?? multicastInterface
    }

    /// The configuration for requests to a source. The source's headers and proxy replace the common ones.
    fileprivate func applying(_ source: ListedSource) -> CurlConfiguration {
        var requests = source.withholdsCredentials ? withoutCredentials : self
        requests.apply(source)
        return requests
    }

    private mutating func apply(_ source: ListedSource) {
        if let proxy = source.proxy, !deniesPrivate { self.proxy = Secret(proxy) }
        if source.isInsecure { verifiesCertificates = false }
        for header in source.headers {
            switch header.name.lowercased() {
            case "user-agent": userAgent = header.value
            case "cookie": cookie = Secret(header.value)
            case let name:
                headers.removeAll { $0.name.lowercased() == name }
                headers.append(RequestHeader(name: header.name, value: Secret(header.value)))
            }
        }
    }
}
