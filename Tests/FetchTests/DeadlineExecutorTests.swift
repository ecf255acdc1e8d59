import Dispatch
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
        let queue = DispatchQueue(label: "one thread")
        let executor = DeadlineExecutor(queue)
        let order = Order<Int>()
        queue.suspend()
        let parts = row.deadlines.enumerated().map { number, seconds in
            // The job is on the executor when this returns.
            Task(executorPreference: executor.part(within: .seconds(seconds))) {
                order.append(number)
            }
        }
        queue.resume()
        for part in parts { await part.value }
        #expect(order.all == row.order)
    }

    /// A part that waits goes on before later deadlines, also after its wait.
    @Test func keptOverAWait() async {
        let queue = DispatchQueue(label: "one thread")
        let executor = DeadlineExecutor(queue)
        let order = Order<String>()
        queue.suspend()
        let near = Task(executorPreference: executor.part(within: .seconds(1))) {
            order.append("near")
            await Task.yield()
            order.append("near again")
        }
        let far = Task(executorPreference: executor.part(within: .seconds(9))) {
            order.append("far")
        }
        queue.resume()
        await near.value
        await far.value
        #expect(order.all == ["near", "near again", "far"])
    }
}

private final class Order<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}
