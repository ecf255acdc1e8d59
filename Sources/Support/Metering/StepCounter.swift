import Synchronization

/// Counts steps of work for tests of what an input costs: units read, elements visited or copied. Release builds count
/// nothing.
package final class StepCounter: Sendable {
    #if DEBUG
        @TaskLocal package static var current: StepCounter?
    #endif

    private let count = Atomic(0)

    package init() {}

    package var steps: Int { count.load(ordering: .relaxed) }

    @inlinable package static func add(_ steps: Int) {
        #if DEBUG
            record(steps)
        #endif
    }

    #if DEBUG
        package static func record(_ steps: Int) { current?.count.add(steps, ordering: .relaxed) }

        /// Returns the steps that `work` counts.
        package static func steps<Failure: Error>(of work: () throws(Failure) -> Void) throws(Failure) -> Int {
            let counter = StepCounter()
            let result: Result<Void, Failure> = $current.withValue(counter) {
                do throws(Failure) { return .success(try work()) } catch { return .failure(error) }
            }
            try result.get()
            return counter.steps
        }
    #endif
}
