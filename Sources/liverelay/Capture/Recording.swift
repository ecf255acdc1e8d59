import Capture
import Foundation
import Logging
import Playlist
import Tracker

/// A running `liverelay record`: the intake of a channel, of which nothing is kept but the answers.
struct Recording: Sendable {
    let upstream: String
    let directory: URL
    let policy: ChannelSession.Policy
    let requests: CurlConfiguration
    let redaction: CaptureRedactor.Options
    /// nil: until the upstream ends, or the process is asked to.
    let length: Duration?
    let console: Console
    let logger: Logger

    /// What was recorded is whole and stays, however this ends.
    func run() async throws(RelayError) {
        let clock = ContinuousClock()
        let began = clock.now
        let (failures, failed) = AsyncStream<CaptureError>.makeStream()
        let recorder: CaptureRecorder
        do {
            let source = try CurlFetcher(upstream: upstream, backups: policy.backups, configuration: requests)
            let writer = try CaptureWriter(
                directory, upstream: upstream, variant: policy.session.variant, backups: policy.backups,
                redaction: redaction)
            recorder = CaptureRecorder(source, to: writer) {
                began.duration(to: clock.now)
            } onFailure: {
                failed.yield($0)
            }
        } catch let error as CaptureError {
            throw RelayError(error)
        } catch let error as FetchError {
            throw RelayError(TrackerError(error, url: error.url))
        } catch {
            throw RelayError(.internalError, "\(error)", advice: "Please report it")
        }
        let outcome = await withTaskGroup(of: Result<Void, RelayError>?.self) { group in
            group.addTask { await follow(recorder) }
            group.addTask { await Signals.wait() }
            group.addTask { await failures.first { _ in true }.map { .failure(RelayError($0)) } }
            group.addTask { await waitForTimeLimit() }
            group.addTask { await report(recorder) { began.duration(to: clock.now) } }
            for await ended in group {
                guard let ended else { continue }
                group.cancelAll()
                return ended
            }
            return .success(())
        }
        console.clearStatusLine()
        console.write(line: "\(await summary(of: recorder, after: began.duration(to: clock.now))) in \(directory.path)")
        try outcome.get()
    }

    private func follow(_ recorder: CaptureRecorder) async -> Result<Void, RelayError>? {
        let log = RelayLog(logger)
        do {
            let end = try await TrackerDriver(upstream: recorder, clock: ContinuousClock()).run(
                session: ChannelSession(upstream: upstream, policy: policy)
            ) { output, _ in
                if case .event(let event) = output { log.log(event) }
            }
            switch end {
            case .drained: return .success(())
            case .gaveUp(let error), .failed(let error): return .failure(RelayError(error))
            }
        } catch {
            return nil  // Cancelled: somebody else has ended the recording.
        }
    }

    private func waitForTimeLimit() async -> Result<Void, RelayError>? {
        guard let length, (try? await Task.sleep(for: length)) != nil else { return nil }
        return .success(())
    }

    private func report(_ recorder: CaptureRecorder, elapsed: () -> Duration) async -> Result<Void, RelayError>? {
        while !Task.isCancelled {
            console.setStatusLine(await summary(of: recorder, after: elapsed()))
            try? await Task.sleep(for: RelayService.statusInterval)
        }
        return nil
    }

    private func summary(of recorder: CaptureRecorder, after elapsed: Duration) async -> String {
        let totals = await recorder.totals
        let kilobytes = totals.bytes / 1000
        let size = kilobytes < 1000 ? "\(kilobytes) kB" : "\(kilobytes / 1000).\(kilobytes / 100 % 10) MB"
        return "Recorded \(elapsed.components.seconds) s, \(totals.exchanges) requests, \(size)"
    }
}
