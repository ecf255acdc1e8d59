import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Fetch

@Suite struct DeadlineExecutorTests {
    struct Row: CustomTestStringConvertible {
        let when: String
        /// Seconds until the deadline of each part, in the order in which the parts come.
        let deadlines: [Int]
        /// The parts in the order in which they run.
        let order: [Int]
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "nearer deadlines come later", deadlines: [10, 6, 2], order: [2, 1, 0]),
        Row(when: "in the order of their deadlines", deadlines: [4, 4, 4, 4], order: [0, 1, 2, 3]),
        Row(when: "mixed", deadlines: [6, 2, 6, 1, 2], order: [3, 1, 4, 0, 2]),
        Row(when: "a deadline that is over", deadlines: [1, -5], order: [1, 0]),
    ]

    /// Parts that come while the only thread is busy.
    @Test(arguments: rows) func nearestFirst(row: Row) async {
        let executor = DeadlineExecutor(threads: 1)
        let (order, busy) = (Order<Int>(), Barrier())
        let first = Task(executorPreference: executor.part(within: .zero)) { busy.wait() }
        let parts = row.deadlines.enumerated().map { number, seconds in
            // The job is on the executor when this returns.
            Task(executorPreference: executor.part(within: .seconds(seconds))) { order.append(number) }
        }
        busy.open()
        await first.value
        for part in parts { await part.value }
        #expect(order.all == row.order)
    }

    /// A part that waits goes on before later deadlines, also after its wait.
    @Test func keptOverAWait() async {
        let executor = DeadlineExecutor(threads: 1)
        let (order, busy) = (Order<String>(), Barrier())
        let first = Task(executorPreference: executor.part(within: .zero)) { busy.wait() }
        let near = Task(executorPreference: executor.part(within: .seconds(1))) {
            order.append("near")
            await Task.yield()
            order.append("near again")
        }
        let far = Task(executorPreference: executor.part(within: .seconds(9))) { order.append("far") }
        busy.open()
        for task in [first, near, far] { await task.value }
        #expect(order.all == ["near", "near again", "far"])
    }

    /// No more jobs run at once than there are threads, and none is lost.
    @Test func boundedThreads() async {
        let executor = DeadlineExecutor(threads: 3)
        let running = Running()
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask(executorPreference: executor.part(within: .milliseconds(number % 7))) {
                    running.begin()
                    usleep(200)
                    running.end()
                }
            }
        }
        #expect(running.counts.done == 200)
        #expect(running.counts.most <= 3)
    }
}

private final class Running: Sendable {
    private let state = Mutex((running: 0, most: 0, done: 0))

    var counts: (running: Int, most: Int, done: Int) { state.withLock { $0 } }

    func begin() { state.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1), $0.done) } }

    func end() { state.withLock { $0 = ($0.running - 1, $0.most, $0.done + 1) } }
}

private final class Order<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// Blocks a thread until it is opened.
private final class Barrier: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { semaphore.wait() }

    func open() { semaphore.signal() }
}
