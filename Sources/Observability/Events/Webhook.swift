import Fetch
import Logging

/// Delivers events to one URL, one after the other, with POST.
///
/// While an event is retried, the following events wait in the subscription, which loses the oldest ones if too many
/// arrive.
struct Webhook<C: Clock>: Sendable where C.Duration == Duration {
    typealias Post = @Sendable (_ body: [UInt8]) async -> FetchOutcome

    let name: String
    let post: Post
    let subscription: EventSubscription
    let counter: DeliveryCounter
    var retry = WebhookRetry()
    let clock: C
    let logger: Logger

    /// Runs until the subscription has ended and delivery of every event was attempted, or the task is canceled.
    func run() async {
        await subscription.forEach { lost in
            counter.record(.dropped, of: .webhook, count: lost)
            logger.warning("\(lost) events were not sent to \(name): it is too slow")
        } perform: { event in
            await deliver(event)
        }
    }

    private func deliver(_ event: ServiceEvent) async {
        let body = Array(event.json.utf8)
        var attempt = 0
        while !Task.isCancelled {
            attempt += 1
            let outcome = await post(body)
            switch retry.decide(after: outcome, attempt: attempt) {
            case .delivered: return counter.record(.delivered, of: .webhook)
            case .giveUp:
                logger.warning("Event \(event.id) was not delivered to \(name): \(outcome.webhookMessage)")
                return counter.record(.failed, of: .webhook)
            case .retry(let pause):
                counter.record(.retried, of: .webhook)
                logger.debug("Event \(event.id) to \(name) is tried again: \(outcome.webhookMessage)")
                try? await clock.sleep(for: pause)
            }
        }
        counter.record(.failed, of: .webhook)
    }
}

extension FetchOutcome {
    fileprivate var webhookMessage: String {
        switch self {
        case .success(let answer): "HTTP \(answer.status)"
        case .failure(let error): error.reason.message
        }
    }
}

/// Decides after each attempt whether and when delivery of an event is attempted again.
struct WebhookRetry: Equatable, Sendable {
    enum Decision: Equatable, Sendable {
        case delivered
        case retry(after: Duration)
        case giveUp
    }

    /// Pauses double from the first to the longest.
    var firstPause = Duration.seconds(1)
    var longestPause = Duration.seconds(60)
    /// Attempts for one event.
    var attempts = 8

    /// - Parameter attempt: the attempts made so far, this one included.
    func decide(after outcome: FetchOutcome, attempt: Int) -> Decision {
        guard case .success(let answer) = outcome else { return pause(after: attempt) }
        switch answer.status {
        case 200..<300: return .delivered
        // The receiver is overloaded, slow or being started.
        case 408, 425, 429, 500...: return pause(after: attempt)
        default: return .giveUp
        }
    }

    private func pause(after attempt: Int) -> Decision {
        guard attempt < attempts else { return .giveUp }
        return .retry(after: min(firstPause * (1 << min(attempt - 1, 16)), longestPause))
    }
}
