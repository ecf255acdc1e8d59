import ArgumentParser
import Capture
import Channel
import ChannelList
import Fetch
import Foundation
import Logging
import Observability
import Service
import Support
import Tracker

/// `liverelay capture <upstream.m3u8> DIR`
struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Store what a channel's upstream answers, to replay it later.",
        discussion: """
            Requests all that the relay would request from the upstream (playlists, segments, keys, maps, companion audio, \
            subtitles) and stores each answer with its status, headers, time and errors in a directory: a capture. It can \
            be read at any moment, even if the process is killed. liverelay replay republishes it, byte for byte.

            A capture never contains what was sent to the upstream (headers, cookies, passwords). It contains whole URLs \
            unless they are stripped, here or later by liverelay excerpt; a token that is part of a path stays.

            liverelay capture https://example.com/channel/master.m3u8 evening --for 10m --strip-query
            """)

    @Argument(help: "URL of the channel's master or media playlist (http or https).")
    var upstream: String

    @Argument(
        help: ArgumentHelp("Directory for the capture; empty or not existing yet.", valueName: "capture"),
        completion: .directory)
    var capture: String

    @Option(name: .customLong("for"), help: "How long to capture: 90, 15m, 2h; until interrupted by default.")
    var length: TimeSpan?

    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp("URL of a backup for an upstream that is stalled; repeatable.", valueName: "url"))
    var backups: [String] = []

    @OptionGroup(title: "Redaction") var strip: StripOptions
    @OptionGroup(title: "Upstream") var intake: KeyOptions<UpstreamSection>
    @OptionGroup(title: "Upstream") var requests: RequestArguments

    @Option(help: "Lowest level of log lines.")
    var logLevel = LogLevel.notice

    func validate() throws {
        if let complaint = FirstWord.complaint(about: upstream) { throw ValidationError(complaint) }
        if let complaint = OptionChecks.backups(backups) { throw ValidationError(complaint) }
        try requests.check(intake.options)
    }

    func run() async throws {
        var options = intake.options
        options.capture = capture
        var configuration = requests.configuration(options)
        options.giveUp = options.giveUp ?? ConfigurationKey.usualGiveUp
        configuration.apply(options)
        configuration.opening = .patient(giveUp: configuration.giveUp)
        configuration.backups = backups.map(FirstWord.sourceURL)
        try await CaptureRun(
            upstream: FirstWord.sourceURL(upstream), directory: URL(filePath: capture, directoryHint: .isDirectory),
            policy: configuration.policy, requests: configuration.requests, redaction: strip.options,
            length: length?.duration,
            logger: Logger(console: .standardError, level: logLevel)
        ).run()
    }
}

struct StripOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Remove the queries of all URLs, in the playlists too.",
            discussion: "Where only the query distinguishes two resources, it becomes ?2, ?3 and so on."))
    var stripQuery = false

    @Flag(help: "Remove all response headers except Content-Type and Retry-After.")
    var stripHeaders = false

    @Flag(help: "Rename the hosts to host-1.example, host-2.example and so on.")
    var stripHosts = false

    var options: CaptureRedactor.Options {
        CaptureRedactor.Options(queries: stripQuery, headers: stripHeaders, hosts: stripHosts)
    }
}

/// A running `liverelay capture`: follows a channel and stores the answers of its upstreams.
private struct CaptureRun: Sendable {
    let upstream: String
    let directory: URL
    let policy: ChannelSession.Policy
    let requests: CurlConfiguration
    let redaction: CaptureRedactor.Options
    /// Length of the capture; nil: until the upstream ends or the process is asked to end.
    let length: Duration?
    let logger: Logger

    private var console: Console { .standardError }

    /// Captures until one of the ends. The capture is complete on disk in every case.
    func run() async throws(RelayError) {
        let clock = ContinuousClock()
        let start = clock.now
        let elapsed = { @Sendable in start.duration(to: clock.now) }
        let (failures, failure) = AsyncStream<CaptureError>.makeStream()
        let fetcher = try makeFetcher(elapsed) { failure.yield($0) }
        let outcome = await captureUntilEnd(fetcher, failures, elapsed)
        console.clearStatusLine()
        console.write(line: "\(await summary(of: fetcher, after: elapsed())) in \(directory.path)")
        try outcome.get()
    }

    private func makeFetcher(
        _ elapsed: @escaping @Sendable () -> Duration, onFailure: @escaping @Sendable (CaptureError) -> Void
    ) throws(RelayError) -> CapturingFetcher {
        do {
            let source = try SourceFetcher(
                upstream: upstream, configuration: requests, backups: policy.backups, backupConfigurations: [])
            let writer = try CaptureWriter(
                directory,
                CaptureIndex(
                    upstream: upstream, variant: policy.session.variant, backups: policy.backups,
                    polling: policy.session.polling, loopsFiles: policy.session.loopsFiles,
                    ladder: policy.session.ladder), redaction: redaction)
            return CapturingFetcher(source, to: writer, now: elapsed, onFailure: onFailure)
        } catch { throw RelayError(unexpected: error) }
    }

    /// Runs until the first of: the end of the channel, a signal, a storage error, the time limit.
    private func captureUntilEnd(
        _ fetcher: CapturingFetcher, _ failures: AsyncStream<CaptureError>,
        _ elapsed: @escaping @Sendable () -> Duration
    ) async -> Result<Void, RelayError> {
        await withTaskGroup(of: Result<Void, RelayError>?.self) { group in
            group.addTask { await follow(fetcher) }
            group.addTask { await Signals.wait() }
            group.addTask { await failures.first { _ in true }.map { .failure(RelayError($0)) } }
            if let length {
                group.addTask { (try? await Task.sleep(for: length)) == nil ? nil : .success(()) }
            }
            group.addTask {
                await console.displayStatus { await summary(of: fetcher, after: elapsed()) }
                return nil
            }
            defer { group.cancelAll() }
            for await ended in group { if let ended { return ended } }
            return .success(())
        }
    }

    /// - Returns: nil if the task was canceled, because the capture ended for another reason.
    private func follow(_ fetcher: CapturingFetcher) async -> Result<Void, RelayError>? {
        let log = RelayLog(logger)
        do {
            let end = try await TrackerDriver(upstream: fetcher, clock: ContinuousClock()).run(
                reporting: ChannelSession(upstream: upstream, policy: policy)
            ) { output, _ in
                if case .event(let event) = output { log.log(event) }
                return .published
            }
            switch end {
            case .drained: return .success(())
            case .gaveUp(let error), .failed(let error): return .failure(RelayError(error))
            }
        } catch {
            return nil
        }
    }

    private func summary(of fetcher: CapturingFetcher, after elapsed: Duration) async -> String {
        let totals = await fetcher.totals
        let kilobytes = totals.bytes / 1000
        let size = kilobytes < 1000 ? "\(kilobytes) kB" : "\(kilobytes / 1000).\(kilobytes / 100 % 10) MB"
        return "Captured \(elapsed.components.seconds) s, \(totals.exchanges) requests, \(size)"
    }
}
