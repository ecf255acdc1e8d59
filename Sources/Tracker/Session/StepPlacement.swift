import Fetch

/// Decides where each part of a session's steps runs: on the thread of the session's transfers, which needs no other
/// thread for an answer, or on Swift's pool.
///
/// Other sessions wait for the thread. A part that may take long therefore goes to the pool: one with many bytes, and one
/// whose predecessor took long, because the disk is slow or the playlist is long.
struct StepPlacement: Sendable {
    /// The bytes of media that are used on the thread: a second at 8 Mbit/s, which takes 2 ms.
    static let mostMediaBytes = 1 << 20
    /// The bytes of a playlist that are parsed on the thread.
    static let mostTextBytes = 128 << 10
    /// Longer parts are followed by a part on the pool.
    static let longest = Duration.milliseconds(10)

    /// Whether there is a thread that runs the session.
    let hasThread: Bool
    private var isSlow = false

    init(hasThread: Bool) { self.hasThread = hasThread }

    /// Runs a part of a step.
    /// - Parameters:
    ///   - isLong: whether the part may take long.
    ///   - now: the time on any clock.
    mutating func run<Value>(
        isLong: Bool, now: () -> Duration, _ part: () async throws -> Value
    ) async rethrows -> Value {
        guard hasThread else { return try await part() }
        let start = now()
        defer { isSlow = now() - start > Self.longest }
        guard isLong || isSlow else { return try await part() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            // Only a task that waits changes its thread.
            await Task.yield()
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
        case .deliver(let delivery), .probe(let delivery): delivery.byteCount > StepPlacement.mostMediaBytes
        case .report: true
        case .fetch, .cancel, .wake, .end: false
        }
    }
}

extension Delivery {
    fileprivate var byteCount: Int { if case .segment(let segment) = content { segment.body.count } else { 0 } }
}
