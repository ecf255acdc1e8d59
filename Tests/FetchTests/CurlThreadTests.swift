import Glibc
import Testing

@testable import Fetch
@testable import Tracker

/// The curl thread as the executor of tasks: what a live segment needs no other thread for.
struct CurlThreadTests {
    private let thread: CurlThread

    init() throws { thread = try CurlThread() }

    private func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let value = await Task(executorPreference: thread.executor, operation: body).value
        return withExtendedLifetime(thread) { value }
    }

    @Test func taskStaysOnTheThread() async {
        let clock = EventLoopClock(thread)
        let threads = await run {
            var threads: Set = [pthread_self()]
            try? await clock.sleep(for: .milliseconds(5))
            threads.insert(pthread_self())
            await withCheckedContinuation { continuation in Task.detached { continuation.resume() } }
            threads.insert(pthread_self())
            return threads
        }
        #expect(threads.count == 1)
    }

    @Test func sleepsEndInOrderOrWithTheirTask() async {
        let clock = EventLoopClock(thread)
        let order = await run {
            await withTaskGroup(of: Int?.self) { group in
                for milliseconds in [60, 20, 40] {
                    group.addTask {
                        let isDone = (try? await clock.sleep(for: .milliseconds(milliseconds))) != nil
                        return isDone ? milliseconds : nil
                    }
                }
                let canceled = Task { try await clock.sleep(for: .seconds(600)) }
                canceled.cancel()
                var order: [Int?] = [(try? await canceled.value) == nil ? 0 : nil]
                for await milliseconds in group { order.append(milliseconds) }
                return order
            }
        }
        #expect(order == [0, 20, 40, 60])
    }

    /// `isLong`, and how long the part takes, for each part; whether it leaves the thread.
    @Test func partsThatTakeLongLeaveTheThread() async {
        let parts: [(isLong: Bool, lasts: Duration, leaves: Bool)] = [
            (false, .milliseconds(1), false), (true, .milliseconds(1), true), (false, .milliseconds(30), false),
            (false, .milliseconds(30), true), (false, .milliseconds(1), true), (false, .milliseconds(1), false),
        ]
        let left = await run {
            var (placement, now, left) = (StepPlacement(hasThread: true), Duration.zero, [Bool]())
            let own = pthread_self()
            for part in parts {
                let thread = await placement.run(isLong: part.isLong, now: { now }) {
                    await Task.yield()
                    now += part.lasts
                    return pthread_self()
                }
                left.append(thread != own)
            }
            return left
        }
        #expect(left == parts.map(\.leaves))
    }
}
