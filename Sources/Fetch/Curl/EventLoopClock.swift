import Support

/// The continuous clock, whose sleeps are waited for by the curl thread.
///
/// A task that the curl thread runs sleeps and wakes without another thread.
package struct EventLoopClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    private let thread: CurlThread?

    /// - Parameter thread: nil: the sleeps are those of the continuous clock.
    package init(_ thread: CurlThread?) { self.thread = thread }

    package var now: Instant { .now }
    package var minimumResolution: Duration { .milliseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        guard let commandQueue = thread?.commandQueue else {
            return try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
        }
        let id = commandQueue.makeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                commandQueue.post(.sleep(id, until: deadline, continuation))
                // The handler below may have run before the sleep began.
                if Task.isCancelled { commandQueue.post(.endSleep(id)) }
            }
        } onCancel: {
            commandQueue.post(.endSleep(id))
        }
        try Task.checkCancellation()
    }
}

/// The sleeps of the tasks of one thread, in the order of their ends.
struct SleepQueue {
    private struct Sleep {
        let id: CurlCommandQueue.SleepID
        let end: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The one that ends first is last.
    private var sleeps: [Sleep] = []

    /// The end of the sleep that ends first; nil without sleeps.
    var next: ContinuousClock.Instant? { sleeps.last?.end }

    mutating func insert(
        _ id: CurlCommandQueue.SleepID, until end: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Void, Never>
    ) {
        let index = sleeps.partitioningIndex { $0.end <= end }
        sleeps.insert(Sleep(id: id, end: end, continuation: continuation), at: index)
    }

    /// Ends a sleep before its time, if it has not ended.
    mutating func end(_ id: CurlCommandQueue.SleepID) {
        guard let index = sleeps.firstIndex(where: { $0.id == id }) else { return }
        sleeps.remove(at: index).continuation.resume()
    }

    mutating func resumeDue() {
        guard let end = next else { return }
        let now = ContinuousClock.now
        guard end <= now else { return }
        while let last = sleeps.last, last.end <= now { sleeps.removeLast().continuation.resume() }
    }

    mutating func resumeAll() {
        for sleep in sleeps { sleep.continuation.resume() }
        sleeps = []
    }
}
