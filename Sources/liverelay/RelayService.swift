import Capture
import Dispatch
import Glibc
import LiveRing
import Logging
import Tracker

/// A running `liverelay`: one channel, its site over HTTP, the operator's console, and an orderly end.
struct RelayService: Sendable {
    /// How long viewers' answers under way may take when the process is asked to end.
    static let farewell = Duration.milliseconds(1000)
    static let statusInterval = Duration.milliseconds(500)

    let configuration: RelayConfiguration
    let address: ListenAddress
    let exitsAtEnd: Bool
    let console: Console
    let logger: Logger
    /// Said once the first segment can be watched.
    let startupLines: @Sendable (_ base: String) -> [String]

    /// Runs until the upstream fails, or the process is asked to end, or, if asked for, the upstream has ended.
    func run() async throws(RelayError) {
        let clock = ContinuousClock()
        let began = clock.now
        let site = ChannelResponder(upstream: configuration.upstream) { began.duration(to: clock.now) }
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(on: address) { site.response(to: $0) }
        } catch { throw RelayError(error) }
        logger.info("Serves at \(base(of: server)), relays \(configuration.upstream.redacted)")
        let outcome = await runUntilEnd(site, base: base(of: server))
        console.clearStatusLine()
        await server.shutdown(within: Self.farewell)
        if case .failure(let error) = outcome { throw error }
    }

    private func base(of server: HTTPServer) -> String {
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        return "http://\(host):\(server.port)/"
    }

    private func runUntilEnd(_ site: ChannelResponder, base: String) async -> Result<Void, RelayError> {
        await withTaskGroup(of: Result<Void, RelayError>?.self) { group in
            group.addTask { await runChannel(into: site) }
            group.addTask { await Signals.wait() }
            group.addTask { await updateStatusLine(site, base: base) }
            defer { group.cancelAll() }
            for await ended in group { if let ended { return ended } }
            return .success(())
        }
    }

    /// - Returns: nil when the upstream has ended and the window stays served.
    private func runChannel(into site: ChannelResponder) async -> Result<Void, RelayError>? {
        var relay = Relay(configuration, site: site, log: RelayLog(logger)) { WallClock.milliseconds }
        do {
            let past = DVRRing.previousRing(in: configuration.spool)
            try await relay.resume(after: past)
            let driver = TrackerDriver(upstream: try upstream(), clock: ContinuousClock())
            let session = ChannelSession(upstream: configuration.upstream, policy: configuration.policy(after: past))
            let end = try await driver.run(reporting: session) { output, now in
                try await relay.perform(output, at: now)
            }
            try relay.recordEnd(end)
            return exitsAtEnd ? .success(()) : nil
        } catch let error as RelayError {
            return .failure(error)
        } catch let error as FetchError {
            return .failure(relay.recordFailure(RelayError(TrackerError(error, url: error.url))))
        } catch is CancellationError {
            return nil
        } catch {
            return .failure(RelayError(.internalError, "\(error)", advice: "Please report it"))
        }
    }

    /// The channel's own, and in front of it, if asked for, who writes down what it answers.
    private func upstream() throws -> any Fetcher {
        let upstream = try CurlFetcher(
            upstream: configuration.upstream, backups: configuration.backups, configuration: configuration.requests)
        guard let capture = configuration.capture else { return upstream }
        let clock = ContinuousClock()
        let began = clock.now
        do throws(CaptureError) {
            let writer = try CaptureWriter(
                capture, upstream: configuration.upstream, variant: configuration.variant,
                backups: configuration.backups)
            return CaptureRecorder(upstream, to: writer) {
                began.duration(to: clock.now)
            } onFailure: { [logger] error in
                logger.error("The capture ends here, the channel goes on: \(RelayError(error).message)")
            }
        } catch { throw RelayError(error) }
    }

    /// Keeps the status line, and greets once there is something to watch.
    private func updateStatusLine(_ site: ChannelResponder, base: String) async -> Result<Void, RelayError>? {
        var hasGreeted = false
        var replacements = 0
        while !Task.isCancelled {
            site.update { $0.logLinesDropped = console.dropped }
            let status = site.status
            if !hasGreeted, status.output.segments > 0 {
                hasGreeted = true
                for line in startupLines(base) { console.write(line: line) }
            }
            if status.output.spoolReplacements > replacements {
                replacements = status.output.spoolReplacements
                logger.warning("The spool was removed or replaced, and is taken anew; what is no longer in it are gaps")
            }
            console.setStatusLine(status.statusLine)
            try? await Task.sleep(for: Self.statusInterval)
        }
        return nil
    }
}

/// SIGINT, SIGTERM and SIGHUP as something to wait for.
enum Signals {
    /// A terminal that is closed ends what was begun in it, but for what was begun with nohup.
    private static var handledSignals: [Int32] { [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    static func wait() async -> Result<Void, RelayError>? {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let sources = handledSignals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { arrival.yield() }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        for await _ in arrivals { return .success(()) }
        return nil
    }
}

extension RelayStatus {
    /// For the bottom of a terminal.
    var statusLine: String {
        let age = upstream.secondsSinceNewSegment.map { "\(Duration.milliseconds(Int64($0 * 1000)).secondsText) ago" }
        let edge = output.lastMediaSequence.map { "segment \($0)" } ?? "nothing yet"
        let lost = upstream.segmentsLost + UInt64(splice.segmentsSkipped + splice.segmentsNotWritten)
        return
            "\(state)  upstream \(age ?? "opening")  edge \(edge)  runs \(splice.periods)  lost \(lost)  sanitized \(splice.adjustedTimestamps)"
    }
}
