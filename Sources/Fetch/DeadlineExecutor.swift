import Dispatch
import Synchronization

/// Runs the long parts of all sessions on a thread per core: the part with the nearest deadline first, whichever came first.
///
/// Segments of many channels that come at the same moment wait for each other here. Those of 2 s must be listed before those
/// of 10 s.
package final class DeadlineExecutor: Sendable {
    package static let shared = DeadlineExecutor(DispatchQueue(label: "liverelay.media", attributes: .concurrent))

    private struct Job {
        let deadline: ContinuousClock.Instant
        let job: UnownedJob
        let part: Part
    }

    /// The jobs of one part of a step, which has one deadline.
    private final class Part: TaskExecutor {
        let executor: DeadlineExecutor
        let deadline: ContinuousClock.Instant

        init(_ executor: DeadlineExecutor, _ deadline: ContinuousClock.Instant) {
            (self.executor, self.deadline) = (executor, deadline)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            executor.enqueue(Job(deadline: deadline, job: UnownedJob(job), part: self))
        }
    }

    private let queue: DispatchQueue
    /// The nearest deadline last; of jobs with the same one, the one that came first.
    private let waiting = Mutex<[Job]>([])

    /// - Parameter queue: runs as many blocks at once as jobs may run.
    init(_ queue: DispatchQueue) { self.queue = queue }

    /// The executor for a part of a step that should be done within a time from now.
    package func part(within allowance: Duration) -> any TaskExecutor { Part(self, .now + allowance) }

    private func enqueue(_ job: Job) {
        waiting.withLock { waiting in
            var (start, end) = (waiting.startIndex, waiting.endIndex)
            while start < end {
                let middle = (start + end) / 2
                if waiting[middle].deadline > job.deadline { start = middle + 1 } else { end = middle }
            }
            waiting.insert(job, at: start)
        }
        queue.async { self.runNext() }
    }

    private func runNext() {
        guard let next = waiting.withLock({ $0.popLast() }) else { return }
        unsafe next.job.runSynchronously(on: next.part.asUnownedTaskExecutor())
    }
}
