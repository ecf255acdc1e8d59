import ArchiveStore
import Channel
import ChannelList
import Foundation
import Glibc
import Guide
import HTTP
import Logging
import Observability
import Service
import Support
import WebServer

/// A running `liverelay serve`: the channels of a list, one HTTP server, and an orderly end.
struct ServeService: Sendable {
    let command: ServeCommand
    let source: CatalogSource
    let policy: ChannelSupervisor.Policy
    let configuration: RelayConfiguration
    let setup: ServerSetup
    let logger: Logger

    private var address: ListenAddress { ListenAddress(host: command.listen, port: Int(command.port)) }
    private var addresses: ForwardedAddresses { setup.addresses }
    private var tuner: TunerDevice {
        command.tuner.device(
            publicURL: addresses.publicURL, list: command.list, port: command.port, tunerCount: policy.tunerCount)
    }

    /// Runs until the process is asked to end. No channel's failure ends it.
    func run() async throws(RelayError) {
        let catalog = try await readCatalog()
        let parent = try command.spool.map { path throws(RelayError) in try SpoolLocation(path).path }
        let spool = try TemporarySpool(
            in: parent.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? FileManager.default.temporaryDirectory)
        defer { spool.remove() }
        let needsCopies = command.archiveOnly || catalog.channels.contains { $0.options.archiveStore != nil }
        let copies = needsCopies ? try RelayService.copies(in: spool.path) : nil
        var settings = ChannelSettings(
            configuration: configuration, spool: spool.path, keptSpool: parent, logger: logger, bus: setup.bus)
        settings.copies = copies
        let guide = command.guide.settings(defaultRewind: command.dvr.duration).map {
            GuideService($0, directory: spool.path + "/guide", logger: logger)
        }
        settings.guide = guide
        let host = ChannelHost(
            ChannelDirectory(catalog.channels, connections: catalog.connections), policy: policy, settings: settings)
        let updateGuide: CatalogUpdater.Publication = { channels, guides in
            guide?.update(
                channels: channels, guides: guides,
                fetcher: GuideFetcher(requests: configuration.requests, listURL: source.location))
        }
        updateGuide(catalog.channels, catalog.guides)
        let updater = CatalogUpdater(catalog, from: source, host: host, publish: updateGuide, observe: log)
        let recordings = try command.recordings.map { pattern throws(RelayError) in
            try RecordingService(pattern, host: host, logger: logger, bus: setup.bus)
        }
        // No channel can be started any more.
        if command.archiveOnly { host.close() }
        let archives =
            command.archiveOnly ? copies.map { StoredArchives(configuration, cache: $0, logger: logger) } : nil
        let server = try await startServer(of: host, updater, guide, recordings, archives)
        let base = addresses.publicURL?.text ?? address.baseURL(port: server.port, isSecure: command.access.isSecure)
        logger.info("Serving \(catalog.channels.count) channels of \(source.name) at \(base)/playlist.m3u")
        let discovery = await startDiscovery(httpPort: server.port)
        host.start()
        recordings?.start()
        let supervision = ServiceManager.current?.supervise {
            await server.awaitEventLoops()
            _ = host.directory  // It waits for the lock of the channels.
        }
        await runUntilSignal(updater, guide)
        supervision?.cancel()
        await discovery?.shutdown()
        await recordings?.close()
        host.close()
        // The event streams end after the last event of the runs, so the server must stay until then.
        async let drained: Void = server.shutdown(within: HTTPServer.shutdownLimit)
        await host.shutdown()
        setup.bus.endStreams()
        await drained
        await setup.delivery.finish()
    }

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

    private func runUntilSignal(_ updater: CatalogUpdater, _ guide: GuideService?) async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await Signals.wait(for: [SIGINT, SIGTERM], endsProcess: true) }
            group.addTask {
                await Signals.forEach(SIGHUP) {
                    setup.credentials.reload(logger: logger)
                    // Neither the next signal nor the end of the process waits for lists.
                    Task { await updater.reload() }
                }
                return false
            }
            group.addTask {
                await guide?.run()
                return false
            }
            group.addTask {
                let refresh = command.refresh.duration
                while refresh > .zero, (try? await Task.sleep(for: refresh)) != nil { Task { await updater.reload() } }
                return false
            }
            for await isEnd in group where isEnd { break }
            group.cancelAll()
        }
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
        guard let discoveryPort = command.tuner.udpPort else { return nil }
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

    /// Starts the server of the channels, of the documents about all of them, and of the API.
    private func startServer(
        of host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?, _ recordings: RecordingService?,
        _ archives: StoredArchives?
    ) async throws(RelayError) -> HTTPServer {
        let api = command.apiToken.map {
            APIResponder(
                token: $0, host: host, updater: updater, events: setup.bus, recordings: recordings, guide: guide)
        }
        let metrics = MetricsResponder { [setup] in
            MetricsSnapshot(
                host, setup.traffic, setup.delivery, clients: setup.connections.counts,
                maxConnections: setup.connections.limit)
        }
        return try await setup.start(
            on: address,
            ServeResponder(
                host, addresses: addresses, tuner: tuner, guide: guide, api: api, recordings: recordings,
                archives: archives,
                tokens: setup.credentials.viewers, metrics: metrics, streamClients: setup.streamClients,
                clients: { [setup] in setup.connections.counts }))
    }
}
