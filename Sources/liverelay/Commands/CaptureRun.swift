import Capture
import Fetch
import Foundation
import Logging
import Observability
import Support
import Tracker

/// A running `liverelay record`: follows a channel and stores the answers of its upstreams.
struct CaptureRun: Sendable {
    let upstream: String
    let directory: URL
    let policy: ChannelSession.Policy
    let requests: CurlConfiguration
    let redaction: CaptureRedactor.Options
    /// Length of the capture; nil: until the upstream ends or the process is asked to end.
    let length: Duration?
    let console: Console
    let logger: Logger

    /// Records until one of the ends. The capture is complete on disk in every case.
    func run() async throws(RelayError) {
        let clock = ContinuousClock()
        let start = clock.now
        let elapsed = { @Sendable in start.duration(to: clock.now) }
        let (failures, failure) = AsyncStream<CaptureError>.makeStream()
        let recorder = try makeRecorder(elapsed) { failure.yield($0) }
        let outcome = await recordUntilEnd(recorder, failures, elapsed)
        console.clearStatusLine()
        console.write(line: "\(await summary(of: recorder, after: elapsed())) in \(directory.path)")
        try outcome.get()
    }

    private func makeRecorder(
        _ elapsed: @escaping @Sendable () -> Duration, onFailure: @escaping @Sendable (CaptureError) -> Void
    ) throws(RelayError) -> CaptureRecorder {
        do {
            let source = try SourceFetcher(
                upstream: upstream, configuration: requests, backups: policy.backups, backupConfigurations: [])
            let writer = try CaptureWriter(
                directory,
                CaptureIndex(
                    upstream: upstream, variant: policy.session.variant, backups: policy.backups,
                    polling: policy.session.polling, loopsFiles: policy.session.loopsFiles,
                    ladder: policy.session.ladder), redaction: redaction)
            return CaptureRecorder(source, to: writer, now: elapsed, onFailure: onFailure)
        } catch { throw RelayError(unexpected: error) }
    }

    /// Runs until the first of: the end of the channel, a signal, a storage error, the time limit.
    private func recordUntilEnd(
        _ recorder: CaptureRecorder, _ failures: AsyncStream<CaptureError>,
        _ elapsed: @escaping @Sendable () -> Duration
    ) async -> Result<Void, RelayError> {
        await withTaskGroup(of: Result<Void, RelayError>?.self) { group in
            group.addTask { await follow(recorder) }
            group.addTask { await Signals.wait() }
            group.addTask { await failures.first { _ in true }.map { .failure(RelayError($0)) } }
            group.addTask { await waitForTimeLimit() }
            group.addTask {
                await console.displayStatus { await summary(of: recorder, after: elapsed()) }
                return nil
            }
            defer { group.cancelAll() }
            for await ended in group { if let ended { return ended } }
            return .success(())
        }
    }

    /// - Returns: nil if the task was canceled, because the capture ended for another reason.
    private func follow(_ recorder: CaptureRecorder) async -> Result<Void, RelayError>? {
        let log = RelayLog(logger)
        do {
            let end = try await TrackerDriver(upstream: recorder, clock: ContinuousClock()).run(
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

    private func waitForTimeLimit() async -> Result<Void, RelayError>? {
        guard let length, (try? await Task.sleep(for: length)) != nil else { return nil }
        return .success(())
    }

    private func summary(of recorder: CaptureRecorder, after elapsed: Duration) async -> String {
        let totals = await recorder.totals
        let kilobytes = totals.bytes / 1000
        let size = kilobytes < 1000 ? "\(kilobytes) kB" : "\(kilobytes / 1000).\(kilobytes / 100 % 10) MB"
        return "Recorded \(elapsed.components.seconds) s, \(totals.exchanges) requests, \(size)"
    }
}
