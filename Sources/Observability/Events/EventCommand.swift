import Glibc
import Logging

/// Runs a command of the operator for each event, a few at once.
struct EventCommand: Sendable {
    /// Commands that run at once. Further events wait in the subscription, which loses the oldest ones.
    static let concurrency = 4
    /// The time limit of one command.
    static let timeLimit = Duration.seconds(10)

    let command: String
    let subscription: EventSubscription
    let counter: DeliveryCounter
    var timeLimit = EventCommand.timeLimit
    var groups = ProcessGroups.ofThisProcess
    let logger: Logger

    /// Runs until the subscription has ended and every command too, or the task is canceled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            await subscription.forEach { lost in
                counter.record(.dropped, of: .command, count: lost)
                logger.warning("--event-command was not run for \(lost) events: it is too slow")
            } perform: { event in
                if running == Self.concurrency { await group.next() } else { running += 1 }
                group.addTask { await execute(event) }
            }
        }
    }

    private func execute(_ event: ServiceEvent) async {
        let kind = event.content.kind.rawValue
        do throws(ChildProcess.Failure) {
            let process = try ChildProcess(
                command, input: Array((event.json + "\n").utf8),
                environment: [("LIVERELAY_EVENT", kind), ("LIVERELAY_CHANNEL", event.channel ?? "")],
                groups: groups)
            let end = await process.wait(atMost: timeLimit)
            counter.record(end == .exited(0) ? .delivered : .failed, of: .command)
            if end != .exited(0) { logger.warning("--event-command for \(kind) \(end.message)") }
        } catch {
            counter.record(.failed, of: .command)
            let reason = unsafe String(cString: strerror(error.code))
            logger.warning("--event-command cannot be run: \(error.call): \(reason)")
        }
    }
}

extension ChildProcess.End {
    fileprivate var message: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
