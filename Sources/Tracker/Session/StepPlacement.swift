import Fetch
import Playlist

/// Decides where each part of a session's steps runs: on the thread of the session's transfers, which needs no other
/// thread for an answer, or on the threads for long parts, by their deadlines.
///
/// Other sessions wait for the thread. A part that may take long therefore leaves it: one with many bytes, and one whose
/// predecessor took long, because the disk is slow or the playlist is long.
struct StepPlacement: Sendable {
    /// The bytes of media that are used on the thread: a second at 8 Mbit/s, which takes 2 ms.
    static let mostMediaBytes = 1 << 20
    /// The bytes of a playlist that are parsed on the thread.
    static let mostTextBytes = 128 << 10
    /// Longer parts are followed by a part that leaves the thread.
    static let longest = Duration.milliseconds(10)
    /// Within which time a long part should be done that publishes no segment.
    static let usualAllowance = Duration.seconds(1)

    /// Whether there is a thread that runs the session.
    let hasThread: Bool
    private var isSlow = false

    init(hasThread: Bool) { self.hasThread = hasThread }

    /// Runs a part of a step.
    /// - Parameters:
    ///   - allowance: the time within which the part should be done, if it may take long; nil: it is short.
    ///   - now: the time on any clock.
    mutating func run<Value>(
        within allowance: Duration?, now: () -> Duration, _ part: () async throws -> Value
    ) async rethrows -> Value {
        guard hasThread else { return try await part() }
        let start = now()
        defer { isSlow = now() - start > Self.longest }
        guard let allowance = allowance ?? (isSlow ? Self.usualAllowance : nil) else { return try await part() }
        let executor = DeadlineExecutor.shared.part(within: allowance)
        return try await withTaskExecutorPreference(executor) {
            // Only a task that waits changes its thread.
            await Task.yield()
            return try await part()
        }
    }
}

extension UpstreamSession.Input {
    /// The time within which the session should handle the input, if that may take long; nil: it is short.
    var allowance: Duration? {
        let isLong =
            switch self {
            case .answered(_, .success(let answer)):
                answer.body.count > StepPlacement.mostTextBytes && answer.body.looksLikeText
            case .received(_, let part): part.bytes.count > StepPlacement.mostMediaBytes
            default: false
            }
        return isLong ? StepPlacement.usualAllowance : nil
    }
}

extension UpstreamSession.Effect {
    /// The time within which a downstream effect should be performed, if that may take long: of a segment its duration.
    /// Events are rare, and some open a ring.
    var allowance: Duration? {
        switch self {
        case .deliver(let delivery), .probe(let delivery): delivery.allowance
        case .report: StepPlacement.usualAllowance
        case .fetch, .cancel, .wake, .end: nil
        }
    }
}

extension Delivery {
    fileprivate var allowance: Duration? {
        guard case .segment(let tracked) = content, tracked.body.count > StepPlacement.mostMediaBytes
        else { return nil }
        return tracked.segment.duration
    }
}
