/// Decides how many outage gaps are due while a channel's published media does not grow.
///
/// The silence that is tolerated begins when the media delivered in one burst has been played: an origin that lists
/// three segments at a time is silent for three segments without being late.
package struct OutageTimer: Equatable, Sendable {
    /// Silence before the first gap; nil: no gap is ever emitted.
    private let tolerance: Tolerance?
    private var state = State.idle
    /// Duration of all gaps so far, in all outages.
    private(set) var gapDuration = Duration.zero
    /// Media that came with the next delivery, and too late to be handed downstream.
    private var late = Duration.zero
    /// For how long the next gap waits for a segment that is on its way.
    private var wait = Duration.zero

    private enum State: Equatable, Sendable {
        /// No media is expected: before the first segment, in a VOD playlist, after the end.
        case idle
        /// Media with the duration `burst` was delivered from `since` on.
        case playing(since: Duration, burst: Duration)
        case emittingGaps(next: Duration)
    }

    /// Segments delivered within this share of a target duration are one burst.
    private static let burstWindow = TargetDurations.halves(1)

    /// Silence that is tolerated: a number of target durations, and a minimum. A target duration of a second says
    /// little about how much media players have buffered.
    package struct Tolerance: Equatable, Sendable {
        /// Until the source counts as unavailable, and another one is tried: early enough for that to take over before a
        /// gap is listed.
        package static let beforeTrial = Tolerance(targetDurations: .quarters(9), atLeast: .seconds(4))
        /// Until missing time is listed as gaps, or filled with the slate: before any player gives up that reloads a playlist
        /// in vain. Viewers who wait for a moment are better off than viewers who cross a discontinuity.
        package static let beforeGaps = Tolerance(targetDurations: .eighths(23), atLeast: .seconds(5))

        package var targetDurations: TargetDurations
        package var atLeast = Duration.zero

        /// The silence of a playlist with a target duration.
        package func duration(_ targetDuration: Duration) -> Duration {
            max(atLeast, targetDuration * targetDurations)
        }

        /// Until the first player gives up, streamlink (docs/players.md).
        private static let ofPlayers = Tolerance(targetDurations: .halves(6), atLeast: .seconds(5))

        /// How long a gap waits for a segment that is on its way: half of the time until the first player gives up.
        func wait(_ targetDuration: Duration) -> Duration {
            max(.zero, Self.ofPlayers.duration(targetDuration) - duration(targetDuration)) / 2
        }
    }

    init(tolerance: Tolerance?) { self.tolerance = tolerance }

    var isEmittingGaps: Bool { if case .emittingGaps = state { true } else { false } }

    /// Records that a segment of the main rendition was handed downstream. This ends an outage.
    mutating func recordDelivery(_ duration: Duration, targetDuration: Duration, at now: Duration) {
        let duration = duration + late
        (late, wait) = (.zero, .zero)
        guard case .playing(let since, let burst) = state, now - since <= targetDuration * Self.burstWindow else {
            state = .playing(since: now, burst: duration)
            return
        }
        state = .playing(since: since, burst: burst + duration)
    }

    /// Records that a segment came after its time was listed as a gap. It belongs to the burst that comes with it.
    mutating func recordLate(_ duration: Duration) { late += duration }

    mutating func stop() { state = .idle }

    /// Leaves out a time in which nothing ran: viewers got nothing either, and what the upstream lists now is not late.
    mutating func postpone(by time: Duration) {
        switch state {
        case .idle: break
        case .playing(let since, let burst): state = .playing(since: since + time, burst: burst)
        case .emittingGaps(let next): state = .emittingGaps(next: next + time)
        }
    }

    /// Returns how many gaps of one target duration are due by `now` and were not emitted yet.
    /// - Parameter isFetching: whether a segment is on its way that ends the silence. A gap waits for it once.
    mutating func dueGapCount(at now: Duration, targetDuration: Duration, isFetching: Bool) -> Int {
        guard targetDuration > .zero, var next = deadline(targetDuration), next <= now else { return 0 }
        if isFetching, wait == .zero, let tolerance {
            wait = tolerance.wait(targetDuration)
            if next + wait > now { return 0 }
        }
        next -= wait
        wait = .zero
        var count = 0
        while next <= now {
            count += 1
            next += targetDuration
        }
        (state, late) = (.emittingGaps(next: next), .zero)
        gapDuration += targetDuration * count
        return count
    }

    /// When the next gap is due; nil if none is expected.
    func deadline(_ targetDuration: Duration) -> Duration? {
        switch state {
        case .idle: return nil
        case .emittingGaps(let next): return next + wait
        case .playing(let since, let burst):
            guard let tolerance else { return nil }
            return since + tolerance.duration(targetDuration) + max(.zero, burst - targetDuration) + wait
        }
    }
}
