import Channel
import ChannelList
import Foundation
import Glibc
import Logging
import Synchronization

/// A running `liverelay serve`: the channels of a list, one HTTP server, and an orderly end.
struct ServeService: Sendable {
    let source: CatalogSource
    let policy: ChannelSupervisor.Policy
    let address: ListenAddress
    let addresses: ServerAddresses
    let tuner: TunerIdentity
    /// The UDP port for clients that look for tuners; nil: none.
    let discoveryPort: Int?
    /// nil: there is no API.
    var apiToken: APIToken?
    /// Time between two readings of the list; nil: it is read at SIGHUP alone.
    let refresh: Duration?
    /// Parent of the spools; nil: the system's temporary directory.
    let spoolParent: String?
    let configuration: RelayConfiguration
    let logger: Logger

    /// Runs until the process is asked to end. No channel's failure ends it.
    func run() async throws(RelayError) {
        let catalog = try await readCatalog()
        let parent = try spoolParent.map { path throws(RelayError) in try SpoolLocation(path).path }
        let spool = try TemporarySpool(
            in: parent.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? FileManager.default.temporaryDirectory)
        defer { spool.remove() }
        let settings = ChannelSettings(
            configuration: configuration, spool: spool.path, keptSpool: parent, logger: logger)
        let host = ChannelHost(ChannelDirectory(catalog.channels), policy: policy, settings: settings)
        let updater = CatalogUpdater(catalog, from: source, host: host, observe: log)
        let responder = ServeResponder(
            host, addresses: addresses, tuner: tuner,
            api: APIResponder(token: apiToken, host: host, updater: updater))
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(
                on: address, responder: { responder.response(to: $0) },
                deferredResponder: { responder.deferredResponse(to: $0) },
                actionResponder: { responder.action(for: $0) })
        } catch { throw RelayError(error) }
        let base = addresses.publicURL?.text ?? address.baseURL(port: server.port)
        logger.info("Serving \(catalog.channels.count) channels of \(source.name) at \(base)/playlist.m3u")
        let discovery = await startDiscovery(of: host, httpPort: server.port)
        host.start()
        await runUntilSignal(updater)
        await discovery?.shutdown()
        host.close()
        await server.shutdown(within: HTTPServer.shutdownLimit)
        await host.shutdown()
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
            return catalog
        } catch {
            for line in error.lines.dropFirst() { logger.error("\(line)") }
            throw error.summary
        }
    }

    private func runUntilSignal(_ updater: CatalogUpdater) async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await Signals.wait(for: [SIGINT, SIGTERM]) }
            group.addTask {
                while await Signals.wait(for: [SIGHUP]) { await updater.reload() }
                return false
            }
            group.addTask {
                while let refresh, (try? await Task.sleep(for: refresh)) != nil { await updater.reload() }
                return false
            }
            for await isEnd in group where isEnd { break }
            group.cancelAll()
        }
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
            for error in outcome.staleLists { logger.warning("A list stays as it was: \(error.line)") }
        case .failure(let error):
            for line in error.lines { logger.warning("The list stays as it was: \(line)") }
        }
    }
}
