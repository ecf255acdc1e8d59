package import ArchiveStore
package import Channel
import ChannelList
import Fetch
import Foundation
package import Guide
import LiveRing
package import Logging
import Media
package import Observability
import Playlist
import Support
import Tracker
import Transcode

/// Settings common to the channels of a process, to which each channel's configuration adds its own.
package struct ChannelSettings: Sendable {
    /// The configuration of each channel, without its sources, its headers and its spool.
    let configuration: RelayConfiguration
    /// Directory with a subdirectory for each run. It is removed when the process ends.
    let spool: String
    /// Directory with a subdirectory for the rewind of each channel that always runs; nil: `spool`.
    var keptSpool: String?
    let logger: Logger
    /// The cache of files from archives in object stores; nil: no store is used.
    package var copies: CopyCache?
    /// The guide, by which recordings are split; nil: no guide is read.
    package var guide: GuideService?
    /// The list of continuous recordings.
    let recordings = ContinuousRecordings()
    var bus = EventBus()

    package init(
        configuration: RelayConfiguration, spool: String, keptSpool: String? = nil, logger: Logger,
        bus: EventBus = EventBus()
    ) {
        self.configuration = configuration
        self.spool = spool
        self.keptSpool = keptSpool
        self.logger = logger
        self.bus = bus
    }

    func runner(of channel: ListedChannel, run: ChannelSupervisor.Run) -> ChannelRunner {
        let options = channel.options
        var configuration = configuration
        configuration.apply(options)
        configuration.upstream = channel.sources.first?.url ?? ""
        configuration.backups += channel.sources.dropFirst().map(\.url)
        configuration.spool = spoolPath(of: channel, run: run)
        configuration.retrySeed = .random(in: .min ... .max)
        let requests = channel.sources.map { [common = configuration.requests] in common.applying($0) }
        configuration.requests = requests.first ?? configuration.requests
        configuration.backupRequests = Array(requests.dropFirst())
        let settings = ArchiveSettings(channel)
        if settings != nil {
            configuration.retention.keepArchive(nil, bytes: options.archiveSize)
            configuration.followsWholeLadder = true
        }
        var logger = logger
        logger[metadataKey: ConsoleLogHandler.channel] = "\(channel.slug)"
        return ChannelRunner(
            configuration: configuration,
            capture: options.record.map { Self.captureURL(in: $0, of: channel, run: run) }, endsWithoutCapture: false,
            slate: options.slate, recording: ChannelRecorder.Settings(options), recordings: recordings,
            programs: guide.map { $0.programs(of: channel) },
            archive: settings.flatMap { archive($0, configuration, logger) }, title: channel.name,
            burst: options.burst.map { Ticks.seconds($0.components.seconds) } ?? EndlessStream.Policy().burst,
            restartsAfterEnd: options.runsAlways, channel: channel.slug, logger: logger,
            events: RunEvents(bus, channel: channel.slug))
    }

    /// Returns the channel's archive. If its store cannot be used, the channel is relayed without it.
    private func archive(
        _ settings: ArchiveSettings, _ configuration: RelayConfiguration, _ logger: Logger
    ) -> ChannelArchive? {
        guard let copies else { return nil }
        do throws(StoreError) {
            return try ChannelArchive(
                settings, policy: configuration.retention, spool: configuration.spool, cache: copies, logger: logger)
        } catch {
            logger.error("Archive store: \(error.message)")
            return nil
        }
    }

    private func spoolPath(of channel: ListedChannel, run: ChannelSupervisor.Run) -> String {
        guard channel.options.runsAlways else { return "\(spool)/\(channel.slug)-\(run.number)" }
        let kept = channel.options.isTemporary ? nil : channel.options.spool ?? keptSpool
        return "\(kept ?? spool + "/kept")/\(channel.slug)"
    }

    /// Whether the directory of a run is removed when the run has ended.
    /// - Parameter current: the channel as listed now; nil if it is not listed.
    func removesSpool(_ path: String, current: ListedChannel?) -> Bool {
        path.hasPrefix(spool + "/") && !(path.hasPrefix(spool + "/kept/") && current?.options.runsAlways == true)
    }

    /// `DIR/news/20261122T103000Z-4`: each run has a capture of its own.
    private static func captureURL(
        in directory: String, of channel: ListedChannel, run: ChannelSupervisor.Run
    ) -> URL {
        let seconds = TimeInterval(WallClock.milliseconds / 1000)
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        let time = Date(timeIntervalSince1970: seconds).formatted(style)
        return URL(filePath: directory, directoryHint: .isDirectory).appending(path: channel.slug)
            .appending(path: "\(time)-\(run.number)", directoryHint: .isDirectory)
    }
}

extension ChannelRecorder.Settings {
    /// nil if the channel is not recorded.
    fileprivate init?(_ options: ChannelOptions) {
        guard let pattern = options.recordTo else { return nil }
        self.init(
            pattern: pattern, split: options.split ?? .never, includesSlate: options.recordsSlate ?? true,
            retention: RecordingRetention(options), closesAtEnd: false)
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
    /// Applies what the configuration of a channel says.
    mutating func apply(_ options: ChannelOptions) {
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
        if options.record != nil, polling == .blocking { polling = .edge }
        retention.rewind = options.rewind ?? retention.rewind
        retention.keepArchive(options.archive, bytes: options.archiveSize)
        retention.liveWindow = options.window ?? retention.liveWindow
        requiresVideo = options.requiredMedia.map { $0 == "video" } ?? requiresVideo
        audio.policy = options.audio.flatMap { AudioPolicy(rawValue: $0) } ?? audio.policy
        audio.tracks = options.audioTracks.flatMap { AudioTrackChoice($0) } ?? audio.tracks
        audio.fillsSilence = options.fillsSilence ?? audio.fillsSilence
        ads = options.ads.flatMap { AdPresentation(rawValue: $0) } ?? ads
        interstitials = options.interstitials.flatMap { Interstitials(rawValue: $0) } ?? interstitials
        captionsToWebVTT = options.captionsToWebVTT ?? captionsToWebVTT
        offersStills = options.offersStills ?? offersStills
        requests.apply(options)
        memory = memory.replacing(
            limit: options.memoryLimitBytes, segment: options.maxSegmentBytes, playlist: options.maxPlaylistBytes)
        requests.apply(memory)
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
