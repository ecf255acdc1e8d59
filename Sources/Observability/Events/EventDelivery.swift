import Fetch
package import Logging
package import Support
import Synchronization

/// Delivers the events of the process to webhooks and commands.
package final class EventDelivery: Sendable {
    /// The time limit for delivering the last events at the end of the process.
    static let endLimit = Duration.seconds(2)

    let counter = DeliveryCounter()
    let bus: EventBus
    private let targets: [(subscription: EventSubscription, task: Task<Void, Never>)]

    /// - Parameters:
    ///   - webhooks: absolute http or https URLs.
    ///   - commands: command lines for the shell.
    package init(_ bus: EventBus, webhooks: [String], commands: [String], logger: Logger) throws(RelayError) {
        var targets: [(subscription: EventSubscription, task: Task<Void, Never>)] = []
        for url in webhooks {
            let fetcher: CurlFetcher
            do throws(FetchError) { fetcher = try CurlFetcher(upstream: url) } catch {
                throw RelayError(
                    .upstreamUnavailable, "\(url.redacted) cannot be a webhook: \(error.reason.message)",
                    advice: error.reason.advice)
            }
            let webhook = Webhook(
                name: url.redacted, post: { await fetcher.send(.init(type: "application/json", bytes: $0), to: url) },
                subscription: bus.subscribe(), counter: counter, clock: ContinuousClock(), logger: logger)
            targets.append((webhook.subscription, Task { await webhook.run() }))
        }
        for line in commands {
            let command = EventCommand(
                command: line, subscription: bus.subscribe(), counter: counter, logger: logger)
            targets.append((command.subscription, Task { await command.run() }))
        }
        self.bus = bus
        self.targets = targets
    }

    /// Delivers the waiting events, as far as the time permits, and ends.
    package func finish(within limit: Duration = EventDelivery.endLimit) async {
        for target in targets { bus.unsubscribe(target.subscription) }
        let timer = Task { [targets] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            for target in targets { target.task.cancel() }
        }
        for target in targets { await target.task.value }
        timer.cancel()
    }
}

/// The counts of events on their way to webhooks and commands.
final class DeliveryCounter: Sendable {
    enum Outcome: String, CaseIterable, Hashable, Sendable {
        case delivered
        /// An attempt failed, and another one follows.
        case retried
        /// Given up: refused, failed too often, or killed.
        case failed
        /// Too many events were waiting.
        case dropped
    }

    enum Target: String, CaseIterable, Hashable, Sendable { case webhook, command }

    struct Key: Hashable, Sendable {
        let target: Target
        let outcome: Outcome
    }

    private let state = Mutex<[Key: Int]>([:])

    var counts: [Key: Int] { state.withLock { $0 } }

    func record(_ outcome: Outcome, of target: Target, count: Int = 1) {
        state.withLock { $0[Key(target: target, outcome: outcome), default: 0] += count }
    }
}
