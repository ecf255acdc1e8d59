import Channel
import ChannelList
import Foundation
import Glibc
import Logging
import Synchronization

/// A running `liverelay serve`: the channels of a list, one HTTP server, and an orderly end.
struct ServeService: Sendable {
    let source: ChannelListSource
    let policy: ChannelSupervisor.Policy
    let address: ListenAddress
    let publicURL: String?
    let clients: OpenConnections.Limits
    /// Time between two readings of the list; nil: it is read at SIGHUP alone.
    let refresh: Duration?
    /// Parent of the temporary spool; nil: the system's temporary directory.
    let spoolParent: String?
    let configuration: RelayConfiguration
    let logger: Logger

    /// Runs until the process is asked to end. No channel's failure ends it.
    func run() async throws(RelayError) {
        let list = try await source.read()
        logIssues(of: list)
        let parent = spoolParent.map { URL(filePath: $0, directoryHint: .isDirectory) }
        let spool = try TemporarySpool(in: parent ?? FileManager.default.temporaryDirectory)
        defer { spool.remove() }
        let settings = ChannelSettings(configuration: configuration, spool: spool.path, logger: logger)
        let host = ChannelHost(ChannelDirectory(list.channels), policy: policy, settings: settings)
        let connections = OpenConnections(clients)
        let responder = ServeResponder(host, publicURL: publicURL) { connections.counts }
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(
                on: address, connections: connections, responder: { responder.response(to: $0) },
                deferredResponder: { responder.deferredResponse(to: $0) })
        } catch { throw RelayError(error) }
        let base = publicURL ?? address.baseURL(port: server.port)
        logger.info("Serving \(list.channels.count) channels of \(source.name) at \(base)/playlist.m3u")
        await runUntilSignal(host)
        host.close()
        await server.shutdown(within: HTTPServer.shutdownLimit)
        await host.shutdown()
    }

    private func runUntilSignal(_ host: ChannelHost) async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await Signals.wait(for: [SIGINT, SIGTERM], endsProcess: true) }
            group.addTask {
                while await Signals.wait(for: [SIGHUP]) { await reload(host) }
                return false
            }
            group.addTask {
                while let refresh, (try? await Task.sleep(for: refresh)) != nil { await reload(host) }
                return false
            }
            for await isEnd in group where isEnd { break }
            group.cancelAll()
        }
    }

    /// Reads the list again. One that cannot be read changes nothing.
    private func reload(_ host: ChannelHost) async {
        do throws(RelayError) {
            let before = host.directory.channels
            let next = ChannelDirectory(try await source.read(keeping: before).channels)
            let ended = host.replace(next)
            logger.info("List read again: channels=\(next.channels.count) before=\(before.count) ended=\(ended)")
        } catch { logger.warning("The list stays as it was: \(error.line)") }
    }

    /// The number of a list's issues that are written to the log.
    private static let loggedIssues = 10

    private func logIssues(of list: M3UChannelList) {
        for issue in list.issues.prefix(Self.loggedIssues) {
            logger.warning("List line \(issue.line): \(issue.message)")
        }
        let rest = list.issueCount - min(list.issues.count, Self.loggedIssues)
        if rest > 0 { logger.warning("The list has \(rest) more lines that were not understood as written") }
    }
}
