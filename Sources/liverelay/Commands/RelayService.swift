import ArchiveStore
import Channel
import Foundation
import Glibc
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

/// A running `liverelay`: one channel, its HTTP server, the console, and an orderly end.
struct RelayService: Sendable {
    let options: ServingOptions
    let configuration: RelayConfiguration
    /// nil: no HTTP server.
    let address: ListenAddress?
    /// Media that a client of `/live.ts` receives at once.
    let clientBurst: Ticks
    /// Writes the channel as a transport stream; nil: it is not written. When the writer ends, the process ends.
    let stream: StreamWriter?
    /// How the channel is recorded; nil: it is not recorded.
    let recording: ChannelRecorder.Settings?
    /// nil: the archive is in the spool.
    let archive: ChannelArchive?
    let logger: Logger
    /// Lines for the console once the first segment is published.
    let startupLines: @Sendable (_ base: String) -> [String]

    private var console: Console { .standardError }

    /// Runs until the upstream fails, the process is asked to end, or, if the options ask for it, the upstream has
    /// ended.
    func run() async throws(RelayError) {
        let clock = ContinuousClock()
        let start = clock.now
        let setup = try ServerSetup(
            options.access, options.clients, options.events,
            ForwardedAddresses(trustedProxies: options.clients.trustProxy), logger: logger)
        let state = ChannelState(
            upstream: configuration.upstream, memory: configuration.memory,
            complete: { [console] in ($0.logLinesDropped, $0.clients) = (console.dropped, setup.connections.counts) },
            now: { start.duration(to: clock.now) })
        let runner = ChannelRunner(
            configuration: configuration,
            capture: options.record.map { URL(filePath: $0, directoryHint: .isDirectory) }, recording: recording,
            archive: archive, logger: logger, events: RunEvents(setup.bus, channel: nil))
        let server = try await startServer(setup, of: state, runner)
        if let stream {
            logger.info("Writing \(configuration.upstream.redacted) to \(stream.descriptor.name)")
        }
        let supervision = ServiceManager.current?.supervise { await server?.server.awaitEventLoops() }
        let outcome = await runUntilEnd(state, runner, setup, base: server?.base)
        supervision?.cancel()
        console.clearStatusLine()
        await server?.server.shutdown(within: HTTPServer.shutdownLimit)
        await setup.delivery.finish()
        if case .failure(let error) = outcome { throw error }
    }

    private func startServer(
        _ setup: ServerSetup, of state: ChannelState, _ runner: ChannelRunner
    ) async throws(RelayError) -> (server: HTTPServer, base: String)? {
        guard let address else { return nil }
        let channel = ChannelResponder(
            state, burst: clientBurst, offersStills: configuration.offersStills, archive: runner.archiveResponder)
        let metrics = MetricsResponder {
            MetricsSnapshot(
                runs: [.init(nil, state, runner.meter, sentBytes: channel.sentBytes)], traffic: setup.traffic,
                events: setup.delivery, clients: setup.connections.counts, maxConnections: setup.connections.limit)
        }
        let server = try await setup.start(
            on: address, limits: .init(idleTime: options.clientTimeout.duration),
            RelayResponder(
                channel: channel, tokens: setup.credentials.viewers, metrics: metrics, clients: setup.streamClients))
        let base = address.baseURL(port: server.port, isSecure: options.access.isSecure) + "/"
        logger.info("Serving at \(base), upstream \(configuration.upstream.redacted)")
        return (server, base)
    }

    /// The most bytes of cached files from archives in object stores.
    private static let copyLimit = 512 << 20

    static func copies(in directory: String) throws(RelayError) -> CopyCache {
        do throws(RingError) {
            return CopyCache(in: try CacheDirectory("\(directory)/copies"), byteLimit: copyLimit)
        } catch {
            throw RelayError(.cannotSpool, error.message, advice: "Give another --spool, or correct its permissions")
        }
    }

    private enum Ending {
        case channel(Result<Void, RelayError>?)
        case stream(StreamWriter.End?)
        case other(Result<Void, RelayError>?)
    }

    private func runUntilEnd(
        _ state: ChannelState, _ runner: ChannelRunner, _ setup: ServerSetup, base: String?
    ) async -> Result<Void, RelayError> {
        await withTaskGroup(of: Ending.self) { group in
            group.addTask { .channel(await run(runner, into: state, base: base)) }
            group.addTask { .other(await Signals.wait(endsAtHangup: !setup.credentials.areInFiles)) }
            if setup.credentials.areInFiles {
                group.addTask {
                    await Signals.forEach(SIGHUP) { setup.credentials.reload(logger: logger) }
                    return .other(nil)
                }
            }
            if console.displaysStatusLine {
                group.addTask {
                    await console.displayStatus { state.status.statusLine }
                    return .other(nil)
                }
            }
            if let stream { group.addTask { .stream(await stream.run(state)) } }
            defer { group.cancelAll() }
            var channelEnd: Result<Void, RelayError>??
            var isStreamWritten = false
            for await ending in group {
                switch ending {
                case .channel(let end):
                    channelEnd = end
                    // Everything published is written before the process ends.
                    let writesStill = stream != nil && !isStreamWritten && state.isOver
                    if !writesStill, let end { return end }
                    if isStreamWritten { return .success(()) }
                case .stream(.written?):
                    isStreamWritten = true
                    if let channelEnd { return channelEnd ?? .success(()) }
                case .stream(.readerClosed?): return .success(())
                case .stream(.failed(let error)?): return .failure(error)
                case .other(let end?): return end
                case .stream(nil), .other(nil): break
                }
            }
            return .success(())
        }
    }

    /// Runs the channel, and writes the startup lines when its first segment is published.
    /// - Returns: nil if the upstream has ended and the server continues.
    private func run(
        _ runner: ChannelRunner, into state: ChannelState, base: String?
    ) async -> Result<Void, RelayError>? {
        let end = await runner.run(into: state) {
            for line in base.map(startupLines) ?? [] { console.write(message: line) }
        }
        switch end {
        // Without a server, nobody can read the published media.
        case .drained: return options.exitAtEnd || (address == nil && stream == nil) ? .success(()) : nil
        case .canceled: return nil
        case .failed(let error): return .failure(error)
        }
    }
}

extension RelayStatus {
    var statusLine: String {
        let age = upstream.secondsSinceNewSegment.map { "\(Duration.milliseconds(Int64($0 * 1000)).secondsText) ago" }
        let edge = output.lastMediaSequence.map { "segment \($0)" } ?? "nothing yet"
        let lost = upstream.counts.lost + UInt64(splice.segmentsSkipped + splice.segmentsNotWritten)
        return
            "\(state)  upstream \(age ?? "opening")  edge \(edge)  periods \(splice.counts[.periods])  lost \(lost)  sanitized \(splice.counts[.adjustedTimestamps])"
    }
}
