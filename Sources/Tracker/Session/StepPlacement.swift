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
    ///   - isLong: whether the part may take long.
    ///   - allowance: the time within which the part should be done, if it does not run on the thread.
    ///   - now: the time on any clock.
    mutating func run<Value>(
        isLong: Bool, within allowance: Duration = usualAllowance, now: () -> Duration,
        _ part: () async throws -> Value
    ) async rethrows -> Value {
        guard hasThread else { return try await part() }
        var start = now()
        defer { isSlow = now() - start > Self.longest }
        guard isLong || isSlow else { return try await part() }
        return try await withTaskExecutorPreference(DeadlineExecutor.shared.part(within: allowance)) {
            // Only a task that waits changes its thread.
            await Task.yield()
            start = now()
            return try await part()
        }
    }
}

extension UpstreamSession.Input {
    /// Whether the session may take long to handle the input.
    var isLong: Bool {
        switch self {
        case .answered(_, .success(let answer)):
            answer.body.count > StepPlacement.mostTextBytes && answer.body.looksLikeText
        case .received(_, let part): part.bytes.count > StepPlacement.mostMediaBytes
        default: false
        }
    }
}

extension UpstreamSession.Effect {
    /// Whether it may take long to perform a downstream effect. Events are rare, and some open a ring.
    var isLong: Bool {
        switch self {
        case .deliver, .probe: segment.map { $0.body.count > StepPlacement.mostMediaBytes } ?? false
        case .report: true
        case .fetch, .cancel, .wake, .end: false
        }
    }

    /// The time within which a downstream effect should be performed: of a segment its duration.
    var allowance: Duration { segment?.segment.duration ?? StepPlacement.usualAllowance }

    private var segment: TrackedSegment? {
        switch self {
        case .deliver(let delivery), .probe(let delivery):
            if case .segment(let segment) = delivery.content { segment } else { nil }
        case .report, .fetch, .cancel, .wake, .end: nil
        }
    }
}
