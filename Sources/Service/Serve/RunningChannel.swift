import Channel
import Foundation
import LiveRing
import Logging
import Observability
import Support

/// One run of a channel: its task, its published state, and its spool.
final class RunningChannel: Sendable {
    let run: ChannelSupervisor.Run
    let state: ChannelState
    let responder: ChannelResponder
    let meter: ChannelMeter
    /// The directory of the ring.
    let spool: String
    private let followed: FollowedChannel?
    /// Whether the ring has segments that viewers may know, although the run has not published yet.
    let continuesRing: Bool
    private let task: Task<Void, Never>

    /// Starts the run.
    /// - Parameters:
    ///   - runner: the runner, whose spool is created now.
    ///   - single: the process, if this is its only channel.
    ///   - predecessor: the process that publishes the channel until it releases it; nil: this process does at once.
    ///   - continuesRing: whether viewers may know segments of the ring.
    ///   - removesSpool: whether a spool is removed when the run has ended.
    ///   - report: called with `.published` at most once, and with `.ended` at the end.
    init(
        _ run: ChannelSupervisor.Run, _ runner: ChannelRunner, of single: ChannelSettings.Single?,
        after predecessor: ChannelPredecessor? = nil, continuesRing: Bool = false,
        removesSpool: @escaping @Sendable (_ path: String) -> Bool,
        report: @escaping @Sendable (ChannelSupervisor.Input) -> Void
    ) {
        let clock = ContinuousClock()
        let start = clock.now
        let state = ChannelState(
            upstream: runner.configuration.upstream, memory: runner.configuration.memory,
            complete: { single?.complete(&$0) }, now: { start.duration(to: clock.now) })
        self.run = run
        self.state = state
        let spool = runner.configuration.spool
        self.spool = spool
        let followed = predecessor.map { _ in
            FollowedChannel(state, in: spool, policy: runner.configuration.retention)
        }
        self.followed = followed
        self.continuesRing = continuesRing
        responder = ChannelResponder(
            state, burst: runner.burst, channel: runner.channel, offersStills: runner.configuration.offersStills,
            archive: runner.archiveResponder)
        meter = runner.meter
        task = Task {
            if let predecessor {
                await followed?.run(until: { predecessor.hasReleased }) {
                    if state.snapshot?.hasSegments == true { report(.published(run)) }
                    predecessor.recordRead()
                }
                predecessor.recordRead()
                // A run that was asked to end leaves the ring to the other process.
                guard predecessor.hasReleased else {
                    predecessor.report(nil)
                    return report(.ended(run, failure: nil))
                }
            }
            let failure = await Self.play(runner, into: state, of: single) {
                predecessor?.report($0)
            } onPublish: {
                report(.published(run))
            }
            predecessor?.report(failure)
            await state.closeRing()
            if removesSpool(spool) { try? FileManager.default.removeItem(atPath: spool) }
            report(.ended(run, failure: failure))
            HeapSettings.trim()
        }
    }

    /// Reads what another process publishes, as long as that has the channel; nil if this process has it.
    var refresh: (@Sendable () async -> Void)? {
        guard let followed, state.isWithoutRing else { return nil }
        return { await followed.refresh() }
    }

    /// Whether the run was asked to end. Its streams then end, at once unless another process has the channel.
    var isOver: Bool { task.isCancelled && !state.endsStreams }

    /// Asks the run to end. The run reports when it has ended.
    func end() { task.cancel() }

    func wait() async { await task.value }

    /// The time from the end of an upstream until it is requested again.
    private static let endedPause = Duration.seconds(60)

    /// - Parameter onResume: called with nil when the ring of an earlier process is continued, or there is none; with
    ///   the reason if the only channel of the process failed.
    /// - Returns: the reason why the channel failed; nil if it was asked to end.
    private static func play(
        _ runner: ChannelRunner, into state: ChannelState, of single: ChannelSettings.Single?,
        onResume: @escaping @Sendable (FailureText?) -> Void, onPublish: @escaping @Sendable () -> Void
    ) async -> FailureText? {
        if let single {
            let end = await runner.run(into: state, onResume: { onResume(nil) }, onPublish: onPublish)
            single.ended(end, state.isOver)
            if case .failed(let error) = end { onResume(error.text) }
            while !Task.isCancelled { try? await Task.sleep(for: Self.endedPause) }
            return nil
        }
        let spool = URL(filePath: runner.configuration.spool, directoryHint: .isDirectory)
        runner.logger.info("Started")
        do { try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true) } catch {
            return FailureText(
                operatorText: "The spool cannot be created: \(error.localizedDescription)",
                viewerText: ExitStatus.cannotSpool.viewerText)
        }
        switch await runner.run(into: state, onResume: { onResume(nil) }, onPublish: onPublish) {
        case .failed(let error):
            runner.logger.error("\(error.line)")
            return error.text
        case .elsewhere:
            runner.logger.notice("Another node runs the channel")
            let text = "Another node runs the channel."
            return FailureText(operatorText: text, viewerText: text)
        case .canceled: break
        case .drained:
            // Published media can be watched until the last viewer has left. A channel that always runs asks
            // whether its upstream has begun again.
            repeat { try? await Task.sleep(for: Self.endedPause) } while !Task.isCancelled && !runner.restartsAfterEnd
            if !Task.isCancelled { return "The upstream has ended." }
        }
        runner.logger.info("Ended")
        return nil
    }
}
