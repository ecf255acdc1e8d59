import Foundation
package import Testing

/// Runs each test of a suite on threads of its own, because its sockets block: on the shared pool, which has a thread
/// per core, a few tests that wait for a server would leave none for the server's own tasks.
package struct DedicatedThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadPerJob()) { try await function() }
    }
}

extension Trait where Self == DedicatedThreads {
    package static var ownThreads: Self { Self() }
}

private final class ThreadPerJob: TaskExecutor {
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
