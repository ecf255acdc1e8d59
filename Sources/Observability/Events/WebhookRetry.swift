import Fetch

/// Decides after each attempt to deliver an event whether and when another one is made.
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
