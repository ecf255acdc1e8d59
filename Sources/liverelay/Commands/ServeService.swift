import Channel
import ChannelList
import Foundation
import Glibc
import Guide
import Logging
import Observability
import Service
import Support
import Synchronization
import WebServer

/// A running `liverelay serve`: the channels of a list, one HTTP server, and an orderly end.
struct ServeService: Sendable {
    let source: CatalogSource
    let policy: ChannelSupervisor.Policy
    let address: ListenAddress
    let addresses: ServerAddresses
    let clients: ClientOptions
    let tuner: TunerIdentity
    /// The UDP port for clients that look for tuners; nil: none.
    let discoveryPort: Int?
    /// How guides are read; nil: none is.
    let guide: GuideService.Settings?
    /// nil: there is no API.
    var apiToken: AccessToken?
    let access: AccessOptions
    /// Time between two readings of the list; nil: it is read at SIGHUP alone.
    let refresh: Duration?
    /// Parent of the spools; nil: the system's temporary directory.
    let spoolParent: String?
    let configuration: RelayConfiguration
    let logger: Logger
    let events: EventOptions
    let bus = EventBus()

    /// Runs until the process is asked to end. No channel's failure ends it.
    func run() async throws(RelayError) {
        let credentials = try access.credentials()
        let catalog = try await readCatalog()
        let parent = try spoolParent.map { path throws(RelayError) in try SpoolLocation(path).path }
        let spool = try TemporarySpool(
            in: parent.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? FileManager.default.temporaryDirectory)
        defer { spool.remove() }
        let settings = ChannelSettings(
            configuration: configuration, spool: spool.path, keptSpool: parent, logger: logger, bus: bus)
        let host = ChannelHost(ChannelDirectory(catalog.channels), policy: policy, settings: settings)
        let guide = guide.map { GuideService($0, directory: spool.path + "/guide", logger: logger) }
        let updateGuide: CatalogUpdater.Publication = { channels, guides in update(guide, channels, guides) }
        updateGuide(catalog.channels, catalog.guides)
        let updater = CatalogUpdater(catalog, from: source, host: host, publish: updateGuide, observe: log)
        let delivery = try events.delivery(of: bus, logger: logger)
        let server = try await startServer(of: host, updater, guide, delivery, credentials)
        let base = addresses.publicURL?.text ?? address.baseURL(port: server.port, isSecure: access.isSecure)
        logger.info("Serving \(catalog.channels.count) channels of \(source.name) at \(base)/playlist.m3u")
        let discovery = await startDiscovery(of: host, httpPort: server.port)
        host.start()
        let supervision = ServiceManager.current?.supervise {
            await server.awaitEventLoops()
            _ = host.directory  // It waits for the lock of the channels.
        }
        await runUntilSignal(updater, guide, credentials)
        supervision?.cancel()
        await discovery?.shutdown()
        host.close()
        // The streams of events end after the last event of the runs; until then the server must not be gone.
        async let drained: Void = server.shutdown(within: HTTPServer.shutdownLimit)
        await host.shutdown()
        bus.endStreams()
        await drained
        await delivery.finish()
    }

    /// The number of a list's issues that are written to the log.
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

    private func update(_ guide: GuideService?, _ channels: [ListedChannel], _ guides: [String]) {
        guide?.update(
            channels: channels, guides: guides,
            fetcher: GuideFetcher(requests: configuration.requests, listURL: source.location))
    }

    private func runUntilSignal(_ updater: CatalogUpdater, _ guide: GuideService?, _ credentials: ServerCredentials)
        async
    {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await Signals.wait(for: [SIGINT, SIGTERM], endsProcess: true) }
            group.addTask {
                await Signals.forEach(SIGHUP) {
                    credentials.reload(logger: logger)
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
                while let refresh, (try? await Task.sleep(for: refresh)) != nil { Task { await updater.reload() } }
                return false
            }
            for await isEnd in group where isEnd { break }
            group.cancelAll()
        }
    }

    private func reportStale(_ reason: String, _ consequence: String) {
        logger.warning("\(consequence): \(reason)")
        bus.publish(.listError(source: source.name, reason: reason))
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
            bus.publish(
                .listReload(
                    source: source.name, added: change.added.count, removed: change.removed.count,
                    changed: change.changed.count, unchanged: change.unchanged.count, ended: outcome.endedCount))
            for error in outcome.staleLists { reportStale(error.line, "A list stays as it was") }
        case .failure(let error):
            for line in error.lines { reportStale(line, "The list stays as it was") }
        }
    }
}

extension ServeService {
    /// Answers clients that look for tuners, if that is asked for. Where that fails, clients can still be given the URL.
    func startDiscovery(of host: ChannelHost, httpPort: Int) async -> DiscoveryServer? {
        guard let discoveryPort else { return nil }
        let address = DiscoveryAddress(
            publicURL: addresses.publicURL?.text, listening: ListenAddress(host: self.address.host, port: httpPort))
        if !address.isReachable {
            logger.warning("HDHomeRun discovery is answered on this machine alone: give --listen or --public-url")
        }
        do throws(HTTPServerError) {
            let server = try await DiscoveryServer.start(
                port: discoveryPort, device: { [tuner] in tuner.device(tunerCount: host.policy.tunerCount) },
                address: address)
            logger.info("HDHomeRun discovery: port=\(server.port) device=\(tuner.deviceID)")
            return server
        } catch {
            logger.warning("HDHomeRun discovery is not answered: \(RelayError(error).message)")
            return nil
        }
    }
}

extension ServeService {
    /// Starts the server of the channels, of what is known about all of them, and of the API.
    func startServer(
        of host: ChannelHost, _ updater: CatalogUpdater, _ guide: GuideService?, _ delivery: EventDelivery,
        _ credentials: ServerCredentials
    ) async throws(RelayError) -> HTTPServer {
        let connections = clients.connections(addresses)
        let traffic = HTTPTraffic()
        let api = APIResponder(token: apiToken, host: host, updater: updater)
        let operations = OperationsResponder(
            metrics: MetricsResponder { MetricsSnapshot(host, traffic, delivery, connections) },
            events: EventResponder(bus, refusal: { api.refusal(of: .events, $0) }),
            clients: ClientRegistry(bus, addresses: addresses))
        let responder = ServeResponder(
            host, addresses: addresses, tuner: tuner, guide: guide, api: api, access: credentials.viewers,
            operations: operations, clients: { connections.counts })
        do {
            return try await HTTPServer.start(
                on: address, connections: connections, traffic: traffic, security: credentials.security,
                responder: responder)
        } catch { throw RelayError(error) }
    }
}
