import Synchronization

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
        package let target: Target
        package let outcome: Outcome
    }

    private let state = Mutex<[Key: Int]>([:])

    var counts: [Key: Int] { state.withLock { $0 } }

    func record(_ outcome: Outcome, of target: Target, count: Int = 1) {
        state.withLock { $0[Key(target: target, outcome: outcome), default: 0] += count }
    }
}
