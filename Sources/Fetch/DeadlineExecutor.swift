import Dispatch
import Glibc
import Support
import Synchronization

/// Runs the long parts of all sessions on a thread per core: the part with the nearest deadline first, whichever came first.
///
/// Segments of many channels that come at the same moment wait for each other here. Those of 2 s must be listed before those
/// of 10 s.
package final class DeadlineExecutor: Sendable {
    package static let shared = DeadlineExecutor(threads: sysconf(Int32(_SC_NPROCESSORS_ONLN)))

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

    private struct State {
        /// The nearest deadline last; of jobs with the same one, the one that came first.
        var waiting: [Job] = []
        var running = 0
    }

    private let threads: Int
    private let queue = DispatchQueue(label: "liverelay.media", attributes: .concurrent)
    private let state = Mutex(State())

    /// - Parameter threads: how many jobs may run at once.
    init(threads: Int) { self.threads = max(1, threads) }

    /// The executor for a part of a step that should be done within a time from now.
    package func part(within allowance: Duration) -> any TaskExecutor { Part(self, .now + allowance) }

    private func enqueue(_ job: Job) {
        let needsThread = state.withLock { state in
            let index = state.waiting.partitioningIndex { $0.deadline <= job.deadline }
            state.waiting.insert(job, at: index)
            guard state.running < threads else { return false }
            state.running += 1
            return true
        }
        if needsThread { queue.async { self.runAll() } }
    }

    private func runAll() {
        while let next = next() {
            withExtendedLifetime(next.part) { unsafe next.job.runSynchronously(on: next.part.asUnownedTaskExecutor()) }
        }
    }

    private func next() -> Job? {
        state.withLock { state in
            if state.waiting.isEmpty { state.running -= 1 }
            return state.waiting.popLast()
        }
    }
}
