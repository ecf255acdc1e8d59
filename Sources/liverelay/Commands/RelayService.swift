import ArchiveStore
import Channel
import ChannelList
import Export
import Fleet
import Foundation
import Glibc
import Guide
import HTTP
import LiveRing
import Logging
import Observability
import Record
import Service
import Splice
import Support
import Tracker
import WebServer

/// A running `liverelay`: its channels, one HTTP server, the console, and an orderly end.
///
/// The channels are those of a list, or one channel without a name, with which the process ends.
struct RelayService: Sendable {
    /// The work of a process of one channel beside serving it, and its end.
    struct Single: Sendable {
        /// Where the channel is written as a transport stream, by a policy that suits the destination; nil: nowhere.
        /// When the writer ends, the process ends.
        var output: StreamDestination?
        var outputPolicy: @Sendable (StreamDescriptor.Kind) -> EndlessStream.Policy = { _ in .init() }
        /// How long the first segments are waited for, by the time after which the channel gives up.
        var opening: @Sendable (Duration?) -> OpeningPatience = { .patient(giveUp: $0) }
        var hasServer = true
        /// Whether another process can continue what this one does.
        var canBeUpgraded = false
        /// The channel's name for people.
        var name: String?
        /// Whether the process ends when the upstream has ended.
        let exitsAtEnd: Bool
        /// Lines for the console once the first segment is published.
        let startupLines: @Sendable (_ base: String) -> [String]
    }

    private let options: ServingOptions
    private let source: CatalogSource
    /// The configuration of channels that do not say otherwise.
    private let configuration: RelayConfiguration
    private let policy: ChannelSupervisor.Policy
    private let setup: ServerSetup
    private let logger: Logger
    /// The directory that the command line gives for rewinds.
    private let spool: String?
    /// nil: the channels of a list.
    private let single: Single?
    /// The command that names the list; nil: one channel.
    private let list: ServeCommand?

    private var console: Console { .standardError }
    private var address: ListenAddress { options.address }
    private var addresses: ForwardedAddresses { setup.addresses }
    /// nil without a list.
    private var tuner: TunerDevice? {
        list?.tuner.device(
            publicURL: addresses.publicURL, list: source.location, port: UInt16(clamping: address.port),
            tunerCount: policy.tunerCount)
    }

    /// The process of one channel.
    init(
        sources: [String], _ channel: ChannelOptions, _ requests: RequestArguments, _ options: ServingOptions,
        rewind: Duration = ConfigurationKey.usualRewind, single: Single
    ) throws(RelayError) {
        var channel = channel
        channel.giveUp = channel.giveUp ?? ConfigurationKey.usualGiveUp
        channel.isAlways = true
        configuration = requests.configuration(channel, rewind: rewind)
        source = CatalogSource(
            channel: ListedChannel(sources: sources, options: channel), requests: configuration.requests)
        (self.options, self.single, list, spool) = (options, single, nil, channel.spool)
        policy = ChannelSupervisor.Policy()
        logger = options.log.logger(of: .standardError)
        setup = try ServerSetup(
            options, ForwardedAddresses(trustedProxies: options.clients.trustProxy), logger: logger)
    }

    /// The process of a list.
    init(_ list: ServeCommand) throws(RelayError) {
        (options, source, spool) = (list.serving, list.source, list.defaults.spool)
        configuration = list.requests.configuration(list.defaults, rewind: ConfigurationKey.listRewind)
        (self.list, single, policy) = (list, nil, list.policy)
        logger = options.log.logger(of: .standardError)
        setup = try ServerSetup(
            options,
            list.addresses.addresses(options.clients.trustProxy, isSecure: options.access.isSecure), logger: logger)
    }

    /// Runs until the process is asked to end, or its only channel has ended.
    func run() async throws(RelayError) {
        let predecessor = Inheritance.ofThisProcess.link.map(PredecessorProcess.init)
        do throws(RelayError) { try await run(after: predecessor) } catch {
            predecessor?.refuse(error)
            throw error
        }
    }

    /// - Parameter predecessor: the process whose connections and channels this one takes over; nil: there is none.
    private func run(after predecessor: PredecessorProcess?) async throws(RelayError) {
        let catalog = try await readCatalog()
        let offered = try await predecessor?.offer() ?? HandoverState()
        let spool = try spoolLocation(after: offered)
        defer { spool.removeIfTemporary() }
        if spool.removedCount > 0 {
            logger.info("Removed \(spool.removedCount) temporary spools of killed processes")
        }
        // If the start fails before, an earlier recording must not be truncated.
        let output = try single?.output?.open()
        let isArchiveOnly = list?.archiveOnly ?? false
        let needsCopies = isArchiveOnly || catalog.channels.contains { $0.options.archiveStore != nil }
        let copies = needsCopies ? try Self.copies(in: spool.path, generation: offered.generation) : nil
        let guide = list?.guideSettings.map { GuideService($0, directory: spool.path + "/guide", logger: logger) }
        let (inputs, input) = AsyncStream<ServiceEnd.Input>.makeStream()
        var settings = ChannelSettings(configuration: configuration, spool: spool.path, logger: logger, bus: setup.bus)
        (settings.copies, settings.guide) = (copies, guide)
        if offered.generation > 0 { settings.runPrefix = "\(offered.generation)-" }
        let fleet = try await joinFleet()
        settings.fleet = fleet
        settings.single = single.map { single in
            ChannelSettings.Single(
                hasOneReader: output != nil && !single.hasServer && self.spool == nil, opening: single.opening
            ) { [console, setup] status in
                (status.logLinesDropped, status.clients) = (console.dropped, setup.connections.counts)
                status.name = single.name
            } ended: {
                input.yield(.channel($0, isOver: $1))
            }
        }
        let ends = RunEnds()
        let host = ChannelHost(
            ChannelDirectory(catalog.channels, connections: catalog.connections), policy: policy, settings: settings
        ) {
            switch $0 {
            case .published: input.yield(.published)
            case .ended(let run, _): ends.report(run.channel)
            default: break
            }
        }
        let updater = updater(of: catalog, host, guide)
        // Until the other process accepts no connections any more, it has and changes everything.
        let handed = try await predecessor?.takeOver(offered, host, updater) ?? offered
        let health = HealthRecorder(continuing: handed.health)
        let recordings = try list?.recordings.map { pattern throws(RelayError) in
            try RecordingService(pattern, host: host, logger: logger, bus: setup.bus)
        }
        // No channel can be started any more.
        if isArchiveOnly { host.close() }
        let archives = isArchiveOnly ? copies.map { StoredArchives(configuration, cache: $0, logger: logger) } : nil
        let server =
            single?.hasServer == false
            ? nil
            : try await startServer(
                of: host, updater, guide, recordings, archives, health)
        let base = server.map { address.baseURL(port: $0.port, isSecure: options.access.isSecure) }
        if let base { logStart(catalog, base: base) }
        let discovery = if let server { await startDiscovery(httpPort: server.port) } else { DiscoveryServer?.none }
        host.start()
        recordings?.start()
        fleet?.texts.observe(.channels) { Task { await updater.adoptChanges() } }
        fleet?.texts.observe(.recordings) { recordings?.adoptShared() }
        let stream = output.flatMap { output in
            single.map { StreamWriter(descriptor: output, policy: $0.outputPolicy(output.kind), logger: logger) }
        }
        if let stream, let channel = catalog.channels.first?.sources.first {
            logger.info("Writing \(channel.url.redacted) to \(stream.descriptor.name)")
        }
        // A node of a fleet hands its channels to other nodes instead.
        let upgrade = (fleet == nil ? server : nil).map { server in
            Upgrade(
                host: host, server: server, updater: updater, recordings: recordings, health: health, spool: spool,
                generation: offered.generation, connections: setup.connections, logger: logger)
        }
        let (outcome, isHandedOver) = await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                await predecessor?.run(host)
                spool.setOwned(true)
                let supervision = ServiceManager.current?.supervise(status: predecessor.map { _ in "Upgraded" }) {
                    await server?.awaitEventLoops()
                    _ = host.directory  // It waits for the lock of the channels.
                }
                await runUpgrades(upgrade, ends) { input.yield(.handedOver) }
                supervision?.cancel()
            }
            addTasks(to: &group, host, updater, guide, stream, input)
            if list != nil { group.addTask { await health.run(of: host) } }
            // Without a server and a stream, nobody can read what is published.
            var end = ServiceEnd(
                endsWithUpstream: single.map { $0.exitsAtEnd || (server == nil && stream == nil) } ?? false,
                hasStream: stream != nil)
            for await input in inputs {
                if case .published = input, let base, let single, predecessor == nil {
                    for line in single.startupLines(base + "/") { console.write(message: line) }
                }
                if let outcome = end.handle(input) { return (outcome, end.isHandedOver) }
            }
            return (.success(()), false)
        }
        if isHandedOver {
            spool.setOwned(false)
            // Their clients connect to the new process.
            setup.bus.endStreams()
            await server?.finish(within: options.upgradeLimit.duration)
        } else {
            ServiceManager.current?.send("STOPPING=1")
        }
        console.clearStatusLine()
        await discovery?.shutdown()
        if !isHandedOver { await recordings?.close() }
        await fleet?.leave(within: Self.handoverTime)
        host.close()
        // The event streams end after the last event of the runs, so the server must stay until then.
        async let drained: Void? = server?.shutdown(within: HTTPServer.shutdownLimit)
        await host.shutdown()
        setup.bus.endStreams()
        await drained
        await setup.delivery.finish()
        try outcome.get()
    }

    /// The directory for rings: that of the other process, if there is one.
    private func spoolLocation(after handed: HandoverState) throws(RelayError) -> SpoolLocation {
        guard let path = handed.spool else {
            return try single == nil ? SpoolLocation(temporaryIn: spool) : SpoolLocation(spool)
        }
        return SpoolLocation(of: path, lock: handed.isTemporary ? Inheritance.ofThisProcess.spoolLock : nil)
    }

    /// Hands everything over to a new process at each SIGUSR2, until that succeeds or the task is canceled.
    /// - Parameters:
    ///   - upgrade: nil: the process has no server.
    ///   - onSuccess: called when the new process is the service.
    private func runUpgrades(_ upgrade: Upgrade?, _ ends: RunEnds, onSuccess: @Sendable () -> Void) async {
        var isOver = false
        await Signals.forEach(SIGUSR2) {
            guard !isOver else { return }
            guard let upgrade, single?.canBeUpgraded != false else {
                return logger.warning("Another process cannot continue this one: restart it for an upgrade")
            }
            isOver = await upgrade.run(ends)
            if isOver { onSuccess() }
        }
    }

    /// Adds what runs beside the channels until the process ends.
    private func addTasks(
        to group: inout TaskGroup<Void>, _ host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?,
        _ stream: StreamWriter?, _ input: AsyncStream<ServiceEnd.Input>.Continuation
    ) {
        // A process of one channel ends at SIGHUP, unless that reads its tokens and certificate again.
        let endsAtHangup = single != nil && !setup.credentials.areInFiles
        group.addTask { if await Signals.wait(endsAtHangup: endsAtHangup) != nil { input.yield(.signal) } }
        if !endsAtHangup {
            group.addTask {
                await Signals.forEach(SIGHUP) {
                    setup.credentials.reload(logger: logger)
                    // Neither the next signal nor the end of the process waits for lists.
                    if list != nil { Task { await updater.reload() } }
                }
            }
        }
        if let list {
            if console.displaysStatusLine {
                group.addTask { await console.displayStatus { StatusLine.text(of: host) } }
            }
            group.addTask { await guide?.run() }
            group.addTask {
                let refresh = list.refresh.duration
                while refresh > .zero, (try? await Task.sleep(for: refresh)) != nil { Task { await updater.reload() } }
            }
        } else if let state = host.onlyState {
            // A program that reads standard output writes to the terminal, too.
            if console.displaysStatusLine, stream?.descriptor.kind != .pipe {
                group.addTask {
                    await console.displayStatus {
                        stream.map { StatusLine.text(of: $0.written) } ?? StatusLine.text(of: state.status)
                    }
                }
            }
            if let stream { group.addTask { if let end = await stream.run(state) { input.yield(.stream(end)) } } }
        }
    }

    /// The longest time for which a process hands its channels over before it ends.
    private static let handoverTime = Duration.seconds(60)

    /// nil: the process runs each channel of its list alone.
    private func joinFleet() async throws(RelayError) -> FleetMember? {
        guard let settings = try list?.fleet.settings(address, publicURL: addresses.publicURL?.text) else { return nil }
        ShutdownDeadline.extend(by: Self.handoverTime)
        do throws(EngineError) { return try await settings.join(logger) } catch {
            throw RelayError(.badConfiguration, error.message, advice: "Correct --fleet, or leave it out")
        }
    }

    /// The most bytes of cached files from archives in object stores.
    private static let copyLimit = 512 << 20

    /// - Parameter generation: how often the process was handed over. A new process must not remove the copies that the old
    ///   one still reads.
    private static func copies(in directory: String, generation: Int) throws(RelayError) -> CopyCache {
        let name = generation.isMultiple(of: 2) ? "copies" : "copies-1"
        do throws(RingError) {
            return CopyCache(in: try CacheDirectory("\(directory)/\(name)"), byteLimit: copyLimit)
        } catch {
            throw RelayError(.cannotSpool, error.message, advice: "Give another --spool, or correct its permissions")
        }
    }

    private func logStart(_ catalog: ChannelCatalog, base: String) {
        let page = addresses.publicURL?.text ?? base
        if console.displaysStatusLine { console.write(message: "▶ \(page)/") }
        guard list == nil, let channel = catalog.channels.first?.sources.first else {
            let base = page
            return logger.info("Serving \(catalog.channels.count) channels of \(source.name) at \(base)/playlist.m3u")
        }
        logger.info("Serving at \(base)/, upstream \(channel.url.redacted)")
    }

    /// Starts the server of the channels, of the documents about all of them, and of the API.
    private func startServer(
        of host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?, _ recordings: RecordingService?,
        _ archives: StoredArchives?, _ health: HealthRecorder
    ) async throws(RelayError) -> HTTPServer {
        let api = list?.apiToken.map {
            APIResponder(
                token: $0, host: host, updater: updater, events: setup.bus, recordings: recordings, guide: guide,
                streams: setup.streamClients)
        }
        let metrics = MetricsResponder { [setup] in
            MetricsSnapshot(
                host, setup.traffic, setup.delivery, clients: setup.connections.counts,
                maxConnections: setup.connections.limit)
        }
        return try await setup.start(
            on: address, listening: Inheritance.ofThisProcess.listener, idleTime: options.clientTimeout.duration,
            ServeResponder(
                host, addresses: addresses, tuner: tuner, guide: guide, api: api, recordings: recordings,
                archives: archives, health: health, tokens: setup.credentials.viewers, metrics: metrics,
                peers: host.peerKey.map {
                    PeerClient($0, passes: list?.fleet.fleetRedirect != true, requests: configuration.requests)
                },
                streamClients: setup.streamClients, clients: { [setup] in setup.connections.counts }))
    }
}

// MARK: - The list

extension RelayService {
    private static let loggedIssues = 10

    private func readCatalog() async throws(RelayError) -> ChannelCatalog {
        do throws(CatalogError) {
            let catalog = try await source.read()
            for line in catalog.issues(perList: Self.loggedIssues) { logger.warning("\(line)") }
            let always = catalog.channels.count { $0.options.runsAlways }
            if let limit = policy.maxRunning, always > limit {
                logger.warning("\(always) channels always run, but --max-running permits \(limit)")
            }
            if let limit = policy.descriptorLimit, max(always, policy.maxRunning ?? 0) > limit {
                logger.warning(
                    "The limit on open files permits \(limit) channels at once: raise it, or lower --max-clients")
            }
            return catalog
        } catch {
            for line in error.lines.dropFirst() { logger.error("\(line)") }
            throw error.summary
        }
    }

    private func updater(of catalog: ChannelCatalog, _ host: ChannelHost, _ guide: GuideService?) -> CatalogUpdater {
        let updateGuide: CatalogUpdater.Publication = { channels, guides in
            guide?.update(
                channels: channels, guides: guides,
                fetcher: GuideFetcher(requests: configuration.requests, listURL: source.location))
        }
        updateGuide(catalog.channels, catalog.guides)
        return CatalogUpdater(catalog, from: source, host: host, publish: updateGuide, observe: log)
    }

    private func reportStale(_ reason: String, _ consequence: String) {
        logger.warning("\(consequence): \(reason)")
        setup.bus.publish(.listError(source: source.name, reason: reason))
    }

    @Sendable private func log(_ reload: Result<CatalogUpdater.Outcome, CatalogError>) {
        switch reload {
        case .success(let outcome):
            let change = outcome.difference
            logger.info(
                """
                List read again: added=\(change.added.count) removed=\(change.removed.count) \
                changed=\(change.changed.count) unchanged=\(change.unchanged.count) ended=\(outcome.endedCount)
                """)
            setup.bus.publish(
                .listReload(
                    source: source.name, added: change.added.count, removed: change.removed.count,
                    changed: change.changed.count, unchanged: change.unchanged.count, ended: outcome.endedCount))
            for error in outcome.staleLists { reportStale(error.line, "A list stays as it was") }
        case .failure(let error):
            for line in error.lines { reportStale(line, "The list stays as it was") }
        }
    }

    /// Starts answering clients that look for tuners, if the options say so. If that fails, clients can still be given
    /// the URL.
    private func startDiscovery(httpPort: Int) async -> DiscoveryServer? {
        guard let tuner, let discoveryPort = list?.tuner.udpPort else { return nil }
        let address = DiscoveryAddress(
            publicURL: addresses.publicURL?.text, listening: ListenAddress(host: self.address.host, port: httpPort))
        if !address.isReachable {
            logger.warning("HDHomeRun discovery is answered on this machine alone: give --listen or --public-url")
        }
        do throws(HTTPServerError) {
            let server = try await DiscoveryServer.start(port: discoveryPort, device: tuner, address: address)
            logger.info("HDHomeRun discovery: port=\(server.port) device=\(tuner.deviceID)")
            return server
        } catch {
            logger.warning("HDHomeRun discovery is not answered: \(RelayError(error).message)")
            return nil
        }
    }
}
