/// How the reloads of a live media playlist are timed.
package enum PollingMode: String, CaseIterable, Sendable {
    /// By the standard's schedule (RFC 8216 §6.3.4).
    case standard
    /// Just after the upstream publishes a segment (`EdgeSchedule`).
    case edge
    /// As `edge`, but with blocking reloads where the upstream offers them (`BlockingReload`).
    case blocking
}

/// What determines the next load of a playlist at present.
package enum PollingState: String, Equatable, Sendable {
    /// The standard's schedule.
    case standard
    /// The moment of publication, which is being searched for.
    case learning
    /// The moment of publication, which is known.
    case holding
    /// The upstream, which holds back its answer until there is a new segment.
    case blocking
}
