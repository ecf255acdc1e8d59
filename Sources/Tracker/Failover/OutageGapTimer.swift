/// When the output's edge has stood still for too long, and how much of the channel's time is then given out as missing.
///
/// What came in one burst is played before anything lacks: an origin that lists three segments at a time is silent for
/// three segments without being late.
package struct OutageGapTimer: Equatable, Sendable {
    /// Silence that is put up with; nil: nothing is ever given out as missing.
    private let tolerance: Tolerance?
    private var state = State.idle
    /// Given out as missing so far, in all outages.
    private(set) var filled = Duration.zero

    private enum State: Equatable, Sendable {
        /// Nothing is expected: before the first segment, of a finished programme, after the end.
        case idle
        /// Media that lasts `burst` came from `since` on.
        case playing(since: Duration, burst: Duration)
        /// The next target duration is missing at `next`.
        case emittingGaps(next: Duration)
    }

    /// Segments that come within this share of a target duration are one burst.
    private static let burst = TargetDurations.halves(1)

    /// How long an edge may stand still. Target durations of a second say little of what viewers have in store.
    package struct Tolerance: Equatable, Sendable {
        package var targetDurations: TargetDurations
        package var atLeast: Duration

        package init(_ targetDurations: TargetDurations, atLeast: Duration = .zero) {
            self.targetDurations = targetDurations
            self.atLeast = atLeast
        }
    }

    init(patience: Tolerance?) { self.tolerance = patience }

    /// Time is being given out as missing.
    var isFilling: Bool { if case .emittingGaps = state { true } else { false } }

    /// A segment of the main rendition was handed downstream.
    mutating func recordDelivery(_ duration: Duration, targetDuration: Duration, at now: Duration) {
        guard case .playing(let since, let burst) = state, now - since <= targetDuration * Self.burst else {
            state = .playing(since: now, burst: duration)
            return
        }
        state = .playing(since: since, burst: burst + duration)
    }

    mutating func stop() { state = .idle }

    /// How much is missing by `now` and was not given out yet, in whole target durations.
    mutating func dueGapCount(at now: Duration, targetDuration: Duration) -> Int {
        guard targetDuration > .zero, var next = deadline(targetDuration), next <= now else { return 0 }
        var count = 0
        while next <= now {
            count += 1
            next += targetDuration
        }
        state = .emittingGaps(next: next)
        filled += targetDuration * count
        return count
    }

    /// When the next target duration is missing; nil when none ever is.
    func deadline(_ targetDuration: Duration) -> Duration? {
        switch state {
        case .idle: return nil
        case .emittingGaps(let next): return next
        case .playing(let since, let burst):
            guard let tolerance else { return nil }
            return since + max(tolerance.atLeast, targetDuration * tolerance.targetDurations)
                + max(.zero, burst - targetDuration)
        }
    }
}
