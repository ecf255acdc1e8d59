import Channel
import Foundation
import Logging
import Synchronization

/// One run of a channel among many: its task, what it publishes, and its spool.
final class RunningChannel: Sendable {
    let run: ChannelSupervisor.Run
    let state: ChannelState
    let responder: ChannelResponder
    let meter: ChannelMeter
    private let task: Task<Void, Never>
    private let isEnding: Mutex<Bool>

    /// Starts the run.
    /// - Parameters:
    ///   - runner: its spool is created now, and removed when the run is over.
    ///   - report: called with `.published` at most once, and with `.ended` at the end.
    init(
        _ run: ChannelSupervisor.Run, _ runner: ChannelRunner,
        report: @escaping @Sendable (ChannelSupervisor.Input) -> Void
    ) {
        let clock = ContinuousClock()
        let start = clock.now
        let state = ChannelState(upstream: runner.configuration.upstream) { start.duration(to: clock.now) }
        self.run = run
        self.state = state
        responder = ChannelResponder(state)
        meter = runner.meter
        isEnding = Mutex(false)
        task = Task {
            let failure = await Self.play(runner, into: state) { report(.published(run)) }
            report(.ended(run, failure: failure))
        }
    }

    /// Whether the run was asked to end. Its streams end then.
    var isOver: Bool { isEnding.withLock { $0 } }

    /// Asks the run to end; it reports when it is over.
    func end() {
        isEnding.withLock { $0 = true }
        task.cancel()
    }

    /// Returns when the run is over.
    func wait() async { await task.value }

    /// - Returns: why the channel failed; nil if it was asked to end.
    private static func play(
        _ runner: ChannelRunner, into state: ChannelState, onPublish: @escaping @Sendable () -> Void
    ) async -> String? {
        let spool = URL(filePath: runner.configuration.spool, directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: spool) }
        runner.logger.info("Started")
        do { try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true) } catch {
            return "The spool cannot be created: \(error.localizedDescription)"
        }
        switch await runner.run(into: state, onPublish: onPublish) {
        case .failed(let error):
            runner.logger.error("\(error.line)")
            return error.line
        case .canceled: break
        case .drained:
            // What was published can be watched until the last viewer has left.
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        }
        runner.logger.info("Ended")
        return nil
    }
}
