import ArchiveStore
import ArgumentParser
import Channel
import ChannelList
import Foundation
import HTTP
import LiveRing
import Logging
import Media
import Observability
import Service
import Splice
import Support
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
            .spool,
            discussion: "By default a temporary directory, which is removed at the end.", valueName: "directory"))
    var spool: String?

    @Option(help: ArgumentHelp(.dvr, default: "2h, and one minute if nothing but --output reads it"))
    var dvr: TimeSpan?

    static let defaultRewind = TimeSpan(seconds: 7200)
    /// The rewind with --output: longer than a slow reader may be behind before it is moved forward.
    static let streamingRewind = TimeSpan(seconds: 60)

    @Option(help: ArgumentHelp(.archive))
    var archive: TimeSpan?

    @Option(help: ArgumentHelp(.archiveSize))
    var archiveSize: ByteCount?

    @Option(
        help: ArgumentHelp(
            .archiveStore,
            discussion: """
                --archive says how long the store keeps it; the disk keeps --dvr. The key is that of AWS_ACCESS_KEY_ID and \
                AWS_SECRET_ACCESS_KEY, or of the file that AWS_SHARED_CREDENTIALS_FILE names.
                """, valueName: "url"), transform: OptionChecks.store)
    var archiveStore: StoreURL?

    @Flag(help: ArgumentHelp(.archiveRedirect))
    var archiveRedirect = false

    @Option(help: ArgumentHelp(.window))
    var window = TimeSpan(seconds: 30)

    @Flag(inversion: .prefixedNo, help: ArgumentHelp(.stills))
    var stills = true

    @Option(
        help: ArgumentHelp(
            "Close connections that read nothing, or ask nothing, for so long.",
            discussion: "Clients of /live.ts that read too slowly are moved forward before that."))
    var clientTimeout = TimeSpan(seconds: 60)

    @OptionGroup var clients: ClientOptions
    @OptionGroup var access: AccessOptions

    @Option(
        help: ArgumentHelp(
            .record,
            discussion: "The directory must be empty or not existing yet; see liverelay help record.",
            valueName: "directory"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            .slate,
            discussion: """
                The slate starts after nearly three target durations of silence, at least 5 s, and repeats until the \
                upstream is back. A replaced or overwritten file takes effect with the next segment; while it is \
                incomplete, gaps are listed. Without a slate such time is listed as gaps (EXT-X-GAP).
                """, valueName: "file"))
    var slate: String?

    @Option(help: ArgumentHelp(.ads, discussion: "Viewers choose by ?ads=. Recordings and --output have the same."))
    var ads = AdPresentation.keep

    @Option(
        help: ArgumentHelp(
            .interstitials,
            discussion: """
                Players that know them load their ads from the upstream's hosts and present them in place of the channel.
                """))
    var interstitials = Interstitials.keep

    @Option(
        help: ArgumentHelp(
            .require,
            discussion: "Segments that would be published as audio alone count as unusable (status 15).",
            valueName: "media"))
    var require: RequiredMedia?

    @Flag(help: ArgumentHelp(.captionsToWebVTT))
    var captionsToWebvtt = false

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
        if ads == .slate, slate == nil { throw ValidationError("--ads slate needs --slate.") }
        if let complaint = OptionChecks.archive(archive, size: archiveSize) { throw ValidationError(complaint) }
    }

    /// nil: the archive is in the spool.
    private func openArchive(
        _ configuration: RelayConfiguration, _ logger: Logger
    ) throws(RelayError) -> ChannelArchive? {
        guard let archiveStore else { return nil }
        let settings = ArchiveSettings(url: archiveStore, retention: archive?.duration, redirects: archiveRedirect)
        let copies = try RelayService.copies(in: configuration.spool)
        do throws(StoreError) {
            return try ChannelArchive(
                settings, policy: configuration.retention, spool: configuration.spool, cache: copies, logger: logger)
        } catch {
            throw RelayError(.cannotSpool, error.message, advice: "Correct --archive-store, or leave it out")
        }
    }

    func run(
        upstream: String, backups: [String] = [], intake: UpstreamOptions, audio: AudioOptions,
        streaming: StreamingOptions? = nil, opening: OpeningPatience? = nil,
        startupLines: @escaping @Sendable (String) -> [String]
    ) async throws {
        try streaming?.destination?.check()
        let isRecording = streaming?.recording != nil
        let hasServer = !isRecording && streaming?.destination == nil || port != nil
        let slate = try SlateSource.open(slate)
        let directory = try SpoolLocation(spool)
        defer { directory.removeIfTemporary() }
        // If the start fails, an earlier recording must not be truncated.
        let output = try streaming?.destination?.open()
        let logger = log.logger(of: .standardError)
        if directory.removedCount > 0 {
            logger.info("Removed \(directory.removedCount) temporary spools of killed processes")
        }
        if let slate, slate.movie.audioTrackUse != .copied {
            let reason = slate.movie.audioTrackUse.message
            logger.warning("The slate \(slate.path) is published without its audio: \(reason)")
        }
        var configuration = intake.configuration(
            audio,
            rewind: dvr ?? (hasServer || spool != nil || isRecording ? Self.defaultRewind : Self.streamingRewind),
            window: window,
            isRecorded: record != nil)
        configuration.retention.keepArchive(
            archiveStore == nil ? archive?.duration : nil, bytes: archiveSize?.bytes)
        configuration.followsWholeLadder = archiveStore != nil
        (configuration.upstream, configuration.backups) = (upstream, backups)
        configuration.opening = opening ?? .patient(giveUp: configuration.giveUp)
        (configuration.spool, configuration.slate) = (directory.path, slate)
        configuration.retrySeed = .random(in: .min ... .max)
        configuration.offersStills = stills
        configuration.ads = ads
        configuration.interstitials = interstitials
        configuration.requiresVideo = require == .video
        configuration.captionsToWebVTT = captionsToWebvtt
        try await RelayService(
            options: self, configuration: configuration,
            address: hasServer ? ListenAddress(host: listen, port: Int(port ?? Self.defaultPort)) : nil,
            clientBurst: streaming.map { .seconds($0.burst.seconds) } ?? EndlessStream.Policy().burst,
            stream: output.flatMap { descriptor in
                streaming.map {
                    StreamWriter(descriptor: descriptor, policy: $0.policy(for: descriptor.kind), logger: logger)
                }
            },
            recording: streaming?.recording, archive: try openArchive(configuration, logger), logger: logger,
            startupLines: startupLines
        ).run()
    }
}

/// Media that a channel must have.
enum RequiredMedia: String, ExpressibleByArgument, CaseIterable {
    case video
}

extension AdPresentation: ExpressibleByArgument {}
extension Interstitials: ExpressibleByArgument {}
