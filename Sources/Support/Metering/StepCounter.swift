import Synchronization

/// Counts steps of work for tests that bound the cost of an input: units read, elements visited or copied. It also
/// counts the steps between two checks for cancellation. Release builds count nothing.
@usableFromInline
package final class StepCounter: Sendable {
    #if DEBUG
        @TaskLocal package static var current: StepCounter?
    #endif

    private let count = Atomic(0)
    /// The number of steps at the last check.
    private let seen = Atomic(0)
    private let longest = Atomic(0)
    private let looked = Atomic(0)
    private let onLook: @Sendable (Int) -> Void

    /// - Parameter onLook: called with the number of each check, from 1.
    package init(onLook: @escaping @Sendable (Int) -> Void = { _ in }) { self.onLook = onLook }

    package var steps: Int { count.load(ordering: .relaxed) }
    package var looks: Int { looked.load(ordering: .relaxed) }
    /// The most steps between two checks, or after the last check.
    package var stepsBetweenLooks: Int { max(longest.load(ordering: .relaxed), steps - seen.load(ordering: .relaxed)) }

    @inlinable package static func add(_ steps: Int) {
        #if DEBUG
            record(steps)
        #endif
    }

    /// Returns whether the task was canceled. Long work calls this at least every 10 ms.
    @inlinable package static func isTaskCanceled() -> Bool {
        #if DEBUG
            recordLook()
        #endif
        return Task.isCancelled
    }

    #if DEBUG
        @usableFromInline static func recordLook() {
            guard let current else { return }
            let steps = current.steps
            current.longest.max(steps - current.seen.exchange(steps, ordering: .relaxed), ordering: .relaxed)
            current.onLook(current.looked.add(1, ordering: .relaxed).newValue)
        }

        @usableFromInline static func record(_ steps: Int) { current?.count.add(steps, ordering: .relaxed) }

        /// Returns the steps that `work` counts.
        package static func steps<Failure: Error>(of work: () throws(Failure) -> Void) throws(Failure) -> Int {
            try counter(of: work).steps
        }

        /// Runs `work`, adds its steps to `counter` and returns `counter`.
        @discardableResult package static func counter<Failure: Error>(
            _ counter: StepCounter = StepCounter(), of work: () throws(Failure) -> Void
        ) throws(Failure) -> StepCounter {
            let result: Result<Void, Failure> = $current.withValue(counter) {
                do throws(Failure) { return .success(try work()) } catch { return .failure(error) }
            }
            try result.get()
            return counter
        }
    #endif
}
